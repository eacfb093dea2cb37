"""A quantized network as a .tflite file with the same integers, and LiteRT's reference kernels."""

import flatbuffers
import numpy as np
import onnx
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {np.dtype("int8"): schema.TensorType.INT8, np.dtype("int32"): schema.TensorType.INT32}
# The versions from which on there are int8 and a scale per channel.
VERSIONS = {"FULLY_CONNECTED": 12, "CONV_2D": 5, "DEPTHWISE_CONV_2D": 6, "PADV2": 2}


class LiteRtModel:
    """Made from a `tilewave.QuantizedGraph` of int8, whose tensors have LiteRT's order: NHWC.
    Windows and clips, which it does not show, are those of its ONNX file. `dense`: the operator
    for fully connected layers, FULLY_CONNECTED or CONV_2D, whose kernel is then the whole image."""

    def __init__(self, quantized, dense):
        self.dense = dense
        file = onnx.load_from_string(quantized.to_onnx())
        self.onnx_nodes = {node.name: node for node in file.graph.node}
        self.onnx_constants = {
            tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in file.graph.initializer
        }
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators = [], []
        self.codes, self.buffers = [], [schema.BufferT()]
        self.nodes = {node.name: node for node in quantized.nodes}
        self.values = {}
        for node in quantized.nodes:
            self.values[node.name] = self.write(node)
        self.graph.inputs = [self.values[quantized.nodes[0].name]]
        self.graph.outputs = [self.values[quantized.nodes[-1].name]]

    def bytes(self):
        model = schema.ModelT()
        model.version, model.subgraphs = 3, [self.graph]
        model.operatorCodes, model.buffers = self.codes, self.buffers
        builder = flatbuffers.Builder()
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def tensor(self, shape, dtype, scale=None, zero_point=0, axis=0):
        made = schema.TensorT()
        made.name, made.shape, made.type = f"t{len(self.graph.tensors)}", shape, TYPES[dtype]
        if scale is not None:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale = np.atleast_1d(scale).astype(np.float32).tolist()
            made.quantization.zeroPoint = [zero_point] * np.size(scale)
            made.quantization.quantizedDimension = axis
        self.graph.tensors.append(made)
        return len(self.graph.tensors) - 1

    def activation(self, node, shape):
        return self.tensor([1, *shape], np.dtype("int8"), node.scale, node.zero_point)

    def constant(self, values, scale=None, zero_point=0, axis=0):
        index = self.tensor(list(values.shape), values.dtype, scale, zero_point, axis)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(values.tobytes(), np.uint8)
        self.graph.tensors[index].buffer = len(self.buffers)
        self.buffers.append(buffer)
        return index

    def operator(self, name, inputs, output, options=None, **fields):
        code = schema.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
        code.version = VERSIONS.get(name, 2)
        operator = schema.OperatorT()
        operator.inputs, operator.outputs = inputs, [output]
        operator.opcodeIndex = len(self.codes)
        if options is not None:
            operator.builtinOptions = getattr(schema, f"{options}T")()
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            for field, value in fields.items():
                assert hasattr(operator.builtinOptions, field)
                setattr(operator.builtinOptions, field, value)
        self.codes.append(code)
        self.graph.operators.append(operator)
        return output

    def write(self, node):
        inputs = [self.values[name] for name in node.inputs]
        if node.operation == "Flatten":
            return inputs[0]  # FULLY_CONNECTED takes any shape
        output = self.activation(node, node.shape)
        if node.operation == "Input":
            return output
        clip = {"fusedActivationFunction": self.clip(node)}
        if node.operation == "Add":
            return self.operator("ADD", inputs, output, "AddOptions", **clip)
        if node.operation == "Gemm" and self.dense == "CONV_2D":
            shape = self.graph.tensors[inputs[0]].shape[1:]
            operands = [inputs[0], *self.weights(node, node.weight.reshape(-1, *shape))]
            options = clip | {"padding": schema.Padding.VALID, "strideH": 1, "strideW": 1}
            return self.operator("CONV_2D", operands, output, "Conv2DOptions", **options)
        if node.operation == "Gemm":
            self.graph.tensors[output].shape = [1, node.shape[2]]
            operands = [inputs[0], *self.weights(node, node.weight)]
            return self.operator(
                "FULLY_CONNECTED", operands, output, "FullyConnectedOptions", **clip
            )
        return self.window(node, inputs[0], output, clip)

    def window(self, node, input, output, clip):
        attributes = {
            attribute.name: onnx.helper.get_attribute_value(attribute)
            for attribute in self.onnx_nodes[f"{node.name}_real"].attribute
        }
        strides = dict(zip(("strideH", "strideW"), attributes["strides"]))
        window = clip | strides | {"padding": schema.Padding.VALID}
        from_node = self.nodes[node.inputs[0]]
        pads = attributes["pads"]
        if any(pads):
            average = node.operation == "AveragePool"
            assert not average or attributes["count_include_pad"], "LiteRT pads so only for SAME"
            value = -128 if node.operation == "MaxPool" else from_node.zero_point
            input = self.padded(from_node, input, pads, value)
        if node.operation in ("MaxPool", "AveragePool"):
            sizes = dict(zip(("filterHeight", "filterWidth"), attributes["kernel_shape"]))
            name = "MAX_POOL_2D" if node.operation == "MaxPool" else "AVERAGE_POOL_2D"
            return self.operator(name, [input], output, "Pool2DOptions", **window, **sizes)
        dilations = attributes["dilations"]
        window |= dict(zip(("dilationHFactor", "dilationWFactor"), dilations))
        channels, groups = from_node.shape[2], attributes["group"]
        if groups == channels > 1:
            multiplier = node.shape[2] // channels
            weights = self.weights(node, np.moveaxis(node.weight, 0, 3).reshape(
                1, *node.weight.shape[1:3], -1), axis=3)  # fmt: skip
            return self.operator("DEPTHWISE_CONV_2D", [input, *weights], output,
                "DepthwiseConv2DOptions", **window, depthMultiplier=multiplier)  # fmt: skip
        operands = [input, *self.weights(node, node.weight)]
        return self.operator("CONV_2D", operands, output, "Conv2DOptions", **window)

    def padded(self, node, input, pads, value):
        top, left, bottom, right = pads
        height, width, channels = node.shape
        output = self.activation(node, (height + top + bottom, width + left + right, channels))
        widths = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32)
        fill = self.constant(np.array([value], np.int8), node.scale, node.zero_point)
        return self.operator("PADV2", [input, self.constant(widths), fill], output, "PadV2Options")

    def weights(self, node, weight, axis=0):
        scales = node.weight_scale
        if (scales == scales[0]).all():
            scales = scales[:1]
        bias_scales = np.float32(self.nodes[node.inputs[0]].scale) * scales
        return [
            self.constant(weight.astype(np.int8), scales, axis=axis),
            self.constant(node.bias, bias_scales),
        ]

    def clip(self, node):
        """LiteRT's activation function for the clip that the ONNX file has before this node's
        QuantizeLinear."""
        clip = self.onnx_nodes.get(f"{node.name}_clipped")
        if clip is None:
            return schema.ActivationFunctionType.NONE
        bounds = [self.onnx_constants[name].item() for name in clip.input[1:]]
        low, high = (round(bound / node.scale) + node.zero_point for bound in bounds)
        assert low == node.zero_point
        if high == 127:
            return schema.ActivationFunctionType.RELU
        assert high == round(6 / node.scale) + node.zero_point
        return schema.ActivationFunctionType.RELU6


def run(model, integers, batch=1000):
    """int8 [n, outputs] in NHWC order, from int8 [n, height, width, channels]."""
    interpreter = Interpreter(
        model_content=model.bytes(), experimental_op_resolver_type=OpResolverType.BUILTIN_REF
    )
    source = interpreter.get_input_details()[0]["index"]
    parts = []
    for first in range(0, len(integers), batch):
        part = integers[first : first + batch]
        interpreter.resize_tensor_input(source, part.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(source, part)
        interpreter.invoke()
        made = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        parts.append(made.reshape(len(part), -1))
    return np.concatenate(parts)
