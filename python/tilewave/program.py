"""Compiled programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from tilewave import _core, _html
from tilewave._files import PathName, path_text
from tilewave._optional import frame
from tilewave.chip import Chip
from tilewave.quantization import QuantizedGraph, Scheme

if TYPE_CHECKING:
    import pandas

_FIELDS = _core.opcode_fields()
_MNEMONICS = tuple(_FIELDS)


@dataclass(frozen=True)
class Instruction:
    """An instruction of a program.

    Attributes
    ----------
    index : int
        Its place in the program.
    mnemonic : str
    layer : str or None
        The layer of the network that it works for.
    operands : dict
        The fields that this instruction uses, by the name that the disassembly gives them:
        addresses of the unified buffer in bytes, of accumulators in rows.
    """

    index: int
    mnemonic: str
    layer: str | None
    operands: dict[str, int | str | bool]

    def __repr__(self) -> str:
        operands = ", ".join(f"{name}={value}" for name, value in self.operands.items())
        layer = "" if self.layer is None else f"  # {self.layer}"
        return f"{self.index}: {self.mnemonic} {operands}{layer}"


class Instructions(Sequence[Instruction]):
    """The instructions of one launch of a program, in order."""

    def __init__(self, program: _core.Program) -> None:
        self._array: npt.NDArray[np.void] = program.instructions()
        self._layers = program.instruction_layers()
        self._layer_names = [layer["name"] for layer in program.layers()]

    def __len__(self) -> int:
        return len(self._array)

    @overload
    def __getitem__(self, index: int) -> Instruction: ...
    @overload
    def __getitem__(self, index: slice) -> list[Instruction]: ...
    def __getitem__(self, index: int | slice) -> Instruction | list[Instruction]:
        """One instruction, or a list of some."""
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        return self._at(range(len(self))[index])

    def __iter__(self) -> Iterator[Instruction]:
        return map(self._at, range(len(self)))

    def _at(self, index: int) -> Instruction:
        fields = self._array[index]
        mnemonic = _MNEMONICS[fields["opcode"]]
        operands: dict[str, int | str | bool] = {}
        for name, member in _FIELDS[mnemonic]:
            value = fields[member].item()
            if member == "reg":
                value = _core.register_names[value]
            elif member == "space":
                value = _core.space_names[value]
            operands[name] = value
        layer = int(self._layers[index])
        return Instruction(
            index, mnemonic, None if layer < 0 else self._layer_names[layer], operands
        )

    def counts(self) -> dict[str, int]:
        """How many there are of each, by mnemonic."""
        numbers = np.bincount(self._array["opcode"], minlength=len(_MNEMONICS))
        return {name: int(n) for name, n in zip(_MNEMONICS, numbers, strict=True) if n}

    def to_array(self) -> npt.NDArray[np.void]:
        """Every field of every instruction, as a read-only structured array; not a copy."""
        return self._array

    def to_frame(self) -> pandas.DataFrame:
        """A DataFrame with one row per instruction: mnemonic, layer, and every field.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        layer_names = np.array([*self._layer_names, None], dtype=object)
        columns: dict[str, object] = {
            "mnemonic": np.array(_MNEMONICS)[self._array["opcode"]],
            "layer": layer_names[self._layers],
        }
        for name in self._array.dtype.names or ():
            if name != "opcode":
                columns[name] = self._array[name]
        return frame(columns, "a DataFrame of instructions")

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {name}" for name, n in self.counts().items())
        return f"Instructions({len(self):,}: {counts})"

    def _repr_html_(self) -> str:
        rows = []
        for instruction in self[:41]:
            operands = ", ".join(f"{k}={v}" for k, v in instruction.operands.items())
            rows.append(
                (instruction.index, instruction.mnemonic, operands, instruction.layer or "")
            )
        return _html.table(repr(self), ("", "instruction", "operands", "layer"), rows)


