"""Packages that are needed for some things only."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas


def import_pandas(what: str) -> ModuleType:
    """The package pandas; ImportError saying that `what` needs it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f"{what} needs pandas: pip install 'tilewave[pandas]'") from error
    return pandas


def frame(columns: Mapping[str, object], what: str) -> pandas.DataFrame:
    """A DataFrame of arrays by column name; ImportError saying that `what` needs pandas."""
    made: pandas.DataFrame = import_pandas(what).DataFrame(columns)
    return made
