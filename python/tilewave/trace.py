"""Which unit worked on what, and when."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tilewave import _core, _html
from tilewave._files import PathName, path_text
from tilewave._optional import frame
from tilewave.program import Program

if TYPE_CHECKING:
    import pandas

MNEMONICS = tuple(_core.opcode_fields())


@dataclass(frozen=True, eq=False)
class Occupancy:
    """How full a buffer is over time: `value[i]` from cycle `cycle[i]` on, 0 before the first.

    Attributes
    ----------
    cycle : ndarray of int64
        [n], ascending.
    value : ndarray of int64
        [n]
    """

    cycle: npt.NDArray[np.int64]
    value: npt.NDArray[np.int64]

    @property
    def peak(self) -> int:
        """The largest value."""
        return int(self.value.max(initial=0))

    def __repr__(self) -> str:
        return f"Occupancy({len(self.cycle):,} steps, at most {self.peak:,})"


class Trace:
    """The occupation of every unit by every instruction of a run: one slice each.

    All arrays have one entry per slice. Times are cycles of the chip's clock since the start.

    Attributes
    ----------
    unit : ndarray of uint8
        Index into `Trace.units`.
    launch : ndarray of int32
    instruction : ndarray of int32
        Its place in the program.
    start, end : ndarray of int64
        The unit is taken in cycles [start, end).
    done : ndarray of int64
        The first cycle in which the result can be used.
    layer : ndarray of int32
        Index into `layer_names`, -1 for none.
    layer_names : list of str
    cycles : int
        Length of the run.
    """

    units: tuple[str, ...] = _core.unit_names

    def __init__(self, result: _core.Result, program: Program, launches: int) -> None:
        self._result = result
        self._program = program
        self._launches = launches
        slices = _core.slices(result)
        self.unit: npt.NDArray[np.uint8] = slices["unit"]
        self.launch: npt.NDArray[np.int32] = slices["launch"]
        self.instruction: npt.NDArray[np.int32] = slices["instruction"]
        self.start: npt.NDArray[np.int64] = slices["start"]
        self.end: npt.NDArray[np.int64] = slices["end"]
        self.done: npt.NDArray[np.int64] = slices["done"]
        self.layer: npt.NDArray[np.int32] = program._program.instruction_layers()[self.instruction]
        self.layer_names: list[str] = [layer["name"] for layer in program.layers]
        self.cycles: int = result.cycles
        self._opcodes: npt.NDArray[np.uint8] = program.instructions.to_array()["opcode"]

    def __len__(self) -> int:
        return len(self.start)

    def busy_cycles(self) -> dict[str, int]:
        """Cycles in which each unit is taken, by name."""
        cycles = np.zeros(len(self.units), np.int64)
        np.add.at(cycles, self.unit, self.end - self.start)
        return {name: int(n) for name, n in zip(self.units, cycles, strict=True)}

    @cached_property
    def _occupancy(self) -> tuple[Occupancy, Occupancy]:
        buffer, fifo = _core.occupancy(self._result, self._program._program)
        return Occupancy(buffer["cycle"], buffer["value"]), Occupancy(fifo["cycle"], fifo["value"])

    @property
    def unified_buffer(self) -> Occupancy:
        """Bytes of the unified buffer in use: from the start of the instruction that writes them to
        the end of the last one that reads them."""
        return self._occupancy[0]

    @property
    def weight_fifo(self) -> Occupancy:
        """Places of the weight FIFO that are taken, those of tiles on their way included."""
        return self._occupancy[1]

    def save(self, path: PathName) -> None:
        """Writes a file that Perfetto (ui.perfetto.dev) and Chrome's trace viewer show: the one of
        ``tilewave run --trace``, described in docs/trace.md.

        Parameters
        ----------
        path : str or path
            The file; replaced if it is there.

        Raises
        ------
        OSError
            If it cannot be written; then nothing is left of it.
        KeyboardInterrupt
            Within a second of Ctrl-C.

        Warns
        -----
        UserWarning
            If the run is so long that the file shows only its beginning.
        """
        part = _core.save_trace(self._program._program, self._launches, path_text(path, "path"))
        if part:
            warnings.warn(f"the trace {part}", stacklevel=2)

    def to_frame(self) -> pandas.DataFrame:
        """A DataFrame with one row per slice: unit, mnemonic, layer, launch, instruction, start,
        end, done.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        names = np.array([*self.layer_names, None], dtype=object)
        columns = {
            "unit": np.array(self.units)[self.unit],
            "mnemonic": np.array(MNEMONICS)[self._opcodes[self.instruction]],
            "layer": names[self.layer],
            "launch": self.launch,
            "instruction": self.instruction,
            "start": self.start,
            "end": self.end,
            "done": self.done,
        }
        return frame(columns, "a trace as DataFrame")

    def __repr__(self) -> str:
        return f"Trace({len(self):,} slices in {self.cycles:,} cycles)"

    def _repr_html_(self) -> str:
        rows = (
            (unit, n, f"{n / max(self.cycles, 1):.1%}") for unit, n in self.busy_cycles().items()
        )
        return _html.table(repr(self), ("unit", "cycles taken", "of the run"), rows)
