"""Wrong arguments raise an exception that names what was expected, and nothing crashes."""

import numpy as np
import pytest
import tilewave as tw
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

EXPECTED_IMAGES = r"expected a NumPy array of uint8, \[n, 28, 28\]"


@pytest.fixture(scope="module")
def data():
    return tw.datasets.mnist()


@pytest.fixture(scope="module")
def quantized(data):
    return tw.quantize(tw.load_model("mnist_cnn"), data.calibration)


@pytest.fixture(scope="module")
def program(quantized):
    return tw.compile(quantized, tw.Chip.load("tpu_v1"), 4)


@pytest.fixture(scope="module")
def takers(quantized, program):
    """Every function that takes images."""
    few = tw.Scheme(calibration_images=1)
    return [
        lambda images: tw.simulate(program, images),
        lambda images: tw.reference(quantized, images, precision="int8"),
        lambda images: tw.reference(quantized, images, precision="fp32"),
        lambda images: tw.quantize(quantized.graph, images, few),
    ]


DTYPES = st.one_of(
    hnp.scalar_dtypes(),
    hnp.unicode_string_dtypes(max_len=4),
    hnp.datetime64_dtypes(),
    st.just(np.dtype(object)),
    st.just(np.dtype([("a", "u1")])),
).filter(lambda dtype: dtype != np.uint8)


@given(dtype=DTYPES, n=st.integers(0, 2))
def test_another_dtype_is_a_type_error(takers, dtype, n):
    for take in takers:
        with pytest.raises(TypeError, match=EXPECTED_IMAGES):
            take(np.zeros((n, 28, 28), dtype))


@given(
    shape=hnp.array_shapes(min_dims=0, max_dims=6, min_side=0, max_side=29).filter(
        lambda s: s[1:] not in ((28, 28), (28, 28, 1)) and np.prod(s, dtype=float) < 1e6
    )
)
def test_another_shape_is_a_value_error(takers, shape):
    for take in takers:
        with pytest.raises(ValueError, match=EXPECTED_IMAGES):
            take(np.zeros(shape, np.uint8))


@given(
    order=st.permutations([0, 1, 2]).filter(lambda order: order != [0, 1, 2]),
    steps=st.tuples(*[st.sampled_from([1, 2, -1])] * 3),
)
def test_another_layout_is_a_value_error(takers, order, steps):
    wanted = np.array([3, 28, 28])
    whole = np.zeros(wanted[np.argsort(order)] * np.abs(steps)[np.argsort(order)], np.uint8)
    images = whole.transpose(order)[tuple(slice(None, None, step) for step in steps)]
    assert images.shape == (3, 28, 28)
    if images.flags.c_contiguous:
        return
    for take in takers:
        with pytest.raises(ValueError, match=r"C order.*ascontiguousarray"):
            take(images)


@given(n=st.integers(1, 9), offset=st.integers(0, 20), data=st.data())
@settings(max_examples=20)
def test_any_values_at_any_address_are_taken(takers, n, offset, data):
    flat = data.draw(hnp.arrays(np.uint8, offset + n, elements=st.integers(0, 255)))
    images = np.broadcast_to(flat[offset:, None, None], (n, 28, 28)).copy()
    results = [take(images) for take in takers[:2]]
    np.testing.assert_array_equal(results[0].outputs, results[1].integers)
    results = [take(images[..., None]) for take in takers[:2]]
    np.testing.assert_array_equal(results[0].outputs, results[1].integers)


def test_no_images_are_a_value_error(takers):
    for take in takers:
        with pytest.raises(ValueError, match="at least one image"):
            take(np.zeros((0, 28, 28), np.uint8))


@pytest.mark.parametrize("images", [[[[0] * 28] * 28], b"\0" * 784, 3, "mnist", object()])
def test_what_is_no_array_is_a_type_error(takers, images):
    for take in takers:
        with pytest.raises(TypeError, match=EXPECTED_IMAGES):
            take(images)


