"""What a simulated run gave."""

from __future__ import annotations

import io
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewave import _core
from tilewave._files import PathName
from tilewave._optional import import_pandas
from tilewave.figures import Figures
from tilewave.program import Program
from tilewave.trace import Trace

if TYPE_CHECKING:
    import pandas

# 40 bytes each.
_MOST_TRACED_SLICES = 25_000_000


class Result(Figures):
    """Outputs, cycles and counters of a run, as `simulate` and `run` return it. Immutable."""

    def __init__(self, result: _core.Result, program: Program) -> None:
        super().__init__(result.to_json())
        self._result = result
        self._program = program

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
        launches = self.launches
        if launches * len(self._program) > _MOST_TRACED_SLICES:
            raise _core.InputError(
                f"trace: {launches} launches of {len(self._program)} instructions are too many "
                f"(at most {_MOST_TRACED_SLICES} in all; simulate fewer images)"
            )
        again = _core.simulate(
            self._program._program, None, None, "", launches, "timeline", None, 1, True
        )
        return Trace(again, self._program, launches)

    def report(self, path: PathName) -> None:
        """Writes the run as one HTML file that needs nothing else: summary, layers, where the
        cycles went, roofline, timeline, energy, configuration.

        Raises
        ------
        ImportError
            If Matplotlib or Jinja2 are not installed.
        """
        from tilewave.report import write_report

        write_report(self, path)

    def __str__(self) -> str:
        """What the command prints."""
        return self._result.to_text()
