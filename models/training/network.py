"""The MNIST network in Keras, with layers that train fast on a CPU."""

import jax
import jax.numpy as jnp
import keras
from keras import layers, ops


@jax.custom_vjp
def max_of_four(a, b, c, d):
    """Elementwise maximum; the gradient goes to the first of the inputs that reach it."""
    return jnp.maximum(jnp.maximum(a, b), jnp.maximum(c, d))


def max_of_four_forward(*inputs):
    output = max_of_four(*inputs)
    return output, (output, inputs)


def max_of_four_backward(saved, gradient):
    output, inputs = saved
    free = jnp.ones(output.shape, bool)
    gradients = []
    for value in inputs:
        wins = free & (value == output)
        gradients.append(jnp.where(wins, gradient, 0))
        free &= ~wins
    return tuple(gradients)


max_of_four.defvjp(max_of_four_forward, max_of_four_backward)


class ConvPool(layers.Layer):
    """Conv2D(filters, 2, "same"), ReLU and MaxPooling2D(2) in one: equal, and fast on a CPU.

    The convolution is one matrix product for each of the four positions in a pooling window, and
    the ReLU, which commutes with the maximum, is applied after it. A quantized layer has its own
    `weights_used` and `activate`.
    """

    def __init__(self, filters, **kwargs):
        super().__init__(**kwargs)
        self.filters = filters

    def build(self, shape):
        self.kernel = self.add_weight(
            shape=(2, 2, shape[-1], self.filters), initializer="glorot_uniform", name="kernel"
        )
        self.bias = self.add_weight(shape=(self.filters,), initializer="zeros", name="bias")

    def weights_used(self):
        return self.kernel

    def activate(self, x):
        return ops.relu(x)

    def call(self, x):
        _, height, width, channels = x.shape
        x = ops.pad(x, ((0, 0), (0, 1), (0, 1), (0, 0)))
        kernel = ops.reshape(self.weights_used(), (4 * channels, self.filters))

        def convolve(row, column):
            taps = [
                x[:, i : i + height - 1 : 2, j : j + width - 1 : 2]
                for i in (row, row + 1)
                for j in (column, column + 1)
            ]
            return ops.reshape(ops.concatenate(taps, axis=-1), (-1, 4 * channels)) @ kernel

        pooled = max_of_four(*(convolve(i, j) for i in (0, 1) for j in (0, 1)))
        return ops.reshape(
            self.activate(pooled + self.bias), (-1, height // 2, width // 2, self.filters)
        )

    def compute_output_shape(self, shape):
        return (shape[0], shape[1] // 2, shape[2] // 2, self.filters)


class HashDropout(layers.Layer):
    """Dropout whose random bits are a hash of the element's index and two random words.

    It costs a few integer operations an element where the counter-based generators cost tens.
    The mixing constants are those of the 32-bit finalizer of MurmurHash3.
    """

    def __init__(self, rate, seed, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.seeds = keras.random.SeedGenerator(seed)

    def call(self, x, training=False):
        if not training:
            return x
        words = jnp.asarray(self.seeds.next(), jnp.uint32)
        bits = (jnp.arange(x.size, dtype=jnp.uint32) ^ words[0]) * jnp.uint32(0x9E3779B9) + words[1]
        bits = (bits ^ (bits >> 16)) * jnp.uint32(0x85EBCA6B)
        bits = (bits ^ (bits >> 13)) * jnp.uint32(0xC2B2AE35)
        keep = (bits ^ (bits >> 16)).reshape(x.shape) >= jnp.uint32(self.rate * 2**32)
        return jnp.where(keep, x / (1 - self.rate), 0)

    def compute_output_shape(self, shape):
        return shape


def build_network(seed):
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            ConvPool(64, name="conv1"),
            HashDropout(0.3, seed + 1),
            ConvPool(32, name="conv2"),
            HashDropout(0.3, seed + 2),
            layers.Flatten(),
            layers.Dense(256, activation="relu", name="dense1"),
            HashDropout(0.5, seed + 3),
            layers.Dense(10, activation="softmax", name="dense2"),
        ]
    )


def build_reference():
    """The same network from Keras' own layers, without the dropout that inference leaves out."""
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(64, 2, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 2, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(256, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )
