"""The figures of a run, as its result file has them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from tilewave import _html
from tilewave._files import PathName, path_text, write_aside
from tilewave.chip import Chip

# The classes that partition the cycles, as docs/timing.md orders them.
CYCLE_CLASSES = (
    "active", "weight_stall", "weight_shift", "input_stall", "raw_stall", "accumulator_stall",
    "drain", "idle",
)  # fmt: skip
# What the report and the pictures read.
_NEEDED = (
    "schema_version", "tilewave_version", "chip", "model", "engine", "batch", "images", "launches",
    "accuracy", "cycles", "seconds", "images_per_second", "latency_seconds", "counters", "waiting",
    "bytes", "energy_joules", "macs", "utilization", "tops", "layers",
)  # fmt: skip


class Figures:
    """Cycles, counters and scores of a run, without its outputs. Immutable.

    Made by `load_result` from a file; a `Result` has them too.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._report: dict[str, Any] = json.loads(text)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as the command writes it as JSON. It depends on the machine only under the
        key ``host``."""
        return copy.deepcopy(self._report)

    def save(self, path: PathName) -> None:
        """Writes `to_dict` as a JSON file, as ``tilewave run --json`` does."""
        write_aside(path_text(path, "path"), self._text)

    @property
    def model(self) -> str:
        """The network's name."""
        return str(self._report["model"])

    @property
    def chip(self) -> Chip:
        """The chip that the run was simulated on."""
        return Chip.from_yaml(json.dumps(self._report["chip"]))

    @property
    def launches(self) -> int:
        """How many times the program ran."""
        return int(self._report["launches"])

    @property
    def cycles(self) -> int:
        """Cycles of the chip's clock from the first transfer's start to the last one's end."""
        return int(self._report["cycles"])

    @property
    def seconds(self) -> float:
        """Simulated time, in seconds."""
        return float(self._report["seconds"])

    @property
    def latency_seconds(self) -> float:
        """Simulated time of the first launch, host transfers in and out, in seconds."""
        return float(self._report["latency_seconds"])

    @property
    def images(self) -> int:
        """Images, without those that fill up the last launch."""
        return int(self._report["images"])

    @property
    def images_per_second(self) -> float:
        """Images per second of simulated time."""
        return float(self._report["images_per_second"])

    @property
    def accuracy(self) -> float | None:
        """Share of the images whose class is their label's; None without labels."""
        accuracy: float | None = self._report["accuracy"]
        return accuracy

    @property
    def counters(self) -> dict[str, float]:
        """Cycles by class, as seen from the matrix unit. All but ``active_useful`` and
        ``active_unused``, which divide ``active``, add up to `cycles`."""
        return dict(self._report["counters"])

    @property
    def waiting(self) -> dict[str, int]:
        """Unmet cycles of each condition, whether or not an earlier one was unmet too."""
        return dict(self._report["waiting"])

    @property
    def bytes(self) -> dict[str, int]:
        """Bytes moved: host, weight memory, unified buffer, accumulators."""
        return dict(self._report["bytes"])

    @property
    def energy_joules(self) -> dict[str, float]:
        """Energy by part of the chip, in joules, and their ``total``."""
        return dict(self._report["energy_joules"])

    @property
    def macs(self) -> int:
        """Multiply-accumulates that belong to the network."""
        return int(self._report["macs"])

    @property
    def overflows(self) -> int | None:
        """Additions whose result left the accumulators' width, those of images that fill up the
        last launch included; None if the run was for its cycles alone."""
        overflows: int | None = self._report["overflows"]
        return overflows

    @property
    def utilization(self) -> float:
        """Useful multiply-accumulates against what the array could do in the time, 0 to 1."""
        return float(self._report["utilization"])

    @property
    def tops(self) -> float:
        """Useful 10^12 operations per second; a multiply-accumulate counts as two."""
        return float(self._report["tops"])

    @property
    def layer_records(self) -> list[dict[str, Any]]:
        """The same figures for each layer, as in the JSON; they add up to the run's."""
        records: list[dict[str, Any]] = copy.deepcopy(self._report["layers"])
        return records

    def __repr__(self) -> str:
        report = self._report
        accuracy = "" if self.accuracy is None else f", accuracy {self.accuracy:.2%}"
        return (
            f"{type(self).__name__}({self.model!r} on {report['chip']['name']!r}, "
            f"{report['engine']}: {self.images:,} images in {self.cycles:,} cycles = "
            f"{self.seconds:.4g} s, {self.images_per_second:,.0f} images/s{accuracy})"
        )

    def _repr_html_(self) -> str:
        rows = []
        for name in CYCLE_CLASSES:
            n = int(self.counters[name])
            rows.append((name.replace("_", " "), n, f"{n / max(self.cycles, 1):.1%}"))
        layers = [
            (r["name"], r["op"], r["cycles"], f"{r['cycles'] / max(self.cycles, 1):.1%}",
             f"{r['utilization']:.1%}")
            for r in self._report["layers"]
        ]  # fmt: skip
        return _html.table(repr(self), ("where the cycles went", "cycles", "share"), rows) + (
            _html.table("by layer", ("layer", "operation", "cycles", "share", "useful"), layers)
        )


def load_result(path: PathName) -> Figures:
    """Reads a result file, as ``tilewave run --json`` and `Result.save` write it.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Figures

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is no result file, or one of another schema than this version's.
    """
    name = path_text(path, "path")
    text = Path(name).read_text(encoding="utf-8", errors="replace")
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: is no JSON file ({error})") from error
    missing = [key for key in _NEEDED if not isinstance(report, dict) or key not in report]
    if missing:
        raise ValueError(
            f"{name}: has no key {missing[0]!r} (expected a result of `tilewave run --json`)"
        )
    return Figures(text)
