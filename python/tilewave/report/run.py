"""The report of a run."""

from __future__ import annotations

from typing import Any

from tilewave import _core, datasets, viz
from tilewave._files import PathName
from tilewave.chip import Chip
from tilewave.figures import CYCLE_CLASSES, Figures
from tilewave.graph import load_model, model_names
from tilewave.program import Program, compile
from tilewave.quantization import Scheme, quantize
from tilewave.report._page import svg, write_page
from tilewave.result import Result
from tilewave.simulation import simulate
from tilewave.trace import Trace
from tilewave.viz._style import CYCLE_CLASSES as STYLES

# Of the run, its beginning is drawn: how work on one launch passes into the next can be seen there.
_DRAWN_LAUNCHES = 2


def write_report(result: Figures, path: PathName) -> None:
    """Writes a run as one HTML file: summary, layers, where the cycles went, roofline, timeline,
    energy, configuration.

    Parameters
    ----------
    result : Result or Figures
        A run, or what `tilewave.load_result` read. A result file has no trace; its timeline is
        made again where the network ships with tilewave, and only if the cycles come out the same.
    path : str or path
        The file to be written; it needs no network and no other file.

    Raises
    ------
    TypeError
        If `result` is no Result or Figures.
    OSError
        If the file cannot be written.
    ImportError
        If Matplotlib or Jinja2 are not installed.
    """
    if not isinstance(result, Figures):
        raise TypeError(f"result: expected a Result or Figures, got {type(result).__name__}")
    report = result.to_dict()
    trace, no_trace = _trace_of(result)
    pictures = {
        "cycles": svg(lambda ax: viz.cycles(result, ax=ax), 8, 3.2, "cycles"),
        "roofline": svg(lambda ax: viz.roofline(result, ax=ax), 8, 4.2, "roofline"),
    }
    if trace is not None:
        shown = trace
        pictures["timeline"] = svg(lambda ax: viz.timeline(shown, ax=ax), 9, 3.2, "timeline")
        pictures["buffer"] = svg(lambda ax: viz.occupancy(shown, ax=ax), 9, 1.6, "buffer")
    content = {
        "report": report,
        "chip": result.chip,
        "classes": _classes(result),
        "layers": [_layer(layer, result) for layer in result.layer_records],
        "energy": {k: v for k, v in result.energy_joules.items() if k != "total"},
        "pictures": pictures,
        "no_trace": no_trace,
        "drawn_launches": min(_DRAWN_LAUNCHES, result.launches),
    }
    write_page(path, "run.html", content)


def _classes(result: Figures) -> list[dict[str, Any]]:
    return [
        {
            "name": name.replace("_", " ").replace("raw", "RAW"),
            "color": STYLES["active_useful" if name == "active" else name].color,
            "cycles": int(result.counters[name]),
            "share": result.counters[name] / max(result.cycles, 1),
        }
        for name in CYCLE_CLASSES
    ]


def _layer(layer: dict[str, Any], result: Figures) -> dict[str, Any]:
    counters = layer["counters"]
    mostly = max(CYCLE_CLASSES, key=lambda name: counters[name])
    return {
        **layer,
        "share": layer["cycles"] / max(result.cycles, 1),
        "mostly": mostly.replace("_", " ").replace("raw", "RAW"),
        "mostly_share": counters[mostly] / max(layer["cycles"], 1),
    }


def _trace_of(result: Figures) -> tuple[Trace | None, str]:
    """The trace of the first launches, or why there is none."""
    if isinstance(result, Result):
        return _first_launches(result.program, result.launches), ""
    try:
        program = _program_again(result)
    except (KeyError, TypeError, ValueError, OSError) as error:
        return None, f"The program could not be made again: {error}."
    if program is None:
        return None, f"{result.model!r} is no network that ships with tilewave."
    if simulate(program, launches=result.launches).cycles != result.cycles:
        return None, "The program, made again, takes other cycles: the file is of another version."
    return _first_launches(program, result.launches), ""


def _program_again(result: Figures) -> Program | None:
    report = result.to_dict()
    if report["model"] not in model_names() or report["scheme"] is None:
        return None
    scheme = Scheme(**{k: v for k, v in report["scheme"].items() if v is not None})
    data = datasets.load(report["data"])
    quantized = quantize(load_model(report["model"]), data.calibration, scheme)
    return compile(quantized, Chip.from_yaml(result.chip.to_yaml()), report["batch"])


def _first_launches(program: Program, launches: int) -> Trace:
    """Later launches change nothing of what those before them do."""
    first = min(launches, _DRAWN_LAUNCHES)
    run = _core.simulate(program._program, None, None, "", first, "timeline", None, 1, True)
    return Trace(run, program, first)
