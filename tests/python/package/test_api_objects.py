"""The objects themselves: what they are made of, equality, pickling, what they show."""

import dataclasses
import pickle

import numpy as np
import pytest
import tilewave as tw
from conftest import ROOT, tilewave
from tilewave import _core

MODEL = ROOT / "models/mnist_cnn.onnx"


@pytest.fixture(scope="module")
def data():
    return tw.datasets.mnist()


@pytest.fixture(scope="module")
def quantized(data):
    return tw.quantize(tw.load_model("mnist_cnn"), data.calibration)


def test_the_version_is_the_commands():
    assert tw.__version__ in tilewave("version").decode()


def test_a_replaced_key_changes_and_the_rest_stays():
    chip = tw.Chip.load("tpu_v1")
    changed = chip.replace({"array.rows": 128, "array": {"cols": 64}, "name": "small"})
    assert (changed.rows, changed.cols, changed.name) == (128, 64, "small")
    expected = chip.to_dict()
    expected["array"] |= {"rows": 128, "cols": 64}
    expected["name"] = "small"
    assert changed.to_dict() == expected
    assert chip.rows == 256


def test_keys_need_to_fit_together_only_when_all_have_changed():
    chip = tw.Chip.load("tpu_v1").replace({"array": {"rows": 1024, "cols": 4096}})
    one, other = {"array.rows": 65536}, {"array.cols": 8}
    with pytest.raises(tw.InputError):
        chip.replace(one)
    assert chip.replace(one | other) == chip.replace(other | one)


@pytest.mark.parametrize("name", tw.Chip.names())
def test_a_chip_survives_yaml_and_pickling(name):
    chip = tw.Chip.load(name)
    for copy in (tw.Chip.from_yaml(chip.to_yaml()), pickle.loads(pickle.dumps(chip))):
        assert copy == chip
        assert hash(copy) == hash(chip)
    assert chip != tw.Chip.load("tpu_v1").replace({"name": "another"})
    assert chip != name


def test_a_bandwidth_may_be_unlimited():
    key = "weight_memory.bandwidth_gb_per_s"
    chip = tw.Chip.load("tpu_v1").replace({key: "unlimited"})
    assert chip.to_dict()["weight_memory"]["bandwidth_gb_per_s"] == "unlimited"


def test_a_chip_file_may_extend_a_preset(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("extends: tpu_v1\narray: {rows: 64}\n")
    assert tw.Chip.load(file).rows == tw.Chip.load(str(file)).rows == 64


def test_the_schema_describes_every_key():
    schema = tw.Chip.schema()
    assert schema["properties"].keys() >= tw.Chip.load("tpu_v1").to_dict().keys()


def test_a_network_comes_from_a_name_a_path_bytes_or_a_message():
    import onnx

    message = onnx.load(MODEL)
    sources = ["mnist_cnn", MODEL, str(MODEL), MODEL.read_bytes(), message]
    graphs = [tw.load_model(source) for source in sources]
    assert [graph.nodes for graph in graphs] == [graphs[0].nodes] * len(sources)
    assert [graph.name for graph in graphs[:3]] == ["mnist_cnn"] * 3
    assert graphs[4].name == message.graph.name


def test_a_network_says_what_it_is():
    graph = tw.load_model("mnist_cnn")
    assert graph.input_shape == (28, 28, 1)
    assert graph.outputs == 10
    assert graph.macs == 28 * 28 * 64 * 4 + 14 * 14 * 32 * 256 + 1568 * 256 + 256 * 10
    assert [node.operation for node in graph.nodes][:2] == ["Input", "Conv"]
    assert pickle.loads(pickle.dumps(graph)).nodes == graph.nodes


def test_a_scheme_has_the_defaults_of_the_command():
    import json

    assert tw.Scheme().to_dict() == json.loads(_core.Scheme().to_json())


def test_a_scheme_is_a_value(quantized):
    scheme = tw.Scheme(weight_bits=4)
    assert scheme == dataclasses.replace(tw.Scheme(), weight_bits=4) != tw.Scheme()
    assert pickle.loads(pickle.dumps(scheme)) == scheme
    assert quantized.scheme == tw.Scheme()
    layers = {"conv1": {"weight_bits": 3}}
    own = tw.Scheme(layers=layers, seed=4)
    layers["conv1"]["weight_bits"] = 4
    assert own.layers == {"conv1": {"weight_bits": 3}}
    assert own != tw.Scheme(layers=layers, seed=4) != tw.Scheme(layers=layers)
    assert {own, scheme} == {scheme, own}


def test_a_layer_has_the_widths_that_the_scheme_says(data):
    layers = {
        "conv2": {"weight_bits": 3, "activation_bits": 5},
        "dense1": {"granularity": "per_tensor"},
    }
    scheme = tw.Scheme(weight_bits=6, layers=layers, calibration_images=10)
    made = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)
    assert made.scheme == scheme
    assert [made[name].weight_bits for name in ("conv1", "conv2", "dense1")] == [6, 3, 6]
    assert [made[name].bits for name in ("conv1", "conv2", "dense1")] == [8, 5, 8]
    assert np.abs(made["conv2"].weight).max() == 3
    assert len(set(made["dense1"].weight_scale)) == 1 < len(set(made["dense2"].weight_scale))


