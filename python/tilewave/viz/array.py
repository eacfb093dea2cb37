"""The array from the inside: which processing element holds what, in which cycle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tilewave.viz._style import INK, NO_MATPLOTLIB, PALE, PALETTE, axes_or_new

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Frames of the strip in one line, and the most PEs that a reader can make out.
_FRAMES_PER_LINE = 6
_MOST_ROWS = 16
_REGISTERS = ("activation", "weight", "shadow", "psum")


@dataclass(frozen=True, eq=False)
class ArrayRegisters:
    """Registers of a weight-stationary array's processing elements (PEs) at the end of each cycle.

    Cycle 0 is the one in which the first weights enter.

    Attributes
    ----------
    activation, weight, shadow, psum : ndarray of int64
        [cycles, rows, columns]. ``weight`` is what the PE multiplies with, ``shadow`` what is
        shifted in behind it.
    activation_row : ndarray of int64
        [cycles, rows, columns], the row of activations that is in the PE, -1 for none.
    weight_row : ndarray of int64
        [cycles, rows, columns], the row of the tile that ``shadow`` is from, -1 for none.
    sums : ndarray of int64
        [B, columns], what left the array at the bottom.
    first_row : int
        The cycle in which the first row of activations enters.
    """

    activation: npt.NDArray[np.int64]
    weight: npt.NDArray[np.int64]
    shadow: npt.NDArray[np.int64]
    psum: npt.NDArray[np.int64]
    activation_row: npt.NDArray[np.int64]
    weight_row: npt.NDArray[np.int64]
    sums: npt.NDArray[np.int64]
    first_row: int

    def __len__(self) -> int:
        return len(self.psum)

    def __repr__(self) -> str:
        cycles, rows, columns = self.psum.shape
        return f"ArrayRegisters({rows} x {columns} processing elements, {cycles} cycles)"


def array_registers(activations: npt.ArrayLike, weights: npt.ArrayLike) -> ArrayRegisters:
    """Follows a product of matrices through an array of the weights' size, cycle by cycle.

    Parameters
    ----------
    activations : array_like of int
        [B, R], B rows of activations, B at least 1.
    weights : array_like of int
        [R, C], the tile; R and C from 1 to 64.

    Returns
    -------
    ArrayRegisters
        Of ``R + B + R + C - 2`` cycles, the closed form of docs/timing.md for one tile, cold. Its
        ``sums`` are the product.

    Raises
    ------
    TypeError
        If an element is no integer.
    ValueError
        If the shapes do not fit.

    Notes
    -----
    Computed from the schedule in docs/timing.md, not simulated: one tile, one row of weights per
    cycle, double-buffered weights, one pass, the activations right behind the weights. A test holds
    it against the registers of the SystemC model, which ``tilewave exec --vcd`` writes.
    """
    x = _integers("activations", activations)
    w = _integers("weights", weights)
    (batch, depth), (rows, columns) = x.shape, w.shape
    if depth != rows:
        raise ValueError(f"activations: expected {rows} columns, as many as weights has rows")
    if max(rows, columns) > 64 or min(batch, rows, columns) < 1:
        raise ValueError(f"expected 1 to 64 rows and columns and 1 row, got {x.shape}, {w.shape}")
    cycles = rows + batch + rows + columns - 2
    clock, row, column = np.ogrid[:cycles, :rows, :columns]
    # What enters at the upper left corner is at (row, column) row + column cycles later.
    age = clock - row - column
    zero = np.zeros((cycles, rows, columns), np.int64)

    # The chain down a column begins with the tile's last row, and stops when that is at the bottom.
    has_shadow = age >= 0
    weight_row = np.where(has_shadow, np.maximum(rows - 1 - age, row), -1)
    shadow = np.where(has_shadow, w[weight_row, column], zero)

    entered = age - rows
    inside = (entered >= 0) & (entered < batch)
    activation_row = np.where(inside, entered, -1)
    activation = np.where(inside, x[activation_row, row], zero)
    weight = np.where(entered >= 0, w[row, column], zero)
    partial = np.cumsum(x[:, :, np.newaxis] * w, axis=1)
    psum = np.where(inside, partial[activation_row, row, column], zero)

    leaves = rows + np.arange(batch)[:, np.newaxis] + rows - 1 + np.arange(columns)
    sums = psum[leaves, rows - 1, np.arange(columns)]
    return ArrayRegisters(activation, weight, shadow, psum, activation_row, weight_row, sums, rows)


def wavefront(
    registers: ArrayRegisters,
    *,
    show: Literal["activation", "weight", "shadow", "psum"] = "activation",
    cycles: Iterable[int] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws a strip of frames: what each processing element holds at the end of some cycles.

    Parameters
    ----------
    registers : ArrayRegisters
        At most 16 rows and 16 columns.
    show : {"activation", "weight", "shadow", "psum"}
        The register whose values are written. Colours tell the row of activations that is in the
        PE, with ``"shadow"`` the row of the tile; grey is nothing yet.
    cycles : iterable of int, optional
        Which frames; by default all from the first row of activations on, with ``"shadow"`` those
        until the tile is in place.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `registers` are none or `ax` no axes.
    ValueError
        If there is no such register or cycle, or the array is too large to be read.
    ImportError
        If Matplotlib is not installed.
    """
    shown = _frames(registers, show, cycles)
    _, rows, columns = registers.psum.shape
    per_line = min(len(shown), _FRAMES_PER_LINE)
    lines = -(-len(shown) // per_line)
    width, height = columns + 1.0, rows + 1.4
    inch = 0.38
    ax = axes_or_new(ax, max(4.0, inch * width * per_line), inch * height * lines + 0.3)
    for i, cycle in enumerate(shown):
        _frame(ax, registers, show, cycle, i % per_line * width, i // per_line * height)
    ax.set_xlim(-0.5, per_line * width - 0.5)
    ax.set_ylim(lines * height - 0.3, -1.1)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def wavefront_animation(
    registers: ArrayRegisters,
    *,
    show: Literal["activation", "weight", "shadow", "psum"] = "activation",
    cycles: Iterable[int] | None = None,
    milliseconds: int = 500,
    ax: Axes | None = None,
) -> FuncAnimation:
    """The frames of `wavefront` one after the other, as an animation.

    Parameters
    ----------
    registers, show, cycles
        As `wavefront` takes them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a figure that only the animation shows.
    milliseconds : int
        How long a frame stays.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        ``to_jshtml()`` shows it in a notebook, ``save("wavefront.gif")`` writes it.

    Raises
    ------
    TypeError, ValueError, ImportError
        As `wavefront`; ValueError also if `milliseconds` is not above 0.
    """
    shown = _frames(registers, show, cycles)
    if milliseconds <= 0:
        raise ValueError(f"milliseconds: expected more than 0, got {milliseconds}")
    _, rows, columns = registers.psum.shape
    try:
        from matplotlib.animation import FuncAnimation
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(NO_MATPLOTLIB) from error
    if ax is None:
        ax = Figure(figsize=(max(3.0, 0.5 * columns), 0.5 * (rows + 1.4))).add_subplot()
    ax = axes_or_new(ax)

    def draw(cycle: int) -> list[Artist]:
        ax.clear()
        _frame(ax, registers, show, cycle, 0, 0)
        ax.set_xlim(-0.5, columns + 0.5)
        ax.set_ylim(rows + 0.5, -1.1)
        ax.set_aspect("equal")
        ax.set_axis_off()
        return []

    draw(shown[0])
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    return FuncAnimation(figure, draw, frames=shown, interval=milliseconds, blit=False)


def _frames(registers: ArrayRegisters, show: str, cycles: Iterable[int] | None) -> list[int]:
    """Which cycles are drawn."""
    if not isinstance(registers, ArrayRegisters):
        raise TypeError(f"registers: expected ArrayRegisters, got {type(registers).__name__}")
    if show not in _REGISTERS:
        raise ValueError(f"show: expected one of {', '.join(_REGISTERS)}, got {show!r}")
    total, rows, columns = registers.psum.shape
    if max(rows, columns) > _MOST_ROWS:
        raise ValueError(f"expected at most {_MOST_ROWS} rows and columns, got {rows} x {columns}")
    frames = range(rows + columns - 1) if show == "shadow" else range(registers.first_row, total)
    shown = list(frames if cycles is None else cycles)
    if not shown or min(shown) < 0 or max(shown) >= total:
        raise ValueError(f"cycles: expected some from 0 to {total - 1}, got {shown}")
    return shown


def _frame(ax: Axes, registers: ArrayRegisters, show: str, cycle: int, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    values = getattr(registers, show)[cycle]
    owner = (registers.weight_row if show == "shadow" else registers.activation_row)[cycle]
    rows, columns = values.shape
    ax.text(x, y - 0.25, f"cycle {cycle}", fontsize=9, color=INK)
    for row in range(rows):
        for column in range(columns):
            index = int(owner[row, column])
            color = PALE if index < 0 else PALETTE[index % len(PALETTE)]
            ax.add_patch(Rectangle((x + column, y + row), 1, 1, facecolor=color, edgecolor="white"))
            is_held = index >= 0 or (show == "weight" and cycle >= registers.first_row)
            if not is_held or (show == "weight" and cycle - row - column < registers.first_row):
                continue
            ax.text(
                x + column + 0.5, y + row + 0.53, str(values[row, column]), fontsize=8,
                ha="center", va="center", color=_ink_on(color),
            )  # fmt: skip


def _ink_on(color: str) -> str:
    """Black or white, whichever can be read on the colour."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else "white"


def _integers(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"{name}: expected integers, got {array.dtype}")
    if array.ndim != 2:
        raise ValueError(f"{name}: expected two dimensions, got shape {array.shape}")
    return array.astype(np.int64)
