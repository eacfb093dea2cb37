"""The trained network as an ONNX file, and the checks of that file."""

import numpy as np
import onnx
import onnxruntime
from network import build_reference
from onnx import TensorProto, helper, numpy_helper


def onnx_weights(model):
    """The weights under their ONNX names and layouts: OIHW, and [out, in] for the dense layers."""
    weights = {}
    for layer in model.layers:
        if not layer.weights:
            continue
        kernel, bias = (np.asarray(value, np.float32) for value in layer.get_weights())
        if kernel.ndim == 4:
            kernel = kernel.transpose(3, 2, 0, 1)
        elif layer.name == "dense1":  # its input was flattened from NHWC and comes as NCHW
            kernel = kernel.reshape(7, 7, 32, 256).transpose(3, 2, 0, 1).reshape(256, -1)
        else:
            kernel = kernel.T
        weights[f"{layer.name}.weight"] = np.ascontiguousarray(kernel)
        weights[f"{layer.name}.bias"] = bias
    return weights


def onnx_model(network):
    """The network by hand: an image [N, 1, 28, 28] in, probabilities [N, 10] out; no dropout."""
    weights = onnx_weights(network)
    nodes = []

    def node(operator, name, **attributes):
        source = nodes[-1].output[0] if nodes else "image"
        parameters = [key for key in (f"{name}.weight", f"{name}.bias") if key in weights]
        output = "probabilities" if operator == "Softmax" else name
        nodes.append(
            helper.make_node(operator, [source, *parameters], [output], name=name, **attributes)
        )

    for i in "12":
        node("Conv", "conv" + i, kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_UPPER")
        node("Relu", "relu" + i)
        node("MaxPool", "pool" + i, kernel_shape=[2, 2], strides=[2, 2])
    node("Flatten", "flatten", axis=1)
    node("Gemm", "dense1", transB=1)
    node("Relu", "relu3")
    node("Gemm", "dense2", transB=1)
    node("Softmax", "softmax", axis=1)
    graph = helper.make_graph(
        nodes,
        "mnist_cnn",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 28, 28])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(graph, opset_imports=[opset], producer_name="tilewave")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def run_onnx(path, images):
    """Probabilities [n, 10] of images [n, 28, 28, 1], by ONNX Runtime."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    images = images.transpose(0, 3, 1, 2)
    pieces = range(0, len(images), 1000)
    return np.concatenate([session.run(None, {"image": images[i : i + 1000]})[0] for i in pieces])


def check_onnx(path, model, images):
    """The file must compute what Keras' own layers compute from the same weights."""
    reference = build_reference()
    reference.set_weights([np.asarray(v.value) for v in model.trainable_variables])
    expected = reference.predict(images, batch_size=500, verbose=0)
    # Probabilities of 1 at most; the orders of summation differ, over 1,568 terms at most.
    np.testing.assert_allclose(run_onnx(path, images), expected, rtol=0, atol=1e-4)
