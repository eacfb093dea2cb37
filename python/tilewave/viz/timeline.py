"""Unit occupancy over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewave.trace import Trace
from tilewave.viz._style import INK, PALETTE, axes_or_new, legend_beside, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Gaps below this share of the picture's width cannot be seen in it.
_FINEST = 1 / 2000


def timeline(
    trace: Trace, *, first: int = 0, end: int | None = None, ax: Axes | None = None
) -> Axes:
    """Draws when each unit was taken, coloured by the layer that it worked for.

    Parameters
    ----------
    trace : Trace
        Of a run: ``result.trace``.
    first, end : int
        The cycles [first, end) are shown; by default all.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `trace` is no Trace or `ax` no axes.
    ValueError
        If there are no cycles from `first` to `end`.
    ImportError
        If Matplotlib is not installed.

    Notes
    -----
    Slices of one layer whose gap is too narrow to be seen are drawn as one. The number at the right
    is the share of the shown cycles in which the unit is taken; it counts every gap.
    """
    if not isinstance(trace, Trace):
        raise TypeError(f"trace: expected a Trace, got {type(trace).__name__}")
    last = trace.cycles if end is None else min(end, trace.cycles)
    if not 0 <= first < last:
        raise ValueError(f"expected cycles from 0 to {trace.cycles}, got {first} to {end}")
    ax = axes_or_new(ax, 10.0, 3.2)
    finest = (last - first) * _FINEST
    for unit, name in enumerate(trace.units):
        shown = (trace.unit == unit) & (trace.end > first) & (trace.start < last)
        start, stop = trace.start[shown].clip(first), trace.end[shown].clip(None, last)
        for layer in np.unique(trace.layer[shown]):
            mine = trace.layer[shown] == layer
            ax.broken_barh(
                _merged(start[mine], stop[mine], finest), (unit - 0.36, 0.72),
                facecolors=_color(int(layer)), edgecolor="none", gid=f"{name}/{layer}",
            )  # fmt: skip
        share = float((stop - start).sum()) / (last - first)
        ax.text(1.005, unit, f"{share:.1%}", transform=ax.get_yaxis_transform(), va="center")
    ax.set_yticks(range(len(trace.units)), [name.replace("_", " ") for name in trace.units])
    ax.set_ylim(len(trace.units) - 0.5, -0.5)
    ax.set_xlim(first, last)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("cycle")
    plain(ax)
    _name_layers(ax, trace)
    return ax


def _merged(
    start: npt.NDArray[np.int64], stop: npt.NDArray[np.int64], finest: float
) -> list[tuple[float, float]]:
    """(start, width) of slices, those with a gap of at most `finest` between them as one."""
    if not len(start):
        return []
    order = np.argsort(start, kind="stable")
    start, stop = start[order], np.maximum.accumulate(stop[order])
    begins = np.flatnonzero(np.concatenate(([True], start[1:] - stop[:-1] > finest)))
    ends = np.concatenate((begins[1:] - 1, [len(stop) - 1]))
    return [(float(a), float(b - a)) for a, b in zip(start[begins], stop[ends])]


def _color(layer: int) -> str:
    return INK if layer < 0 else PALETTE[layer % len(PALETTE)]


def _name_layers(ax: Axes, trace: Trace) -> None:
    for layer, name in enumerate(trace.layer_names[: len(PALETTE)]):
        ax.bar(0, 0, color=_color(layer), label=name)
    if (trace.layer < 0).any():
        ax.bar(0, 0, color=INK, label="(no layer)")
    if len(trace.layer_names) > len(PALETTE):
        ax.bar(0, 0, color="none", label="… colours repeat")
    legend_beside(ax)
    ax.get_legend().set_bbox_to_anchor((1.07, 1.0), transform=ax.transAxes)  # type: ignore[union-attr]
