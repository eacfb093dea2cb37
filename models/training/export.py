"""The trained network as an ONNX file, and the checks of that file."""

import numpy as np
import onnx
import onnxruntime
from network import build_reference
from onnx import TensorProto, helper, numpy_helper

LAYERS = ("conv1", "conv2", "dense1", "dense2")


def trained_weights(model):
    """(kernel, bias) of each layer of LAYERS, by its name, as Keras lays them out."""
    weights = {}
    for name in LAYERS:
        kernel, bias = model.get_layer(name).get_weights()
        weights[name] = kernel, bias
    return weights


def load_weights(path, model):
    """Gives the layers of LAYERS the weights of an ONNX file that onnx_model made."""
    tensors = {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    for name in LAYERS:
        layer = model.get_layer(name)
        kernel = tensors[f"{name}.weight"]
        if kernel.ndim == 4:
            kernel = kernel.transpose(2, 3, 1, 0)
        elif name == "dense1":
            kernel = kernel.reshape(256, 32, 7, 7).transpose(2, 3, 1, 0).reshape(-1, 256)
        else:
            kernel = kernel.T
        layer.kernel.assign(kernel)
        layer.bias.assign(tensors[f"{name}.bias"])


def onnx_tensors(weights):
    """The weights under their ONNX names and layouts: OIHW, and [out, in] for the dense layers."""
    tensors = {}
    for name, (kernel, bias) in weights.items():
        if kernel.ndim == 4:
            kernel = kernel.transpose(3, 2, 0, 1)
        elif name == "dense1":  # its input was flattened from NHWC and comes as NCHW
            kernel = kernel.reshape(7, 7, 32, 256).transpose(3, 2, 0, 1).reshape(256, -1)
        else:
            kernel = kernel.T
        tensors[f"{name}.weight"] = np.ascontiguousarray(kernel, np.float32)
        tensors[f"{name}.bias"] = np.asarray(bias, np.float32)
    return tensors


def onnx_model(weights, name, bounds=None):
    """The network by hand: an image [N, 1, 28, 28] in, probabilities [N, 10] out; no dropout.

    With `bounds`, one per layer, each layer's output is clipped to 0 and its bound instead of by a
    ReLU, the last layer's too.
    """
    tensors = onnx_tensors(weights)
    nodes = []

    def node(operator, name, *parameters, **attributes):
        source = nodes[-1].output[0] if nodes else "image"
        output = "probabilities" if operator == "Softmax" else name
        nodes.append(
            helper.make_node(operator, [source, *parameters], [output], name=name, **attributes)
        )

    def layer(operator, name, **attributes):
        node(operator, name, f"{name}.weight", f"{name}.bias", **attributes)
        at = LAYERS.index(name) + 1
        if bounds:
            tensors["zero"] = np.zeros((), np.float32)
            tensors[f"clip{at}.bound"] = np.float32(bounds[name])
            node("Clip", f"clip{at}", "zero", f"clip{at}.bound")
        elif at < len(LAYERS):
            node("Relu", f"relu{at}")

    for i in "12":
        layer("Conv", "conv" + i, kernel_shape=[2, 2], strides=[1, 1], auto_pad="SAME_UPPER")
        node("MaxPool", "pool" + i, kernel_shape=[2, 2], strides=[2, 2])
    node("Flatten", "flatten", axis=1)
    layer("Gemm", "dense1", transB=1)
    layer("Gemm", "dense2", transB=1)
    node("Softmax", "softmax", axis=1)
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 28, 28])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(np.asarray(array), key) for key, array in tensors.items()],
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
