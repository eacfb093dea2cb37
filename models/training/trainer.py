"""Adam on a Keras network, an epoch at a time."""

import time

import jax
import jax.numpy as jnp
import keras
import numpy as np
from data import augment

MICRO_BATCH = 128  # gradients are summed over pieces that stay in the cache; a step sees a batch


class Trainer:
    """Adam on batches of `batch` images, with a warm-up of one epoch and a cosine decay to zero."""

    def __init__(self, model, *, batch, peak_learning_rate, steps_per_epoch, epochs, rng):
        self.model = model
        self.batch = batch
        self.steps_per_epoch = steps_per_epoch
        self.rng = rng
        schedule = keras.optimizers.schedules.CosineDecay(
            peak_learning_rate / 20,
            steps_per_epoch * (epochs - 1),
            warmup_target=peak_learning_rate,
            warmup_steps=steps_per_epoch,
        )
        self.optimizer = keras.optimizers.Adam(schedule)
        self.optimizer.build(model.trainable_variables)
        self.weights = [v.value for v in model.trainable_variables]
        self.moments = [v.value for v in self.optimizer.variables]
        self.gradient = jax.jit(jax.value_and_grad(self._loss))
        self.update = jax.jit(self._update)
        self.infer = jax.jit(self._infer)

    def _random_state(self):
        """Fresh words for each dropout layer: a network has no other untrained variable."""
        return [
            self.rng.integers(2**32, size=v.shape, dtype=np.uint32)
            for v in self.model.non_trainable_variables
        ]

    def _loss(self, weights, state, images, labels):
        probabilities, _ = self.model.stateless_call(weights, state, images, training=True)
        losses = keras.losses.sparse_categorical_crossentropy(labels, probabilities)
        return jnp.sum(losses) / self.batch

    def _update(self, weights, moments, pieces):
        loss, gradients = jax.tree.map(lambda *values: sum(values), *pieces)
        return loss, *self.optimizer.stateless_apply(moments, gradients, weights)

    def _infer(self, weights, images):
        state = [v.value for v in self.model.non_trainable_variables]
        return self.model.stateless_call(weights, state, images, training=False)[0]

    def step(self, images, labels):
        """One update from a batch of images; returns their mean loss."""
        # The pieces do not depend on each other, so that the runtime may overlap them; their sum
        # has a fixed order.
        pieces = []
        for first in range(0, self.batch, MICRO_BATCH):
            piece = slice(first, first + MICRO_BATCH)
            pieces.append(
                self.gradient(self.weights, self._random_state(), images[piece], labels[piece])
            )
        loss, self.weights, self.moments = self.update(self.weights, self.moments, pieces)
        return float(loss)

    def epoch(self, images, labels, maps):
        """One pass over the images, each under a random map; returns the mean loss."""
        batches = self.rng.permutation(len(images))[: self.steps_per_epoch * self.batch]
        batches = batches.reshape(self.steps_per_epoch, self.batch)
        return np.mean([self.step(augment(images[b], self.rng, maps), labels[b]) for b in batches])

    def accuracy(self, images, labels):
        pieces = range(0, len(images), 500)
        predicted = [self.infer(self.weights, images[i : i + 500]) for i in pieces]
        return accuracy_of(np.concatenate(predicted), labels)

    def keep(self):
        """Writes the weights into the model."""
        for variable, value in zip(self.model.trainable_variables, self.weights, strict=True):
            variable.assign(value)


def accuracy_of(probabilities, labels):
    return float(np.mean(np.argmax(probabilities, axis=1) == labels))


def train(model, training, validation, maps, log, *, epochs, batch, seed, peak_learning_rate):
    """Trains the model for some epochs; each (images, labels). A line of the log per epoch."""
    trainer = Trainer(
        model,
        batch=batch,
        peak_learning_rate=peak_learning_rate,
        steps_per_epoch=len(training[0]) // batch,
        epochs=epochs,
        rng=np.random.default_rng(seed),
    )
    for epoch in range(1, epochs + 1):
        start = time.monotonic()
        loss = trainer.epoch(*training, maps)
        log(
            f"epoch {epoch:3d}  loss {loss:.4f}"
            f"  validation accuracy {trainer.accuracy(*validation):.4f}"
            f"  {time.monotonic() - start:.1f} s"
        )
    trainer.keep()
