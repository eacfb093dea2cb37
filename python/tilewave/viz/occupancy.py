"""How full the unified buffer and the weight FIFO are over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from tilewave.trace import Trace
from tilewave.viz._style import PALETTE, axes_or_new, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KIB = 1024


def occupancy(
    trace: Trace,
    *,
    buffer: Literal["unified_buffer", "weight_fifo"] = "unified_buffer",
    first: int = 0,
    end: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws how much of a buffer is in use over time.

    Parameters
    ----------
    trace : Trace
        Of a run: ``result.trace``.
    buffer : {"unified_buffer", "weight_fifo"}
        In KiB, and in tiles.
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
        If there is no such buffer, or there are no cycles from `first` to `end`.
    ImportError
        If Matplotlib is not installed.
    """
    if not isinstance(trace, Trace):
        raise TypeError(f"trace: expected a Trace, got {type(trace).__name__}")
    if buffer not in ("unified_buffer", "weight_fifo"):
        raise ValueError(f"buffer: expected 'unified_buffer' or 'weight_fifo', got {buffer!r}")
    last = trace.cycles if end is None else min(end, trace.cycles)
    if not 0 <= first < last:
        raise ValueError(f"expected cycles from 0 to {trace.cycles}, got {first} to {end}")
    steps = trace.unified_buffer if buffer == "unified_buffer" else trace.weight_fifo
    # What holds in the first cycle may have been so from before.
    begin = int(np.searchsorted(steps.cycle, first, "right"))
    inside = slice(begin, int(np.searchsorted(steps.cycle, last)))
    before = steps.value[begin - 1] if begin > 0 else 0
    cycle = np.concatenate(([first], steps.cycle[inside], [last]))
    value = np.concatenate(([before], steps.value[inside])) / (
        _KIB if buffer == "unified_buffer" else 1
    )
    value = np.append(value, value[-1])
    ax = axes_or_new(ax, 10.0, 2.4)
    ax.fill_between(cycle, value, step="post", color=PALETTE[4], linewidth=0)
    ax.plot(cycle, value, drawstyle="steps-post", color=PALETTE[0], linewidth=0.8)
    ax.set_xlim(first, last)
    ax.set_ylim(0, max(float(value.max()), 1.0) * 1.08)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,.4g}")
    ax.set_xlabel("cycle")
    name, unit = (
        ("unified buffer", "KiB") if buffer == "unified_buffer" else ("weight FIFO", "tiles")
    )
    ax.set_ylabel(f"{name} [{unit}]")
    plain(ax)
    return ax
