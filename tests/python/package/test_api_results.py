"""The package gives what the command gives, bit for bit."""

import json

import numpy as np
import pytest
import tilewave as tw
from conftest import tilewave

IMAGES = 300
BATCH = 64


@pytest.fixture(scope="module")
def data():
    return tw.datasets.mnist()


@pytest.fixture(scope="module")
def quantized(data):
    return tw.quantize(tw.load_model("mnist_cnn"), data.calibration)


@pytest.fixture(scope="module")
def program(quantized):
    return tw.compile(quantized, tw.Chip.load("tpu_v1"), BATCH)


@pytest.fixture(scope="module")
def result(program, data):
    return tw.simulate(program, data.test[:IMAGES])


@pytest.fixture(scope="module")
def command_run():
    return json.loads(tilewave("run", "--images", IMAGES, "--batch", BATCH, "--json", "-"))


def without_host(report):
    return {key: value for key, value in report.items() if key != "host"}


def test_a_run_equals_the_commands_json_except_for_the_host(command_run):
    ours = tw.run(images=IMAGES, batch=BATCH).to_dict()
    assert list(ours) == list(command_run)
    assert without_host(ours) == without_host(command_run)
    assert ours["host"].keys() == command_run["host"].keys()


def test_overflows_of_narrow_accumulators_are_numpys(data):
    scheme = tw.Scheme(accumulator_bits=12, calibration_images=10)
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)
    result = tw.simulate(tw.compile(q, tw.Chip.load("edge_32"), 3), data.test[:3])
    assert sum(result.layers["overflows"]) == result.overflows > 0
    # The first layer: 2 x 2 pixels of one channel, padded at the bottom and right, and one tile.
    conv, (pixels, zero) = q["conv1"], (q.nodes[0], q.nodes[0].zero_point)
    images = np.rint(data.test[:3].images.squeeze() / np.float32(255) / np.float32(pixels.scale))
    padded = np.pad(images.astype(int) + zero, ((0, 0), (0, 1), (0, 1)), constant_values=zero)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 2), (1, 2)).reshape(-1, 4)
    weights = conv.weight.reshape(-1, 4).astype(int)
    overflows = 0

    def add(a, b):
        nonlocal overflows
        wrapped = (a + b + 2048) % 4096 - 2048
        overflows += np.count_nonzero(wrapped != a + b)
        return wrapped

    partial = np.zeros((len(windows), len(weights)), int)
    for k in range(4):
        partial = add(partial, np.outer(windows[:, k], weights[:, k]))
    add((conv.bias - zero * weights.sum(1) + 2048) % 4096 - 2048, partial)
    assert result.layers["overflows"][0] == overflows
    timed = tw.simulate(result.program, launches=1)
    assert timed.overflows is None


def test_a_full_run_equals_the_commands(full_run):
    assert without_host(tw.run().to_dict()) == without_host(full_run)


def test_a_run_of_a_changed_chip_and_scheme_equals_the_commands(tmp_path):
    file = tmp_path / "scheme.yaml"
    file.write_text("weight_bits: 4\ngranularity: per_tensor\nrequantize: fixed_point\n")
    changes = {"array.cols": 16, "clock_mhz": 300, "precision.weight_bits": 4}
    options = [f"--set={key}={value}" for key, value in changes.items()]
    theirs = tilewave(
        "run", "--images", 64, "--scheme", file, "--chip", "edge_32", *options, "--json", "-"
    )
    chip = tw.Chip.load("edge_32").replace(changes)
    ours = tw.run(chip, images=64, scheme=tw.Scheme.load(file))
    assert without_host(ours.to_dict()) == without_host(json.loads(theirs))


def test_a_simulation_in_steps_has_the_runs_figures(result, command_run):
    ours = result.to_dict()
    differing = {key for key in ours if ours[key] != command_run[key]} - {"host"}
    assert differing == {"accuracy_fp32", "agreement_fp32"}


def test_the_outputs_are_the_integers_of_the_cpu(result, quantized, data):
    native = tw.reference(quantized, data.test[:IMAGES], precision="int8")
    assert result.outputs.dtype == np.int8
    assert result.outputs.shape == (IMAGES, 10)
    np.testing.assert_array_equal(result.outputs, native.integers)
    np.testing.assert_array_equal(result.classes, native.classes)
    np.testing.assert_allclose(result.dequantized(), native.real, rtol=0, atol=1e-6)


def test_the_accuracy_is_that_of_the_classes(result, data):
    labels = data.test.labels[:IMAGES]
    assert result.accuracy == np.mean(result.classes == labels)


@pytest.mark.parametrize("matrix_unit", ["tile", "pe"])
def test_the_systemc_engine_gives_the_same(quantized, data, matrix_unit):
    program = tw.compile(quantized, tw.Chip.load("edge_32"), 2)
    images = data.test[:3]
    fast = tw.simulate(program, images)
    slow = tw.simulate(program, images, engine="systemc", matrix_unit=matrix_unit)
    np.testing.assert_array_equal(fast.outputs, slow.outputs)
    assert fast.counters == slow.counters
    assert slow.to_dict()["engine"] == f"systemc/{matrix_unit}"


