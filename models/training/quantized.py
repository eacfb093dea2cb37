"""The network with few-bit weights and activations in its forward pass.

Rounding counts as the identity where gradients are concerned (the straight-through estimator). The
bounds of weights, one per output channel, and of activations, one per layer, are learnt: where a
value is inside, a bound's gradient is that of its rounding error, as in LSQ (Esser et al.,
arXiv:1902.08153); where it is outside, the value's whole gradient, as in PACT (Choi et al.,
arXiv:1805.06085). Bounds are kept as logarithms, so that an optimizer's step is relative.

What tilewave's quantizer makes of the exported network is this network: layer by layer, a
symmetric grid of weights up to each channel's largest magnitude and 2^bits values from 0 up to the
bound that clips the activations.
"""

import jax
import jax.numpy as jnp
import keras
import numpy as np
from export import LAYERS, load_weights
from keras import layers
from network import ConvPool, build_network

WEIGHT_GRID = (-7, 7)  # symmetric, 4 bits
ACTIVATION_GRID = (0, 15)  # 4 bits, with the zero point at the lowest value


def rounded(x):
    """Half to even; its gradient is that of x."""
    return jax.lax.stop_gradient(jnp.round(x)) + (x - jax.lax.stop_gradient(x))


def to_grid(x, bound, grid):
    """The nearest of the values bound * i / grid[1], i from grid[0] to grid[1]."""
    scale = bound / grid[1]
    return rounded(jnp.clip(x / scale, *grid)) * scale


def best_bound(values, grid):
    """The bound, over the last axis, with the least squared error of the values on the grid."""
    values = np.moveaxis(np.asarray(values), -1, 0).reshape(values.shape[-1], -1)
    largest = np.abs(values).max(axis=1, keepdims=True)
    bounds = [largest * share for share in np.linspace(0.3, 1, 36, dtype=np.float32)]
    errors = [np.square(to_grid(values, b, grid) - values).mean(axis=1) for b in bounds]
    return np.take_along_axis(np.hstack(bounds), np.argmin(errors, axis=0)[:, None], axis=1)[:, 0]


class Quantized:
    """What the layers below share: bounds, and kernel and output on their grids."""

    def add_bounds(self, channels):
        self.log_weight_bound = self.add_weight(
            shape=(channels,), initializer="zeros", name="log_weight_bound"
        )
        self.log_bound = self.add_weight(shape=(), initializer="zeros", name="log_bound")

    def set_bounds(self, outputs):
        """To the best ones for the kernel and for these outputs."""
        self.log_weight_bound.assign(np.log(best_bound(self.kernel.value, WEIGHT_GRID)))
        outputs = np.maximum(outputs, 0).reshape(-1, 1)
        self.log_bound.assign(np.log(best_bound(outputs, ACTIVATION_GRID)[0]))

    def weights_used(self):
        kernel = jnp.asarray(self.kernel)
        # Never above the largest magnitude: one weight of each channel is at the end of the grid.
        largest = jnp.max(jnp.abs(kernel), axis=tuple(range(kernel.ndim - 1)))
        bound = jnp.minimum(jnp.exp(jnp.asarray(self.log_weight_bound)), largest)
        return to_grid(kernel, bound, WEIGHT_GRID)

    def bound(self):
        return jnp.exp(jnp.asarray(self.log_bound))

    def activate(self, x):
        return to_grid(x, self.bound(), ACTIVATION_GRID)


class QuantizedConvPool(Quantized, ConvPool):
    def build(self, shape):
        super().build(shape)
        self.add_bounds(self.filters)


class QuantizedDense(Quantized, layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")
        self.add_bounds(self.units)

    def call(self, x):
        return self.activate(x @ self.weights_used() + self.bias)


class PixelsOnGrid(layers.Layer):
    def call(self, x):
        return to_grid(x, 1.0, ACTIVATION_GRID)


def build_quantized(path, images):
    """The network of an ONNX file, quantized with the best bounds for these images."""
    network = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            PixelsOnGrid(),
            QuantizedConvPool(64, name="conv1"),
            QuantizedConvPool(32, name="conv2"),
            layers.Flatten(),
            QuantizedDense(256, name="dense1"),
            QuantizedDense(10, name="dense2"),
            layers.Softmax(),
        ]
    )
    load_weights(path, network)
    trained = build_network(seed=0)
    load_weights(path, trained)
    trained.get_layer("dense2").activation = keras.activations.linear
    for name in LAYERS:
        part = keras.Model(trained.inputs, trained.get_layer(name).output)
        network.get_layer(name).set_bounds(part.predict(images, verbose=0))
    return network


def grid_weights(network):
    """(kernel, bias) of each layer; the kernel's values on their grid."""
    used = {name: network.get_layer(name) for name in LAYERS}
    return {
        name: (np.asarray(layer.weights_used()), np.asarray(layer.bias.value))
        for name, layer in used.items()
    }


def bounds(network):
    return {name: float(network.get_layer(name).bound()) for name in LAYERS}
