"""Pictures show what the results say, and draw without a warning."""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
import tilewave as tw
from matplotlib import pyplot

CLASSES = [
    "active_useful", "active_unused", "weight_stall", "weight_shift", "input_stall", "raw_stall",
    "accumulator_stall", "drain", "idle",
]  # fmt: skip


@pytest.fixture(autouse=True)
def closes_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def program():
    data = tw.datasets.mnist()
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration)
    return tw.compile(q, tw.Chip.load("tpu_v1"), batch=16)


@pytest.fixture(scope="module")
def result(program):
    return tw.simulate(program, launches=2)


@pytest.fixture(scope="module")
def small():
    return tw.run("edge_32", images=16, batch=16, reference=False)


def drawn(ax):
    """The axes, rendered to the last stroke."""
    ax.figure.canvas.draw()
    return ax


def bars(ax):
    """{legend label: widths of its bars, from top to bottom}."""
    return {c.get_label(): [bar.get_width() for bar in c] for c in ax.containers}


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_layers_bar_is_as_long_as_its_cycles_and_cut_as_its_counters(result):
    ax = drawn(tw.viz.cycles(result))
    layers = result.layer_records
    assert [t.get_text() for t in ax.get_yticklabels()] == [layer["name"] for layer in layers]
    widths = bars(ax)
    assert np.sum(list(widths.values()), axis=0) == pytest.approx([r["cycles"] for r in layers])
    for name, label in [
        ("active_useful", "active, useful multipliers"),
        ("weight_stall", "weight stall"),
        ("raw_stall", "RAW stall"),
        ("drain", "drain"),
    ]:
        assert widths[label] == pytest.approx([r["counters"][name] for r in layers])


def test_classes_that_do_not_occur_are_not_in_the_legend(result):
    occur = [c for c in CLASSES if any(r["counters"][c] for r in result.layer_records)]
    assert len(labels(drawn(tw.viz.cycles(result)))) == len(occur) < len(CLASSES)


def test_shares_add_up_to_a_hundred_per_cent(result):
    widths = bars(drawn(tw.viz.cycles(result, share=True)))
    assert np.sum(list(widths.values()), axis=0) == pytest.approx([100.0] * 4)


@pytest.mark.parametrize("by", ["class", "layer"])
def test_compared_bars_are_as_long_as_the_runs(result, small, by):
    ax = drawn(tw.viz.compare({"large": result, "small": small}, by=by))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["large", "small"]
    total = np.sum(list(bars(ax).values()), axis=0)
    assert total == pytest.approx([1e3 * result.seconds, 1e3 * small.seconds])


def test_the_timeline_shows_every_units_cycles(result):
    # Fine enough that nothing is merged.
    trace, first, end = result.trace, 20_000, 22_000
    ax = drawn(tw.viz.timeline(trace, first=first, end=end))
    shown = dict.fromkeys(trace.units, 0.0)
    for bar in ax.collections:
        for path in bar.get_paths():
            x = path.vertices[:, 0]
            shown[bar.get_gid().split("/")[0]] += x.max() - x.min()
    taken = dict.fromkeys(trace.units, 0)
    for unit, a, b in zip(trace.unit, trace.start, trace.end):
        taken[trace.units[unit]] += max(0, min(int(b), end) - max(int(a), first))
    assert shown == pytest.approx(taken)
    assert sum(taken.values()) > end - first
    percent = {t.get_position()[1]: t.get_text() for t in ax.texts}
    matrix = trace.units.index("matrix")
    assert percent[matrix] == f"{taken['matrix'] / (end - first):.1%}"


def test_a_long_timeline_is_drawn_in_few_strokes(program):
    trace = tw.simulate(program, launches=5000).trace
    ax = drawn(tw.viz.timeline(trace))
    strokes = sum(len(c.get_paths()) for c in ax.collections)
    assert strokes < 6 * 4 * 2001 < len(trace) / 5
    assert ax.get_xlim() == (0, trace.cycles)


