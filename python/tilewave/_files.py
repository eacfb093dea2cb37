"""Files that users name: the operating system's own exception where one cannot be used."""

import os
from pathlib import Path
from typing import TypeAlias

PathName: TypeAlias = "str | os.PathLike[str]"


def is_path(name: PathName, *suffixes: str) -> bool:
    """Whether `name` is meant as a file or folder, not as the name of something that ships."""
    if not isinstance(name, str):
        return True
    return os.sep in name or name.endswith(suffixes)


def path_text(path: PathName, argument: str) -> str:
    """The path as text; TypeError naming `argument` if it is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{argument}: expected a str or a path, got {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"{argument}: expected a str or a path of str, got a path of bytes")
    if "\0" in text:
        raise ValueError(f"{argument}: expected a path, got one with a null character")
    return text


def check_readable(path: str) -> None:
    """Raises FileNotFoundError, IsADirectoryError or PermissionError as opening the file does."""
    with Path(path).open("rb"):
        pass


def write_aside(path: str, text: str) -> None:
    """Writes a file beside its place and then renames it, so that none is left half-written."""
    target = Path(path)
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        aside.write_text(text, encoding="utf-8")
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