class Program:
    """What the simulated chip runs: one launch handles `batch` images. Immutable.

    Made by `compile`, `Program.load`, `Program.from_bytes` or `Program.assemble`.
    """

    _program: _core.Program

    def __init__(self) -> None:
        raise TypeError("a Program is made by tilewave.compile, Program.load or Program.assemble")

    @classmethod
    def _of(cls, program: _core.Program) -> Program:
        self = cls.__new__(cls)
        self._program = program
        return self

    @classmethod
    def from_bytes(cls, file: bytes, chip: Chip) -> Program:
        """Reads the binary form, which does not contain the chip.

        Raises
        ------
        InputError
            If it is malformed. Whether it fits the chip is seen when it is simulated.
        """
        if not isinstance(file, bytes):
            raise TypeError(f"file: expected bytes, got {type(file).__name__}")
        return cls._of(_core.program_from_bytes(file, _chip_of(chip), "program"))

    @classmethod
    def load(cls, path: PathName, chip: Chip) -> Program:
        """Reads a binary file, as `save` and ``tilewave compile`` write it.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        InputError
            If it is malformed.
        """
        name = path_text(path, "path")
        return cls._of(_core.program_from_bytes(Path(name).read_bytes(), _chip_of(chip), name))

    @classmethod
    def assemble(cls, text: str, chip: Chip) -> Program:
        """Translates a program's text, as `disassemble` and docs/isa.md have it.

        Raises
        ------
        InputError
            With the line, what is wrong, and the nearest name for a typo.
        """
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        return cls._of(_core.assemble(text, _chip_of(chip), "program"))

    def to_bytes(self) -> bytes:
        """The binary form; `from_bytes` gives an equal program."""
        return self._program.to_bytes()

    def save(self, path: PathName) -> None:
        """Writes the binary form into a file, which the command's ``exec`` and ``disasm`` read."""
        Path(path_text(path, "path")).write_bytes(self.to_bytes())

    def disassemble(self) -> str:
        """The program as text, an instruction or a table's entry per line."""
        return self._program.disassemble()

    @property
    def name(self) -> str:
        """The network's name."""
        return self._program.name

    @property
    def batch(self) -> int:
        """Images per launch."""
        return self._program.batch

    @cached_property
    def chip(self) -> Chip:
        """The chip that it is for."""
        return Chip._of(self._program.chip)

    @property
    def scheme(self) -> Scheme | None:
        """How the network was quantized; None for a program from elsewhere."""
        scheme = self._program.scheme
        return None if scheme is None else Scheme(**json.loads(scheme.to_json()))

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """(height, width, channels) of one input image."""
        return self._program.input_shape

    @property
    def outputs(self) -> int:
        """Values that it returns for one image."""
        return self._program.outputs

    @property
    def unified_buffer_peak_bytes(self) -> int:
        """Bytes of the unified buffer that it uses."""
        return self._program.unified_buffer_peak

    @cached_property
    def instructions(self) -> Instructions:
        """The instructions of one launch."""
        return Instructions(self._program)

    @cached_property
    def layers(self) -> list[dict[str, Any]]:
        """The network's layers as the matrix products that they are: name, op, m, n, k per image,
        groups, weight tiles per launch, bands that an image is worked on in, bytes spilled."""
        return self._program.layers()

    def __len__(self) -> int:
        return len(self.instructions)

    def __eq__(self, other: object) -> bool:
        return self._program == other._program if isinstance(other, Program) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.to_bytes(), self.chip, self.scheme)

    def __repr__(self) -> str:
        return (
            f"Program({self.name!r} for {self.chip.name!r}: batch {self.batch}, "
            f"{len(self):,} instructions, {len(self.layers)} layers)"
        )

    def _repr_html_(self) -> str:
        rows = [[layer[key] for key in ("name", "op", "m", "n", "k", "tiles")] for layer in
                self.layers]  # fmt: skip
        return _html.table(repr(self), ("layer", "operation", "m", "n", "k", "tiles"), rows)


def _unpickled(file: bytes, chip: Chip, scheme: Scheme | None) -> Program:
    core_scheme = None if scheme is None else scheme._core()
    return Program._of(_core.program_from_bytes(file, chip._chip, "program", core_scheme))


def _chip_of(chip: Chip) -> _core.Chip:
    if not isinstance(chip, Chip):
        raise TypeError(f"chip: expected a Chip, got {type(chip).__name__}")
    return chip._chip


def compile(quantized: QuantizedGraph, chip: Chip, batch: int = 256) -> Program:
    """Translates a quantized network into a chip's program.

    Parameters
    ----------
    quantized : QuantizedGraph
        The network.
    chip : Chip
        What it is to run on.
    batch : int
        Images per launch, 1 or more.

    Raises
    ------
    InputError
        If one image does not fit the chip, or its precisions are not the network's; naming the
        layer, the need and what there is.
    KeyboardInterrupt
        Within a second of Ctrl-C.
    """
    if not isinstance(quantized, QuantizedGraph):
        raise TypeError(f"quantized: expected a QuantizedGraph, got {type(quantized).__name__}")
    return Program._of(_core.compile(quantized._quantized, _chip_of(chip), batch))
