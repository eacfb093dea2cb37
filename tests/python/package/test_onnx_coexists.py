"""Our extension and Python's onnx, each with protobuf and ONNX's classes, in one process."""

import subprocess
import sys

import pytest
from conftest import ROOT

USE_OURS = "graph = tilewave.load_model('mnist_cnn')"
USE_THEIRS = f"""
model = onnx.load({str(ROOT / "models/mnist_cnn.onnx")!r})
onnx.checker.check_model(model)
onnx.shape_inference.infer_shapes(model)
"""
USE_BOTH = "assert tilewave.load_model(model).nodes == graph.nodes"


@pytest.mark.parametrize("modules", [("onnx", "tilewave"), ("tilewave", "onnx")])
@pytest.mark.parametrize("first", [USE_OURS, USE_THEIRS])
def test_both_work_in_either_order(modules, first):
    second = USE_THEIRS if first is USE_OURS else USE_OURS
    script = "\n".join([*(f"import {name}" for name in modules), first, second, USE_BOTH])
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


@pytest.mark.parametrize("modules", [("onnxruntime", "tilewave"), ("tilewave", "onnxruntime")])
def test_onnx_runtime_works_beside_ours(modules):
    use = f"onnxruntime.InferenceSession({str(ROOT / 'models/mnist_cnn.onnx')!r})"
    script = "\n".join([*(f"import {name}" for name in modules), use, USE_OURS])
    subprocess.run([sys.executable, "-c", script], check=True)