def test_a_programs_chip_has_the_accumulators_of_the_scheme(data):
    scheme = tw.Scheme(accumulator_bits=20, overflow="saturate", calibration_images=10)
    narrow = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)
    chip = tw.Chip.load("edge_32")
    program = tw.compile(narrow, chip, 4)
    keys = {"precision.accumulator_bits": 20, "precision.overflow": "saturate"}
    assert program.chip == chip.replace(keys)
    assert program.scheme == narrow.scheme == scheme
    with pytest.raises(tw.InputError, match="native paths have 32-bit"):
        tw.reference(narrow, data.test[:4])
    with pytest.raises(TypeError, match="accumulator_bits: expected int, got bool"):
        tw.Scheme(accumulator_bits=True)


def test_a_program_can_be_pickled_and_counted(quantized):
    program = tw.compile(quantized, tw.Chip.load("edge_32"), 4)
    copy = pickle.loads(pickle.dumps(program))
    assert copy == program
    assert hash(copy) == hash(program)
    assert copy.scheme == program.scheme == tw.Scheme()
    assert (program.batch, program.outputs, program.input_shape) == (4, 10, (28, 28, 1))
    assert 0 < program.unified_buffer_peak_bytes <= 24576 * 1024
    assert [layer["name"] for layer in program.layers] == ["conv1", "conv2", "dense1", "dense2"]
    assert program.instructions[-1].mnemonic == "halt"
    assert program.instructions[:2] == list(program.instructions)[:2]
    with pytest.raises(IndexError):
        program.instructions[len(program)]


def test_results_can_be_saved(quantized, data, tmp_path):
    import json

    result = tw.simulate(tw.compile(quantized, tw.Chip.load("edge_32"), 4), data.test[:4])
    result.save(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == result.to_dict()


def test_everything_shows_itself(quantized, data):
    program = tw.compile(quantized, tw.Chip.load("edge_32"), 4)
    result = tw.simulate(program, data.test[:4])
    shown = {
        tw.Chip.load("tpu_v1"): "256 x 256 at 700 MHz",
        quantized.graph: "28 x 28 x 1 -> 10",
        quantized: "weights 8 bits per_channel",
        program: "for 'edge_32': batch 4",
        program.instructions: "matmul",
        result: "4 images in",
        result.trace: "slices",
        data: "10,000 test images",
    }
    for item, text in shown.items():
        assert text in repr(item)
        assert repr(item).startswith(type(item).__name__)
        html = item._repr_html_()
        assert html.startswith("<table>")
        assert html.count("<tr>") > 2
        assert html.count("<table>") == html.count("</table>")
    assert "28 x 28" in repr(data.test)
    assert "cpu" in repr(tw.reference(quantized, data.test[:4])).lower()
    assert "where the cycles went" in str(result)


def test_a_name_with_markup_is_shown_as_text(quantized):
    chip = tw.Chip.load("tpu_v1")
    program = tw.compile(quantized, chip, 4)
    text = program.disassemble().replace("mnist_cnn", "<b>&</b>")
    shown = tw.Program.assemble(text, chip)._repr_html_()
    assert "<b>" not in shown
    assert "&lt;b&gt;" in shown


def test_data_sets_are_what_they_say(data):
    assert data.test.images.shape == (10_000, 28, 28)
    assert data.calibration.images.shape == (1_000, 28, 28)
    assert len(data.test.labels) == 10_000
    part = data.test[10:20]
    assert len(part) == len(part.labels) == 10
    assert part.images.base is not None
    with pytest.raises(TypeError, match="slice"):
        data.test[3]


def test_a_data_set_can_come_from_a_folder(data):
    folder = ROOT / "models/data/mnist"
    for load in (tw.datasets.mnist, tw.datasets.load):
        own = load(folder)
        assert own.name == "mnist"
        assert (own.test.images == data.test.images).all()


def test_training_images_that_were_not_fetched_are_missed(tmp_path):
    with pytest.raises(FileNotFoundError, match="fetch_mnist"):
        tw.datasets.mnist_training(tmp_path)


def test_training_images_come_from_the_folder_that_the_script_fills(tmp_path):
    for kind in ("images-idx3", "labels-idx1"):
        source = ROOT / f"models/data/mnist/calibration-{kind}-ubyte.gz"
        (tmp_path / f"train-{kind}-ubyte.gz").write_bytes(source.read_bytes())
    training = tw.datasets.mnist_training(tmp_path)
    assert len(training) == len(training.labels) == 1_000
