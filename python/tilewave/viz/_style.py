"""What the pictures share: axes, colours, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito, "Color Universal Design" (2008).
PALETTE = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
)  # fmt: skip
INK = "#222222"
PALE = "#eeeeee"
NO_MATPLOTLIB = "tilewave.viz needs Matplotlib: pip install 'tilewave[viz]'"


@dataclass(frozen=True)
class CycleClass:
    """How a class of cycles is drawn."""

    label: str
    color: str
    hatch: str = ""


# By counter; together they are all cycles.
CYCLE_CLASSES = {
    "active_useful": CycleClass("active, useful multipliers", "#0072b2"),
    "active_unused": CycleClass("active, unused multipliers", "#a6d4f2"),
    "weight_stall": CycleClass("weight stall", "#d55e00", "///"),
    "weight_shift": CycleClass("weight shift", "#e69f00"),
    "input_stall": CycleClass("input stall", "#f0e442", "..."),
    "raw_stall": CycleClass("RAW stall", "#cc79a7", "\\\\\\"),
    "accumulator_stall": CycleClass("accumulator stall", "#009e73", "xxx"),
    "drain": CycleClass("drain", "#999999"),
    "idle": CycleClass("idle", "#ffffff"),
}


def axes_or_new(ax: Axes | None, width: float = 8.0, height: float = 4.0) -> Axes:
    """The axes, or those of a new figure of this size in inches; ImportError without Matplotlib."""
    try:
        from matplotlib import pyplot
        from matplotlib.axes import Axes
    except ImportError as error:
        raise ImportError(NO_MATPLOTLIB) from error
    if ax is None:
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax: expected Matplotlib axes, got {type(ax).__name__}")
    return ax


def plain(ax: Axes) -> None:
    """Takes off the lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)


def legend_beside(ax: Axes, columns: int = 1) -> None:
    """The legend, to the right of the axes, without what has no label."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, ncols=columns)
