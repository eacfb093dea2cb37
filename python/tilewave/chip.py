"""The accelerator's description."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tilewave import _core, _html
from tilewave._files import PathName, check_readable, is_path, path_text


def _yaml_value(key: str, value: object) -> str:
    """A value as JSON, which is YAML too."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        items = (f"{json.dumps(str(name))}: {_yaml_value(name, v)}" for name, v in value.items())
        return "{" + ", ".join(items) + "}"
    if value is None or not isinstance(value, (bool, int, float, str)):
        raise TypeError(
            f"{key}: expected a number, a bool, a str or a mapping, got {type(value).__name__}"
        )
    return json.dumps(value)


class Chip:
    """An accelerator: array, memories, links and clock. Immutable.

    Made by `Chip.load`, `Chip.from_yaml` or `Chip.replace`. Two chips are equal if all their keys
    are.
    """

    __slots__ = ("_chip",)
    _chip: _core.Chip

    def __init__(self) -> None:
        raise TypeError("a Chip is made by Chip.load or Chip.from_yaml")

    @classmethod
    def _of(cls, chip: _core.Chip) -> Chip:
        self = cls.__new__(cls)
        self._chip = chip
        return self

    @classmethod
    def load(cls, name_or_path: PathName) -> Chip:
        """Reads a preset or a YAML file.

        Parameters
        ----------
        name_or_path : str or path
            A preset, one of `Chip.names()`, or a file that ends in ``.yaml`` or ``.yml`` or has a
            folder in its name.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        InputError
            If there is no such preset, or the file has a key or value that is not allowed; with
            line, key, what is allowed, and the nearest name for a typo.
        """
        name = path_text(name_or_path, "name_or_path")
        if not isinstance(name_or_path, str) and not is_path(name, ".yaml", ".yml"):
            name = f"./{name}"
        if is_path(name, ".yaml", ".yml"):
            check_readable(name)
        return cls._of(_core.load_chip(name))

    @classmethod
    def from_yaml(cls, text: str) -> Chip:
        """Reads a description from YAML text; keys that it does not name are those of ``tpu_v1``.

        Raises
        ------
        InputError
            As `load`.
        """
        if not isinstance(text, str):
            raise TypeError(f"text: expected a str, got {type(text).__name__}")
        return cls._of(_core.parse_chip(text, "chip"))

    @staticmethod
    def names() -> list[str]:
        """Names of the presets, sorted."""
        return _core.chip_names()

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON Schema of chip files: every key with its meaning, unit, range and default."""
        schema: dict[str, Any] = json.loads(_core.chip_schema())
        return schema

    def replace(self, changes: Mapping[str, object]) -> Chip:
        """This chip with some keys changed.

        Parameters
        ----------
        changes : mapping
            New values by key; a key inside a group is written ``"array.rows"``, or the group is
            given a mapping. Units are those of the key's name; a bandwidth may be
            ``"unlimited"``. They need to fit together only when all have changed.

        Raises
        ------
        TypeError
            If a value is not a number, a bool, a str or a mapping.
        InputError
            If there is no such key, or the value is out of its range.

        Examples
        --------
        >>> Chip.load("tpu_v1").replace({"array.rows": 128, "array.cols": 128}).rows
        128
        """
        if not isinstance(changes, Mapping):
            raise TypeError(f"changes: expected a mapping, got {type(changes).__name__}")
        for key in changes:
            if not isinstance(key, str):
                raise TypeError(f"changes: expected keys of str, got {key!r}")
        return Chip._of(self._chip.with_keys([(k, _yaml_value(k, v)) for k, v in changes.items()]))

    def to_yaml(self) -> str:
        """Every key, as YAML text that `from_yaml` reads back as an equal chip."""
        return self._chip.to_yaml()

    def to_dict(self) -> dict[str, Any]:
        """Every key, in groups, as in the command's results."""
        keys: dict[str, Any] = json.loads(self._chip.to_json())
        return keys

    @property
    def name(self) -> str:
        """The chip's name."""
        return self._chip.name

    @property
    def clock_mhz(self) -> float:
        """The clock, in MHz."""
        return self._chip.clock_mhz

    @property
    def rows(self) -> int:
        """Rows of the array: the contraction dimension."""
        return self._chip.rows

    @property
    def cols(self) -> int:
        """Columns of the array: output channels."""
        return self._chip.cols

    @property
    def peak_tops(self) -> float:
        """10^12 operations per second with every multiplier busy; a multiply-add counts as two."""
        return self._chip.peak_tops

    def __eq__(self, other: object) -> bool:
        return self._chip == other._chip if isinstance(other, Chip) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_yaml())

    def __reduce__(self) -> tuple[Any, ...]:
        return Chip.from_yaml, (self.to_yaml(),)

    def __repr__(self) -> str:
        return (
            f"Chip({self.name!r}: {self.rows} x {self.cols} at {self.clock_mhz:g} MHz, "
            f"{self.peak_tops:.4g} TOPS)"
        )

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = []
        for key, value in self.to_dict().items():
            if isinstance(value, dict):
                rows += [(f"{key}.{name}", entry) for name, entry in value.items()]
            else:
                rows.append((key, value))
        return _html.table(repr(self), ("key", "value"), rows)
