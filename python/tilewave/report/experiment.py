"""The report of a sweep or a study."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewave import viz
from tilewave._files import PathName, path_text
from tilewave._optional import frame
from tilewave.report._page import svg, write_page

if TYPE_CHECKING:
    import pandas

_NAME = "results.json"
_SIDES = ("rows", "cols")
# More names beside the points of a front would hide it.
_NAMED_POINTS = 12


class _Figure(NamedTuple):
    """A column of the table."""

    key: str
    title: str
    form: str  # of the number, for str.format


_FIGURES = (
    _Figure("accuracy", "accuracy", "{:.2%}"),
    _Figure("agreement_fp32", "as fp32", "{:.2%}"),
    _Figure("cycles", "cycles", "{:,.0f}"),
    _Figure("images_per_second", "images/s", "{:,.0f}"),
    _Figure("utilization", "useful", "{:.1%}"),
    _Figure("bytes.weights", "weight bytes read", "{:,.0f}"),
    _Figure("microjoules_per_image", "µJ per image", "{:.4g}"),
)


class _Picture(NamedTuple):
    """A plot of the points by what they cost and what they are worth."""

    cost: str
    cost_label: str
    value: str
    value_label: str


_PICTURES = (
    _Picture("microseconds_per_image", "simulated time per image [µs]", "accuracy", "accuracy"),
    _Picture("microjoules_per_image", "energy per image [µJ]", "accuracy", "accuracy"),
    _Picture("multipliers", "multipliers", "images_per_second", "images per second"),
    _Picture("microjoules_per_image", "energy per image [µJ]", "images_per_second",
             "images per second"),
)  # fmt: skip


def write_experiment_report(results: PathName, path: PathName) -> None:
    """Writes a sweep or a study as one HTML file: a table that sorts by any column at a click on
    its header, and what the points cost against what they are worth, with the Pareto front.

    Parameters
    ----------
    results : str or path
        The folder that ``tilewave sweep``, ``tilewave study`` or `tilewave.sweep` wrote its results
        into, or the ``results.json`` in it.
    path : str or path
        The file to be written; it needs no network and no other file.

    Raises
    ------
    TypeError
        If an argument is no path.
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no such file.
    OSError
        If the page cannot be written.
    ImportError
        If Matplotlib, pandas or Jinja2 are not installed.
    """
    document = _read(results)
    columns: list[str] = document["columns"]
    points = [_point(point, columns) for point in document["points"]]
    table = frame({key: [p[key] for p in points] for key in points[0]}, "a report of experiments")
    pictures, best = _pictures(table)
    content = {
        "version": document["tilewave_version"],
        "columns": columns,
        "figures": [figure for figure in _FIGURES if table[figure.key].notna().any()],
        "points": points,
        "failed": sum(point["failure"] is not None for point in points),
        "pictures": pictures,
        "best": best,
        "first": json.dumps(document["points"][0]["configuration"], indent=2),
    }
    write_page(path, "experiment.html", content)


def is_experiment(results: PathName) -> bool:
    """Whether this is a folder, or a JSON file with points."""
    path = Path(path_text(results, "results"))
    if path.is_dir():
        return True
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "points" in document


def _read(results: PathName) -> dict[str, Any]:
    path = Path(path_text(results, "results"))
    if path.is_dir():
        path = path / _NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is no JSON file ({error})") from error

    def check(is_right: object, what: str) -> None:
        if not is_right:
            raise ValueError(
                f"{path}: {what} (expected the {_NAME} of `tilewave sweep` or `study`)"
            )

    check(isinstance(document, dict), "is no JSON object")
    for key, kind in (("tilewave_version", str), ("columns", list), ("points", list)):
        check(isinstance(document.get(key), kind), f"has no {key!r}")
    columns = document["columns"]
    check(all(isinstance(column, str) for column in columns), "a column is no text")
    check(document["points"], "has no points")
    for i, point in enumerate(document["points"]):
        check(isinstance(point, dict), f"point {i} is no JSON object")
        for key in (*columns, "failure", "configuration"):
            check(key in point, f"point {i} has no {key!r}")
        check(isinstance(point["configuration"], dict), f"point {i} has no configuration")
    return document  # type: ignore[no-any-return]


def _number(value: object) -> float | None:
    """Nothing for what is none, so that no page shows what a file made up."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _point(point: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    """One row: `settings`, `name`, `failure`, and numbers or nothing."""
    rate = _number(point.get("images_per_second"))
    joules = _number(point.get("energy_joules.total"))
    images = _number(point.get("images"))
    array = point["configuration"].get("chip", {})
    array = array.get("array", {}) if isinstance(array, dict) else {}
    sides = [_number(array.get(side)) if isinstance(array, dict) else None for side in _SIDES]
    settings = [(_text(point[column]), _number(point[column])) for column in columns]
    return {
        "settings": settings,
        "name": ", ".join(text for text, _ in settings),
        "failure": None if point["failure"] is None else _text(point["failure"]),
        **{figure.key: _number(point.get(figure.key)) for figure in _FIGURES},
        "microseconds_per_image": 1e6 / rate if rate else None,
        "microjoules_per_image": 1e6 * joules / images if joules is not None and images else None,
        "multipliers": None if None in sides else math.prod(side or 0 for side in sides),
    }


def _pictures(table: pandas.DataFrame) -> tuple[list[str], set[int]]:
    """SVG elements, and the places of the points that are on the front of one of them."""
    has_accuracy = bool(table["accuracy"].notna().any())
    pictures: list[str] = []
    best: set[int] = set()
    for picture in _PICTURES:
        known = table.dropna(subset=[picture.cost, picture.value])
        if (picture.value == "accuracy") != has_accuracy or known[picture.cost].nunique() < 2:
            continue
        front = viz.pareto_front(known, cost=picture.cost, value=picture.value)
        best.update(front.index)
        draw = partial(
            viz.pareto, known, **picture._asdict(),
            label="name" if len(front) <= _NAMED_POINTS else None,
        )  # fmt: skip
        pictures.append(svg(lambda ax, draw=draw: draw(ax=ax), 8, 4.2, picture.cost))  # type: ignore[misc]
    return pictures, best
