"""Traces saved, and how full the buffers were."""

import json

import numpy as np
import pytest
import tilewave as tw
from conftest import tilewave


@pytest.fixture(scope="module")
def result():
    return tw.run(images=300, batch=64, reference=False)


@pytest.fixture(scope="module")
def saved(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "trace.json"
    result.trace.save(path)
    return path


def test_a_saved_trace_is_the_commands(saved, tmp_path):
    other = tmp_path / "command.json"
    tilewave("run", "--images", 300, "--batch", 64, "--quiet", "--trace", other)
    assert other.read_bytes() == saved.read_bytes()


def test_the_file_has_the_slices_and_the_occupancy_of_the_trace(result, saved):
    trace, events = result.trace, json.loads(saved.read_text())["traceEvents"]
    slices = [e for e in events if e["ph"] == "X" and e["tid"] <= len(trace.units)]
    for name, values in {
        "unit": [e["tid"] - 1 for e in slices],
        "start": [e["ts"] for e in slices],
        "end": [e["ts"] + e["dur"] for e in slices],
        "done": [e["args"]["done"] for e in slices],
        "launch": [e["args"]["launch"] for e in slices],
        "instruction": [e["args"]["instruction"] for e in slices],
    }.items():
        np.testing.assert_array_equal(getattr(trace, name), values, err_msg=name)
    names = [*trace.layer_names, None]
    assert [names[i] for i in trace.layer] == [e["args"]["layer"] for e in slices]
    for counter, ours in {
        "unified buffer": trace.unified_buffer,
        "weight FIFO": trace.weight_fifo,
    }.items():
        steps = [e for e in events if e["ph"] == "C" and e["name"] == counter]
        np.testing.assert_array_equal(ours.cycle, [e["ts"] for e in steps])
        np.testing.assert_array_equal(ours.value, [next(iter(e["args"].values())) for e in steps])


def test_occupancy_stays_within_the_buffers(result):
    trace = result.trace
    peak = result.program.unified_buffer_peak_bytes
    assert 0 < trace.unified_buffer.peak <= peak
    assert trace.unified_buffer.value[-1] == trace.weight_fifo.value[-1] == 0
    assert trace.weight_fifo.peak <= result.program.chip.to_dict()["weight_memory"]["fifo_tiles"]
    assert (np.diff(trace.unified_buffer.cycle) > 0).all()
    assert "at most" in repr(trace.unified_buffer)


def test_a_long_run_is_saved_in_part_and_says_so(tmp_path):
    q = tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration)
    program = tw.compile(q, tw.Chip.load("tpu_v1"), 1)
    trace = tw.simulate(program, launches=20_000).trace
    with pytest.warns(UserWarning, match=r"shows the first \d+ of 20000 launches"):
        trace.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())["otherData"]["complete"] is False


def test_a_trace_that_cannot_be_saved_leaves_nothing(result, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        result.trace.save(tmp_path / "nowhere" / "trace.json")
    with pytest.raises(TypeError, match="expected a str or a path"):
        result.trace.save(3)
    assert not any(tmp_path.iterdir())
