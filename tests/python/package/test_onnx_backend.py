"""The ONNX project's own node tests of the integer operators, on our integer arithmetic."""

import re
import unittest
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner
from tilewave import onnx_backend

# All of ONNX 1.18's node tests of the six operators.
PASSED = {
    "test_convinteger_with_padding",
    "test_convinteger_without_padding",
    "test_dequantizelinear",
    "test_dequantizelinear_axis",
    "test_dequantizelinear_blocked",
    "test_dequantizelinear_int16",
    "test_dequantizelinear_uint16",
    "test_matmulinteger",
    "test_qlinearconv",
    "test_qlinearmatmul_2D_uint8_float16",
    "test_qlinearmatmul_2D_uint8_float32",
    "test_qlinearmatmul_3D_uint8_float16",
    "test_qlinearmatmul_3D_uint8_float32",
    "test_quantizelinear",
    "test_quantizelinear_axis",
    "test_quantizelinear_blocked_asymmetric",
    "test_quantizelinear_blocked_symmetric",
    "test_quantizelinear_int16",
    "test_quantizelinear_uint16",
}
# What they expect has values below -128 wrapped to positive ones; the standard's text saturates.
FAILED = {
    "test_qlinearmatmul_2D_int8_float16",
    "test_qlinearmatmul_2D_int8_float32",
    "test_qlinearmatmul_3D_int8_float16",
    "test_qlinearmatmul_3D_int8_float32",
}
SKIPPED = {
    "test_dequantizelinear_e4m3fn": "type FLOAT8E4M3FN",
    "test_dequantizelinear_e4m3fn_float16": "type FLOAT8E4M3FN",
    "test_dequantizelinear_e4m3fn_zero_point": "type FLOAT8E4M3FN",
    "test_dequantizelinear_e5m2": "type FLOAT8E5M2",
    "test_dequantizelinear_float4e2m1": "type FLOAT4E2M1",
    "test_dequantizelinear_int4": "type INT4",
    "test_dequantizelinear_uint4": "type UINT4",
    "test_quantizelinear_e4m3fn": "type FLOAT8E4M3FN",
    "test_quantizelinear_e5m2": "type FLOAT8E5M2",
    "test_quantizelinear_float4e2m1": "type FLOAT4E2M1",
    "test_quantizelinear_int4": "type INT4",
    "test_quantizelinear_uint4": "type UINT4",
}
OPERATORS = re.compile(
    r"test_(quantizelinear|dequantizelinear|qlinearconv|qlinearmatmul|convinteger|matmulinteger)"
)


@pytest.fixture(scope="module")
def outcomes():
    """{name: "passed", or the failure's text} and {name: reason} of those skipped."""
    runner = Runner(onnx_backend.IntegerBackend, __name__)
    runner.include(OPERATORS.pattern)
    result = unittest.TestResult()
    suites = [
        unittest.defaultTestLoader.loadTestsFromTestCase(case)
        for name, case in runner.test_cases.items()
        if "Node" in name
    ]
    names = set()
    for test in unittest.TestSuite(suites)._tests:
        for case in test:
            if OPERATORS.match(case._testMethodName) and case._testMethodName.endswith("_cpu"):
                names.add(case._testMethodName.removesuffix("_cpu"))
                case.run(result)

    def named(pairs):
        return {case._testMethodName.removesuffix("_cpu"): text for case, text in pairs}

    skipped = named(result.skipped)
    failed = named(result.failures) | named(result.errors)
    return names - skipped.keys() - failed.keys(), skipped.keys(), failed


def test_every_node_test_has_the_outcome_that_is_listed(outcomes):
    passed, skipped, failed = outcomes
    assert failed.keys() == FAILED
    assert passed == PASSED
    assert skipped == SKIPPED.keys()


def test_what_is_skipped_has_its_reason():
    models = {
        case.name: onnx.load(f"{case.model_dir}/model.onnx")
        for case in load_model_tests(kind="node")
        if case.name in SKIPPED
    }
    assert {name: onnx_backend.refusal(model) for name, model in models.items()} == SKIPPED
    with pytest.raises(NotImplementedError, match="type INT4; this backend has ConvInteger"):
        onnx_backend.prepare(models["test_quantizelinear_int4"])


def test_onnx_runtime_saturates_as_we_do_where_the_node_tests_wrap():
    cases = [case for case in load_model_tests(kind="node") if case.name in FAILED]
    assert len(cases) == len(FAILED)
    for case in cases:
        model = onnx.load(f"{case.model_dir}/model.onnx")
        folder = Path(case.model_dir) / "test_data_set_0"
        files = [folder / f"input_{i}.pb" for i in range(8)] + [folder / "output_0.pb"]
        *inputs, wrapped = (onnx.numpy_helper.to_array(onnx.load_tensor(file)) for file in files)
        (ours,) = onnx_backend.run_model(model, inputs)
        differing = ours != wrapped
        assert (ours[differing] == -128).all()
        assert (wrapped[differing] > 0).all()
        if case.name.endswith("float32"):  # ONNX Runtime has no float16 here
            session = onnxruntime.InferenceSession(
                model.SerializeToString(), providers=["CPUExecutionProvider"]
            )
            names = [value.name for value in session.get_inputs()]
            assert (session.run(None, dict(zip(names, inputs)))[0] == ours).all()


def test_an_operator_that_it_has_not_is_refused():
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    value = onnx.helper.make_tensor_value_info
    ends = [value(name, onnx.TensorProto.FLOAT, [1]) for name in ("x", "y")]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", ends[:1], ends[1:]))
    assert not onnx_backend.is_compatible(model)
    with pytest.raises(NotImplementedError, match="operator Relu"):
        onnx_backend.run_model(model, [np.zeros(1, np.float32)])