@pytest.mark.parametrize("buffer", ["unified_buffer", "weight_fifo"])
def test_the_occupancy_is_the_traces_in_every_cycle(result, buffer):
    first, end = 20_000, 20_400
    ax = drawn(tw.viz.occupancy(result.trace, buffer=buffer, first=first, end=end))
    x, y = ax.lines[0].get_data()
    steps = getattr(result.trace, buffer)
    scale = 1024 if buffer == "unified_buffer" else 1
    for cycle in range(first, end):
        at = np.searchsorted(steps.cycle, cycle, "right") - 1
        assert y[np.searchsorted(x, cycle, "right") - 1] * scale == steps.value[at]
    assert ax.get_xlim() == (first, end)


def test_the_roofs_are_the_chips_and_the_points_the_layers(result):
    ax = drawn(tw.viz.roofline(result))
    roof, *points = ax.lines
    chip = result.program.chip
    bandwidth = chip.to_dict()["weight_memory"]["bandwidth_gb_per_s"]
    x, y = roof.get_data()
    assert y == pytest.approx(np.minimum(chip.peak_tops, x * bandwidth / 1000))
    assert y[-1] == chip.peak_tops > y[0]
    at = [(float(p.get_xdata()[0]), float(p.get_ydata()[0])) for p in points]
    layers = result.layer_records
    expected = [(2 * r["macs"] / r["bytes"]["weights"], r["tops"]) for r in layers]
    expected.append((2 * result.macs / result.bytes["weights"], result.tops))
    assert np.array(at) == pytest.approx(np.array(expected))


def test_a_roofline_without_a_limit_to_bandwidth_is_flat():
    chip = tw.Chip.load("edge_32").replace({"weight_memory.bandwidth_gb_per_s": "unlimited"})
    ax = drawn(tw.viz.roofline(tw.run(chip, images=4, batch=4, reference=False)))
    assert set(ax.lines[0].get_ydata()) == {chip.peak_tops}


def test_the_front_has_what_no_other_beats():
    random = np.random.default_rng(3)
    table = pd.DataFrame(
        {"cost": random.integers(0, 30, 200), "accuracy": random.integers(0, 30, 200)}
    )
    front = tw.viz.pareto_front(table, cost="cost")
    pairs = list(table.itertuples(index=False, name=None))
    best = {
        (c, a)
        for c, a in pairs
        if not any((d <= c and b > a) or (d < c and b >= a) for d, b in pairs)
    }
    assert list(front.itertuples(index=False, name=None)) == sorted(best)


def test_a_design_without_accuracy_is_not_on_the_front():
    table = pd.DataFrame({"cycles": [3.0, 1.0, 2.0], "accuracy": [0.9, np.nan, 0.8]})
    assert list(tw.viz.pareto_front(table, cost="cycles").index) == [2, 0]


def test_the_designs_on_the_front_are_named():
    table = pd.DataFrame({"j": [1, 2, 3], "accuracy": [0.5, 0.9, 0.7], "name": list("abc")})
    ax = drawn(tw.viz.pareto(table, cost="j", label="name", cost_label="energy [J]"))
    assert [t.get_text() for t in ax.texts] == ["a", "b"]
    assert ax.get_xlabel() == "energy [J]"
    with pytest.raises(KeyError, match="no column 'joules'; there are j, accuracy, name"):
        tw.viz.pareto(table, cost="joules")


@pytest.mark.parametrize("shape", [(1, 1, 1), (5, 4, 4), (3, 2, 6), (7, 5, 2)])
def test_registers_move_as_those_of_a_systolic_array(shape):
    batch, rows, columns = shape
    random = np.random.default_rng(batch)
    x = random.integers(-128, 128, (batch, rows))
    w = random.integers(-127, 128, (rows, columns))
    registers = tw.viz.array_registers(x, w)
    assert (registers.sums == x @ w).all()
    assert len(registers) == rows + batch + rows + columns - 2
    psum, a = registers.psum, registers.activation
    for t in range(1, len(registers)):
        inside = registers.activation_row[t] >= 0
        above = np.vstack([np.zeros((1, columns), int), psum[t - 1, :-1]])
        assert (psum[t] == np.where(inside, above + a[t] * registers.weight[t], 0)).all()
        assert (a[t, :, 1:] == a[t - 1, :, :-1]).all()
        # Shadow weights move down until a column's tile is in place; then it is the tile.
        for column in range(columns):
            moves = column < t <= column + rows - 1
            before = registers.shadow[t - 1, :, column]
            now = registers.shadow[t, :, column]
            assert (now[1:] == (before[:-1] if moves else before[1:])).all() or t <= column
            if t >= column + rows - 1:
                assert (now == w[:, column]).all()


def test_the_strip_writes_what_each_element_holds():
    registers = tw.viz.array_registers([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    ax = drawn(tw.viz.wavefront(registers, show="psum", cycles=[2, 3]))
    texts = [t.get_text() for t in ax.texts]
    assert texts == ["cycle 2", "5", "cycle 3", "15", "6", "19"]
    ax = drawn(tw.viz.wavefront(registers, show="shadow"))
    assert [t.get_text() for t in ax.texts][-4:] == ["5", "6", "7", "8"]
    ax = drawn(tw.viz.wavefront(registers, show="weight", cycles=[5]))
    assert [t.get_text() for t in ax.texts] == ["cycle 5", "5", "6", "7", "8"]


def test_an_animation_has_the_frames_of_the_strip():
    registers = tw.viz.array_registers([[1, 2], [3, 4]], [[5, 6], [7, 8]])
    film = tw.viz.wavefront_animation(registers, show="psum", milliseconds=40)
    strip = drawn(tw.viz.wavefront(registers, show="psum"))
    assert film.to_jshtml().count("data:image/png;base64") == len(registers) - 2
    frames = []
    for cycle in film.new_frame_seq():
        film._draw_frame(cycle)
        frames += [t.get_text() for t in film._fig.axes[0].texts]
    assert frames == [t.get_text() for t in strip.texts]
    with pytest.raises(ValueError, match="milliseconds"):
        tw.viz.wavefront_animation(registers, milliseconds=0)


def test_pictures_go_into_the_axes_that_they_are_given(result):
    registers = tw.viz.array_registers([[1]], [[1]])
    table = pd.DataFrame({"cycles": [1], "accuracy": [1.0]})
    figure, axes = pyplot.subplots(6, figsize=(8, 20))
    assert tw.viz.cycles(result, ax=axes[0]) is axes[0]
    assert tw.viz.compare({"one": result}, ax=axes[1]) is axes[1]
    assert tw.viz.timeline(result.trace, ax=axes[2]) is axes[2]
    assert tw.viz.roofline(result, ax=axes[3]) is axes[3]
    assert tw.viz.pareto(table, cost="cycles", ax=axes[4]) is axes[4]
    assert tw.viz.wavefront(registers, ax=axes[5]) is axes[5]
    figure.canvas.draw()


def test_wrong_arguments_are_named(result):
    registers = tw.viz.array_registers([[1]], [[1]])
    with pytest.raises(TypeError, match="result: expected a Result, got int"):
        tw.viz.cycles(3)
    with pytest.raises(TypeError, match="ax: expected Matplotlib axes, got str"):
        tw.viz.roofline(result, ax="here")
    with pytest.raises(TypeError, match="trace: expected a Trace, got Result"):
        tw.viz.timeline(result)
    with pytest.raises(ValueError, match="expected cycles from 0 to"):
        tw.viz.timeline(result.trace, first=5, end=5)
    with pytest.raises(ValueError, match="at least one"):
        tw.viz.compare({})
    with pytest.raises(ValueError, match="'class' or 'layer'"):
        tw.viz.compare({"one": result}, by="unit")
    with pytest.raises(TypeError, match="weights: expected integers, got float64"):
        tw.viz.array_registers([[1]], [[0.5]])
    with pytest.raises(ValueError, match="expected 2 columns"):
        tw.viz.array_registers([[1]], [[1], [2]])
    with pytest.raises(ValueError, match="expected one of activation"):
        tw.viz.wavefront(registers, show="sum")
    with pytest.raises(ValueError, match="some from 0 to 1"):
        tw.viz.wavefront(registers, cycles=[2])


def test_without_matplotlib_the_package_works_and_pictures_say_what_is_missing(monkeypatch, result):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'tilewave\[viz\]'"):
        tw.viz.cycles(result)