def test_nan_is_refused_for_its_dtype(takers):
    for take in takers:
        with pytest.raises(TypeError, match="float32"):
            take(np.full((1, 28, 28), np.nan, np.float32))


def test_labels_must_fit_the_images(program, data):
    images = data.test.images[:3]
    for labels, error in [
        (np.zeros(2, np.uint8), ValueError),
        (np.zeros((3, 1), np.uint8), ValueError),
        (np.zeros(3, np.int64), TypeError),
        ([0, 1, 2], TypeError),
    ]:
        with pytest.raises(error, match=r"labels: expected a NumPy array of uint8, \[3\]"):
            tw.simulate(program, tw.Images(images, labels))


def test_a_read_only_array_is_taken(program, data):
    images = data.test.images[:2]
    images.setflags(write=False)
    assert tw.simulate(program, images).images == 2


def test_too_few_calibration_images_are_refused(quantized, data):
    with pytest.raises(tw.InputError, match="calibration_images"):
        tw.quantize(quantized.graph, data.calibration[:10])


def test_arguments_of_another_type_are_named(quantized, program, data):
    graph, chip = quantized.graph, program.chip
    for call in [
        lambda: tw.quantize(program, data.calibration),
        lambda: tw.quantize(graph, data.calibration, {"weight_bits": 8}),
        lambda: tw.quantize(graph, data.calibration, threads=1.5),
        lambda: tw.compile(graph, chip),
        lambda: tw.compile(quantized, "tpu_v1"),
        lambda: tw.compile(quantized, chip, "256"),
        lambda: tw.simulate(quantized, data.test),
        lambda: tw.simulate(program, data.test[:1], engine=3),
        lambda: tw.reference(graph, data.test),
        lambda: tw.load_model(3),
        lambda: tw.load_model(None),
        lambda: tw.Chip.load(3),
        lambda: tw.Chip.load(b"tpu_v1"),
        lambda: tw.Chip.from_yaml(b""),
        lambda: chip.replace([("array.rows", 3)]),
        lambda: chip.replace({3: 3}),
        lambda: chip.replace({"array.rows": None}),
        lambda: chip.replace({"array.rows": [3]}),
        lambda: tw.Program.from_bytes("text", chip),
        lambda: tw.Program.assemble(b"bytes", chip),
        lambda: tw.datasets.load(3),
        lambda: tw.Chip(),
        lambda: tw.Graph(),
        lambda: tw.Program(),
        lambda: tw.QuantizedGraph(),
    ]:
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("value", [0, -1, 1025, 2**40, -(2**62)])
def test_threads_out_of_range_are_refused(takers, program, data, value):
    with pytest.raises(tw.InputError, match=r"threads.*1 to 1024"):
        tw.simulate(program, data.test[:1], threads=value)


@pytest.mark.parametrize("name", ["launches", "batch"])
@pytest.mark.parametrize("value", [0, -1, -(2**62)])
def test_counts_below_one_are_refused(quantized, program, data, name, value):
    with pytest.raises(tw.InputError, match=f"{name}.*1 (to|or more)"):
        if name == "launches":
            tw.simulate(program, launches=value)
        else:
            tw.compile(quantized, program.chip, value)


def test_numbers_too_large_are_refused(quantized, program):
    with pytest.raises(tw.InputError):
        tw.simulate(program, launches=2**62)
    for batch in (2**30, 2**31, 2**62, 2**63 - 1):
        with pytest.raises(tw.InputError, match="batch"):
            tw.compile(quantized, program.chip, batch)
    with pytest.raises((TypeError, ValueError)):
        tw.simulate(program, launches=2**80)


