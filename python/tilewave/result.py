"""What a simulated run gave."""

from __future__ import annotations

import io
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tilewave import _core, _html
from tilewave._files import PathName, path_text
from tilewave._optional import import_pandas
from tilewave.program import Program
from tilewave.trace import Trace

if TYPE_CHECKING:
    import pandas

# The classes that partition the cycles, as docs/timing.md orders them.
_CLASSES = (
    "active", "weight_stall", "weight_shift", "input_stall", "raw_stall", "accumulator_stall",
    "drain", "idle",
)  # fmt: skip
# 40 bytes each.
_MOST_TRACED_SLICES = 25_000_000


class Result:
    """Outputs, cycles and counters of a run, as `simulate` and `run` return it. Immutable."""

    def __init__(self, result: _core.Result, program: Program) -> None:
        self._result = result
        self._program = program

    @cached_property
    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._result.to_json())
        return report

    def to_dict(self) -> dict[str, Any]:
        """Everything but the outputs and the trace: what the command writes as JSON. It depends on
        the machine only under the key ``host``."""
        copy: dict[str, Any] = json.loads(self._result.to_json())
        return copy

    def save(self, path: PathName) -> None:
        """Writes `to_dict` as a JSON file, as ``tilewave run --json`` does."""
        Path(path_text(path, "path")).write_text(self._result.to_json())

    @property
    def program(self) -> Program:
        """The program that ran."""
        return self._program

    @cached_property
    def outputs(
        self,
    ) -> npt.NDArray[np.int8] | npt.NDArray[np.uint8] | npt.NDArray[np.int16] | None:
        """[images, outputs], the integers that the chip returned: int8, or for other formats
        uint8 or int16. None if the run was for its cycles alone."""
        return self._result.outputs()

    @cached_property
    def classes(self) -> npt.NDArray[np.int64] | None:
        """[images], the index of an image's largest output, the first of equals; None as
        `outputs`."""
        return self._result.classes()

    def dequantized(self) -> npt.NDArray[np.float32] | None:
        """[images, outputs], the real values that `outputs` stand for; None as `outputs`."""
        if self.outputs is None:
            return None
        values = self.outputs.astype(np.float32) - np.float32(self._result.output_zero_point)
        return values * np.float32(self._result.output_scale)

    @property
    def cycles(self) -> int:
        """Cycles of the chip's clock from the first transfer's start to the last one's end."""
        return self._result.cycles

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
        records: list[dict[str, Any]] = self.to_dict()["layers"]
        return records

    @cached_property
    def layers(self) -> pandas.DataFrame:
        """A row per layer, with the columns of ``tilewave run --csv``: sizes of its matrix product
        per image, cycles by class, useful multiply-accumulates, bytes moved, joules, overflows.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        csv = io.StringIO(self._result.to_csv())
        table: pandas.DataFrame = import_pandas("Result.layers").read_csv(csv)
        return table.iloc[:-1]

    @cached_property
    def trace(self) -> Trace:
        """When each unit worked on which instruction. Unless the run kept it, it is made when it
        is first asked for, by the timeline engine, whose cycles are every engine's.

        Raises
        ------
        InputError
            If the run is so long that a trace would not fit in memory.
        """
        launches = int(self._report["launches"])
        if launches * len(self._program) > _MOST_TRACED_SLICES:
            raise _core.InputError(
                f"trace: {launches} launches of {len(self._program)} instructions are too many "
                f"(at most {_MOST_TRACED_SLICES} in all; simulate fewer images)"
            )
        again = _core.simulate(
            self._program._program, None, None, "", launches, "timeline", None, 1, True
        )
        return Trace(again, self._program)

    def __repr__(self) -> str:
        report = self._report
        accuracy = "" if self.accuracy is None else f", accuracy {self.accuracy:.2%}"
        return (
            f"Result({report['model']!r} on {report['chip']['name']!r}, {report['engine']}: "
            f"{self.images:,} images in {self.cycles:,} cycles = {self.seconds:.4g} s, "
            f"{self.images_per_second:,.0f} images/s{accuracy})"
        )

    def __str__(self) -> str:
        """What the command prints."""
        return self._result.to_text()

    def _repr_html_(self) -> str:
        rows = []
        for name in _CLASSES:
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
