"""From a template to a page: numbers, pictures and the file."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tilewave._files import PathName, path_text, write_aside

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))


def quantity(value: float, unit: str) -> str:
    """A value with three or four digits and a prefix of its unit: 0.0012 s is 1.2 ms."""
    for factor, prefix in _PREFIXES:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share as per cent; a dash for nothing."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def svg(draw: Callable[[Axes], object], width: float, height: float, salt: str) -> str:
    """What `draw` draws into axes of this size in inches, as an SVG element.

    `salt` makes the names inside differ from those of the page's other pictures. The same picture
    gives the same bytes.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    draw(figure.subplots())
    file = io.StringIO()
    with rc_context({"svg.hashsalt": salt}):
        figure.savefig(
            file, format="svg", bbox_inches="tight",
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )  # fmt: skip
    text = file.getvalue()
    return text[text.index("<svg") :]


def write_page(path: PathName, template: str, content: Mapping[str, object]) -> None:
    """Fills in a template of this folder and writes the page, whole or not at all."""
    name = path_text(path, "path")
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("a report needs Jinja2: pip install 'tilewave[report]'") from error
    environment = Environment(
        loader=PackageLoader("tilewave.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["quantity"] = quantity
    environment.filters["percent"] = percent
    write_aside(name, environment.get_template(template).render(content))