def test_engines_and_devices_that_are_not_there_are_named(quantized, program, data):
    few = data.test[:1]
    with pytest.raises(tw.InputError, match="timeline"):
        tw.simulate(program, few, engine="timelin")
    with pytest.raises(tw.InputError, match="pe"):
        tw.simulate(program, few, engine="systemc", matrix_unit="pee")
    with pytest.raises(tw.InputError, match="another engine"):
        tw.simulate(program, few, matrix_unit="pe")
    with pytest.raises(tw.InputError, match="tpu"):
        tw.reference(quantized, few, device="tpu")
    with pytest.raises(tw.InputError, match="fp16"):
        tw.reference(quantized, few, precision="fp16")
    with pytest.raises(tw.InputError, match="int4"):
        tw.reference(quantized, few, device="gpu", precision="int4")


@pytest.mark.parametrize("precision", ["fp32", "tf32", "fp16", "int8"])
def test_a_gpu_gives_the_networks_outputs_or_says_why_there_is_none(quantized, data, precision):
    few = data.test[:20]
    try:
        native = tw.reference(quantized, few, device="gpu", precision=precision)
    except tw.InputError as error:
        assert "GPU" in str(error) or "CUDA" in str(error)
        assert "\n" not in str(error)
        return
    cpu = tw.reference(quantized, few, precision="int8" if precision == "int8" else "fp32")
    assert (native.classes == cpu.classes).all()
    if precision == "int8":
        np.testing.assert_array_equal(native.integers, cpu.integers)


def test_a_typo_is_answered_with_the_nearest_name():
    with pytest.raises(tw.InputError, match="tpu_v1"):
        tw.Chip.load("tpu_v2")
    with pytest.raises(tw.InputError, match=r"did you mean .*rows"):
        tw.Chip.load("tpu_v1").replace({"array.rowz": 3})
    with pytest.raises(tw.InputError, match="mnist"):
        tw.datasets.load("mnits")
    with pytest.raises(TypeError, match="weight_bit"):
        tw.Scheme(weight_bit=8)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0, 1e300, "fast", True])
def test_a_chip_key_out_of_range_is_refused(value):
    with pytest.raises(tw.InputError, match="clock_mhz"):
        tw.Chip.load("tpu_v1").replace({"clock_mhz": value})


@given(
    key=st.one_of(st.text(), st.sampled_from(["array", "array.rows", "name", "energy.mac_pj"])),
    value=st.recursive(
        st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none()),
        lambda inner: st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    ),
)
def test_any_change_of_a_chip_gives_a_chip_or_a_clear_error(key, value):
    try:
        assert isinstance(tw.Chip.load("tpu_v1").replace({key: value}), tw.Chip)
    except (TypeError, tw.InputError) as error:
        assert str(error)


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("weight_bits", 9, ValueError),
        ("weight_bits", 8.0, TypeError),
        ("weight_bits", True, TypeError),
        ("activation_signed", 1, TypeError),
        ("percentile", float("nan"), ValueError),
        ("percentile", 50, ValueError),
        ("granularity", "per_row", ValueError),
        ("observer", None, TypeError),
        ("calibration_images", 0, ValueError),
        ("calibration_images", 2**70, ValueError),
        ("seed", -1, ValueError),
        ("seed", 1.5, TypeError),
        ("momentum", 1, ValueError),
        ("layers", "conv1", TypeError),
        ("layers", {3: {}}, TypeError),
        ("layers", {"conv1": 4}, TypeError),
        ("layers", {"conv1": {"weight_bits": "4"}}, TypeError),
        ("layers", {"conv1": {"weight_bits": 4.0}}, TypeError),
        ("layers", {"conv1": {"weight_bit": 4}}, ValueError),
        ("layers", {"conv1": {"weight_bits": 1}}, ValueError),
    ],
)
def test_a_scheme_out_of_range_is_refused(field, value, error):
    with pytest.raises(error, match=field):
        tw.Scheme(**{field: value})


def test_a_layer_that_the_network_lacks_is_refused(data):
    scheme = tw.Scheme(layers={"conv9": {"weight_bits": 4}}, calibration_images=1)
    with pytest.raises(tw.InputError, match=r"conv9: no layer has this name .did you mean"):
        tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)


@given(st.binary(max_size=300))
def test_bytes_that_are_no_program_are_refused(program, junk):
    with pytest.raises(tw.InputError):
        tw.Program.from_bytes(junk, program.chip)


