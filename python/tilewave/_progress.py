"""Progress of long work: a bar by rich on a terminal, by tqdm in a notebook, else nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and type(running).__name__ == "ZMQInteractiveShell"


@contextmanager
def bar(what: str, total: int, wanted: bool) -> Iterator[Callable[[], None]]:
    """A function to be called for each of `total` that is done."""
    if wanted and _in_notebook():
        try:
            from tqdm import tqdm
        except ImportError:
            pass
        else:
            with tqdm(total=total, desc=what) as drawn:

                def advance() -> None:
                    drawn.update()

                yield advance
            return
    if wanted and sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(console=Console(stderr=True), transient=True) as shown:
                task = shown.add_task(what, total=total)
                yield lambda: shown.advance(task)
            return
    yield lambda: None
