"""What objects show of themselves in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape

_MOST_ROWS = 40


def cell(value: object) -> str:
    """Numbers with thousands separators, fractions with four digits, anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return escape(str(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """An HTML table; of a long one, the beginning and how much there is."""
    all_rows = list(rows)
    lines = [f"<table><caption>{escape(title)}</caption>"]
    if header:
        lines.append("<tr>" + "".join(f"<th>{escape(name)}</th>" for name in header) + "</tr>")
    for row in all_rows[:_MOST_ROWS]:
        lines.append(
            "<tr>" + "".join(f'<td style="text-align:left">{cell(v)}</td>' for v in row) + "</tr>"
        )
    if len(all_rows) > _MOST_ROWS:
        lines.append(f'<tr><td colspan="99">and {len(all_rows) - _MOST_ROWS:,} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def bar(share: float, width_pixels: int = 160) -> str:
    """A horizontal bar, `share` from 0 to 1."""
    filled = round(max(0.0, min(1.0, share)) * width_pixels)
    return f'<div style="background:#0072b2;height:0.8em;width:{filled}px"></div>'