@given(st.binary(max_size=300))
def test_bytes_that_are_no_model_are_refused(junk):
    with pytest.raises(tw.InputError):
        tw.load_model(junk)


def test_a_program_whose_names_are_no_utf_8_can_be_shown_and_run(program):
    text = program.disassemble().replace('name="', r'name="\x80')
    odd = tw.Program.assemble(text, program.chip)
    assert odd.name == "\ufffdmnist_cnn"
    assert odd.layers[0]["name"].startswith("\ufffd")
    result = tw.simulate(odd)
    assert "\ufffdmnist_cnn" in str(result)
    assert result.layers["name"][0].startswith("\ufffd")


@given(data=st.data())
@settings(max_examples=200)
def test_a_damaged_program_never_crashes(program, data):
    file = bytearray(program.to_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, min(len(file), 20_000) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.one_of(st.just(len(file)), st.integers(0, len(file))))
    try:
        damaged = tw.Program.from_bytes(bytes(file[:end]), program.chip)
        len(damaged.instructions.counts())
    except tw.InputError as error:
        assert str(error)


@given(text=st.text(max_size=200))
def test_text_that_is_no_program_is_refused(program, text):
    with pytest.raises(tw.InputError):
        tw.Program.assemble(text, program.chip)


@given(text=st.text(max_size=200))
def test_text_as_a_chip_gives_a_chip_or_a_clear_error(text):
    try:
        tw.Chip.from_yaml(text)
    except tw.InputError as error:
        assert str(error)


def test_a_program_for_a_larger_chip_is_refused(program, data):
    small = program.chip.replace({"array": {"rows": 8, "cols": 8}})
    other = tw.Program.from_bytes(program.to_bytes(), small)
    with pytest.raises(tw.InputError):
        tw.simulate(other, data.test[:1])


def test_files_that_are_not_there_are_file_errors(tmp_path, program):
    missing = tmp_path / "missing"
    for read in [
        lambda: tw.load_model(missing.with_suffix(".onnx")),
        lambda: tw.load_model(str(missing)),
        lambda: tw.load_model("no_such_model"),
        lambda: tw.Chip.load(missing.with_suffix(".yaml")),
        lambda: tw.Chip.load(missing),
        lambda: tw.Chip.load("missing.yaml"),
        lambda: tw.Scheme.load(missing),
        lambda: tw.Program.load(missing, program.chip),
        lambda: tw.datasets.load(missing),
        lambda: tw.datasets.mnist(missing),
        lambda: tw.datasets.read_idx(missing),
        lambda: program.save(missing / "program.twp"),
    ]:
        with pytest.raises(FileNotFoundError):
            read()
    for read in [tw.load_model, tw.Chip.load, tw.Scheme.load, tw.datasets.read_idx]:
        with pytest.raises(IsADirectoryError):
            read(tmp_path)


def test_a_file_that_is_deleted_between_two_calls_is_missed_the_second_time(tmp_path):
    file = tmp_path / "model.onnx"
    file.write_bytes((ROOT / "models/mnist_cnn.onnx").read_bytes())
    graph = tw.load_model(file)
    file.unlink()
    assert graph.nodes
    with pytest.raises(FileNotFoundError):
        tw.load_model(file)


def test_a_deleted_working_folder_crashes_nothing(tmp_path):
    import subprocess
    import sys

    gone = tmp_path / "gone"
    gone.mkdir()
    script = (
        f"import os, tilewave as tw; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
        "tw.Chip.load('tpu_v1')\n"
        "try: tw.Chip.load('here.yaml')\n"
        "except FileNotFoundError: pass\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["a\0b", "a\0b.yaml", "/a\0b.onnx"])
def test_a_null_in_a_name_is_a_value_error(name):
    for read in [tw.load_model, tw.Chip.load, tw.Scheme.load, tw.datasets.load]:
        with pytest.raises(ValueError, match="null"):
            read(name)
