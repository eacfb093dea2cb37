"""Accuracy against cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewave._optional import import_pandas
from tilewave.viz._style import PALETTE, axes_or_new, plain

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


def pareto_front(
    table: pandas.DataFrame, *, cost: str, value: str = "accuracy"
) -> pandas.DataFrame:
    """The rows that no other row beats: none costs at most as much and is better, or costs less
    and is as good. Cheapest first; of rows that are equal in both, the first.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per design. Rows that lack one of the two numbers are left out.
    cost : str
        Column of which less is better, such as ``"cycles"``.
    value : str
        Column of which more is better.

    Raises
    ------
    TypeError
        If `table` is no DataFrame.
    KeyError
        If there is no such column.
    ImportError
        If pandas is not installed.
    """
    _check(table, cost, value)
    known = table.dropna(subset=[cost, value])
    ordered = known.sort_values([cost, value], ascending=[True, False], kind="stable")
    values = ordered[value].to_numpy(float)
    best_before = np.concatenate(([-np.inf], np.maximum.accumulate(values)[:-1]))
    return ordered[values > best_before]


def pareto(
    table: pandas.DataFrame,
    *,
    cost: str,
    value: str = "accuracy",
    label: str | None = None,
    cost_label: str | None = None,
    value_label: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws designs by cost and value, and the Pareto front through the best of them.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per design.
    cost : str
        Column of which less is better, such as ``"cycles"``.
    value : str
        Column of which more is better.
    label : str, optional
        Column with the name of a design, written beside those on the front.
    cost_label, value_label : str, optional
        What the axes say, with the unit; by default the columns' names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `table` is no DataFrame or `ax` no axes.
    KeyError
        If there is no such column.
    ImportError
        If Matplotlib or pandas is not installed.
    """
    _check(table, cost, value, *([] if label is None else [label]))
    ax = axes_or_new(ax, 7.5, 4.2)
    front = pareto_front(table, cost=cost, value=value)
    ax.plot(
        table[cost], table[value], "o", color="#bbbbbb", markeredgecolor="#666666", label="designs"
    )
    ax.plot(
        front[cost], front[value], "D-", color=PALETTE[0], drawstyle="steps-post",
        label="Pareto front",
    )  # fmt: skip
    if label is not None:
        for x, y, name in zip(front[cost], front[value], front[label]):
            ax.annotate(str(name), (x, y), xytext=(5, -5), textcoords="offset points", va="top")
    ax.set_xlabel(cost.replace("_", " ") if cost_label is None else cost_label)
    ax.set_ylabel(value.replace("_", " ") if value_label is None else value_label)
    ax.grid(True, linewidth=0.4, color="#cccccc")
    ax.margins(x=0.12, y=0.12)
    plain(ax)
    ax.legend(loc="lower right", frameon=False)
    return ax


def _check(table: object, *columns: str) -> None:
    frame = import_pandas("tilewave.viz.pareto").DataFrame
    if not isinstance(table, frame):
        raise TypeError(f"table: expected a DataFrame, got {type(table).__name__}")
    for column in columns:
        if column not in table.columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(map(str, table.columns))}")
