"""Where the cycles went, as stacked bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tilewave.figures import Figures
from tilewave.viz._style import (
    CYCLE_CLASSES,
    PALETTE,
    CycleClass,
    axes_or_new,
    legend_beside,
    plain,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Part = tuple[CycleClass, npt.NDArray[np.float64]]


def _by_class(counters: Sequence[Mapping[str, float]]) -> list[_Part]:
    """The classes that occur, with one value for each of the counters."""
    parts = []
    for name, style in CYCLE_CLASSES.items():
        values = np.array([float(c[name]) for c in counters])
        if values.any():
            parts.append((style, values))
    return parts


def _stack(ax: Axes, names: Sequence[str], parts: Sequence[_Part]) -> None:
    """A horizontal bar per name, from top to bottom."""
    rows = np.arange(len(names))
    left = np.zeros(len(names))
    for style, values in parts:
        ax.barh(
            rows, values, 0.7, left, label=style.label, color=style.color, hatch=style.hatch,
            edgecolor="#444444", linewidth=0.4,
        )  # fmt: skip
        left += values
    ax.set_yticks(rows, names)
    ax.invert_yaxis()
    ax.set_xlim(0, max(float(left.max(initial=0.0)), 1e-12) * 1.02)
    plain(ax)
    legend_beside(ax)


def cycles(result: Figures, *, share: bool = False, ax: Axes | None = None) -> Axes:
    """Draws where each layer's cycles went: a bar per layer, split by class.

    Parameters
    ----------
    result : Result or Figures
        Of a run with layers, as a compiled network has them.
    share : bool
        Whether bars are per cent of the layer's cycles; otherwise they are cycles.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `result` is no Result or `ax` no axes.
    ImportError
        If Matplotlib is not installed.

    Notes
    -----
    Classes are those of docs/timing.md, *active* split into the share of multipliers that worked
    for the network and the rest. Those that do not occur are left out of the legend.
    """
    _check(result)
    layers = result.layer_records
    ax = axes_or_new(ax, 9.0, 1.4 + 0.42 * max(len(layers), 4))
    parts = _by_class([layer["counters"] for layer in layers])
    totals = np.array([float(max(layer["cycles"], 1)) for layer in layers])
    scale = totals / 100 if share else np.ones(len(layers))
    _stack(ax, [layer["name"] for layer in layers], [(s, v / scale) for s, v in parts])
    ax.set_xlabel("share of the layer's cycles [%]" if share else "cycles")
    if not share:
        ax.xaxis.set_major_formatter("{x:,.0f}")
    chip = result.chip
    ax.set_title(f"{result.model} on {chip.name}, {chip.rows} x {chip.cols}", loc="left")
    return ax


def compare(
    results: Mapping[str, Figures],
    *,
    by: Literal["class", "layer"] = "class",
    ax: Axes | None = None,
) -> Axes:
    """Draws the simulated time of several runs: a bar each, split by class or by layer.

    Parameters
    ----------
    results : mapping of str to Result or Figures
        By the name that is written beside the bar. The same number of images each, or the bars
        mean little.
    by : {"class", "layer"}
        What the bars are split into.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If a value is no Result or `ax` no axes.
    ValueError
        If there is no result, or `by` is neither.
    ImportError
        If Matplotlib is not installed.
    """
    if by not in ("class", "layer"):
        raise ValueError(f"by: expected 'class' or 'layer', got {by!r}")
    if not results:
        raise ValueError("results: expected at least one")
    for result in results.values():
        _check(result)
    runs = list(results.values())
    ax = axes_or_new(ax, 9.0, 1.4 + 0.42 * max(len(runs), 4))
    milliseconds = np.array([1e3 * run.seconds / max(run.cycles, 1) for run in runs])
    if by == "class":
        parts = _by_class([run.counters for run in runs])
    else:
        parts = _by_layer(runs)
    _stack(ax, list(results), [(style, values * milliseconds) for style, values in parts])
    ax.set_xlabel("simulated time [ms]")
    return ax


def _by_layer(runs: Sequence[Figures]) -> list[_Part]:
    cycles_of = [{r["name"]: float(r["cycles"]) for r in run.layer_records} for run in runs]
    names = list(dict.fromkeys(name for layers in cycles_of for name in layers))
    hatches = ("", "///", "...", "xxx")
    return [
        (
            CycleClass(name, PALETTE[i % len(PALETTE)], hatches[i // len(PALETTE) % len(hatches)]),
            np.array([layers.get(name, 0.0) for layers in cycles_of]),
        )
        for i, name in enumerate(names)
    ]


def _check(result: object) -> None:
    if not isinstance(result, Figures):
        raise TypeError(f"result: expected a Result, got {type(result).__name__}")