@pytest.mark.parametrize(
    ("scheme", "dtype"),
    [
        ({"activation_signed": False}, np.uint8),
        ({"activation_bits": 16}, np.int16),
        ({"activation_bits": 4}, np.int8),
        ({"activation_symmetric": True}, np.int8),
        ({"layers": {"image": {"activation_bits": 3}, "dense2": {"activation_bits": 5}}}, np.int8),
        ({"requantize": "fixed_point_single_rounding"}, np.int8),
    ],
)
def test_outputs_have_the_dtype_of_the_scheme(data, scheme, dtype):
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, tw.Scheme(**scheme))
    bits = q.scheme.activation_bits
    chip = tw.Chip.load("tpu_v1").replace({"precision.activation_bits": bits})
    result = tw.simulate(tw.compile(q, chip, 8), data.test[:8])
    assert result.outputs.dtype == dtype
    native = tw.reference(q, data.test[:8])
    np.testing.assert_array_equal(result.outputs, native.integers)


def test_a_program_is_the_file_that_the_command_writes(program, tmp_path):
    ours, theirs = tmp_path / "ours.twp", tmp_path / "theirs.twp"
    program.save(ours)
    tilewave("compile", "--batch", BATCH, "-o", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    assert program.disassemble().encode() == tilewave("disasm", theirs)


def test_a_program_survives_bytes_text_and_files(program, tmp_path):
    file = tmp_path / "program.twp"
    program.save(file)
    assert tw.Program.load(file, program.chip) == program
    assert tw.Program.from_bytes(program.to_bytes(), program.chip) == program
    assert tw.Program.assemble(program.disassemble(), program.chip) == program


def test_layers_have_the_columns_and_figures_of_the_commands_csv(result, tmp_path):
    file = tmp_path / "layers.csv"
    tilewave("run", "--images", IMAGES, "--batch", BATCH, "--csv", file, "--quiet")
    header = file.read_text().splitlines()[0].split(",")
    assert list(result.layers.columns) == header
    assert list(result.layers["name"]) == [r["name"] for r in result.layer_records]
    assert result.layers["cycles"].sum() == result.cycles
    assert result.layers["macs"].sum() == result.macs


def test_without_images_the_cycles_are_the_same(program, result):
    timed = tw.simulate(program, launches=-(-IMAGES // BATCH))
    assert timed.cycles == result.cycles
    assert timed.counters == result.counters
    assert timed.outputs is None
    assert timed.classes is None
    assert timed.dequantized() is None


def test_the_trace_accounts_for_every_active_cycle(result):
    trace = result.trace
    assert trace.busy_cycles()["matrix"] == result.counters["active"]
    assert trace.cycles == result.cycles
    assert trace.end.max() <= result.cycles
    frame = trace.to_frame()
    assert len(frame) == len(trace)
    assert set(frame["layer"]) == {"conv1", "conv2", "dense1", "dense2"}


def test_slices_of_one_unit_do_not_overlap(result):
    trace = result.trace
    for unit in range(len(trace.units)):
        mine = np.flatnonzero(trace.unit == unit)
        order = mine[np.argsort(trace.start[mine], kind="stable")]
        assert (trace.start[order][1:] >= trace.end[order][:-1]).all(), trace.units[unit]


def test_the_instructions_are_those_of_the_disassembly(program):
    lines = program.disassemble().split("\n\n")[-1].strip().splitlines()
    assert [line.split()[0] for line in lines] == [i.mnemonic for i in program.instructions]
    assert len(program) == len(lines)
    first = next(i for i in program.instructions if i.mnemonic == "matmul")
    assert first.layer == "conv1"
    line = lines[first.index]
    assert f"rows={first.operands['rows']}" in line
    assert sum(program.instructions.counts().values()) == len(program)
    assert list(program.instructions.to_frame()["mnemonic"]) == [
        i.mnemonic for i in program.instructions
    ]


def test_the_quantized_network_can_be_read(quantized):
    conv = quantized["conv1"]
    assert conv.weight.shape == (64, 2, 2, 1)
    assert conv.weight_scale.shape == conv.bias.shape == (64,)
    fp32 = conv.weight * conv.weight_scale[:, None, None, None]
    assert np.abs(fp32).max() > 0
    assert np.abs(conv.weight).max() <= 127
    dense = quantized["dense2"]
    assert dense.weight.shape == (10, 256)
    with pytest.raises(KeyError):
        quantized["no such layer"]


def test_the_integer_weights_are_those_of_the_onnx_file_rounded(quantized):
    import onnx
    from conftest import ROOT
    from onnx import numpy_helper

    model = onnx.load(ROOT / "models/mnist_cnn.onnx")
    weights = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    (real,) = (w for w in weights.values() if w.shape == (64, 1, 2, 2))
    scale = np.abs(real).reshape(64, -1).max(axis=1) / np.float32(127)
    expected = np.rint(real / scale[:, None, None, None]).transpose(0, 2, 3, 1)
    np.testing.assert_array_equal(quantized["conv1"].weight, expected)


def test_arrays_are_views_and_cannot_be_written(quantized, data, program):
    for array in (
        quantized["conv1"].weight,
        data.test.images,
        data.test.labels,
        program.instructions.to_array(),
    ):
        assert array.base is not None
        assert not array.flags.writeable


def test_views_outlive_what_they_are_views_of(data):
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration)
    weight = q["dense1"].weight
    expected = weight.copy()
    del q
    np.testing.assert_array_equal(weight, expected)
