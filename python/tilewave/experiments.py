"""Experiments: many points, here, in other processes or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tilewave import _core, _progress
from tilewave._files import PathName, check_readable, path_text

if TYPE_CHECKING:
    import pandas

    Table: TypeAlias = "pandas.DataFrame | list[dict[str, Any]]"

_Outcome: TypeAlias = tuple[str, str, bool]


@cache
def _runner() -> _core.PointRunner:
    """This process's; what points share stays in it."""
    return _core.PointRunner()


def _run_point(configuration: str, threads: int) -> _Outcome:
    """Where a point is worked on: in a thread here, another process, or another machine."""
    return _runner().run(configuration, threads)


def _read(experiment: PathName | Mapping[str, Any], accuracy: bool) -> _core.Experiment:
    if isinstance(experiment, Mapping):
        return _runner().parse(json.dumps(experiment), accuracy)
    if isinstance(experiment, str) and ("\n" in experiment or ":" in experiment):
        return _runner().parse(experiment, accuracy)
    path = path_text(experiment, "experiment")
    check_readable(path)
    return _runner().read(os.path.abspath(path), accuracy)


def _finished(
    executor: Any, points: Mapping[str, str], threads: int
) -> Iterator[tuple[str, _Outcome]]:
    """(key, outcome) as they are done; what is not begun is cancelled at the end."""
    is_local = isinstance(executor, Executor)
    futures = {}
    try:
        for key, configuration in points.items():
            named = {} if is_local else {"key": f"tilewave-{key}"}
            futures[executor.submit(_run_point, configuration, threads, **named)] = key
        if is_local:
            done: Iterable[Any] = as_completed(futures)
        else:
            from distributed import as_completed as done_on_cluster

            done = done_on_cluster(list(futures))  # type: ignore[no-untyped-call]
        for future in done:
            yield futures[future], future.result()
    finally:
        for future in futures:
            future.cancel()


def _explore(
    experiment: PathName | Mapping[str, Any],
    accuracy: bool,
    executor: Any,
    store: PathName | None,
    progress: bool,
) -> Table:
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(
            "executor: expected a concurrent.futures.Executor or a distributed.Client, got "
            + type(executor).__name__
        )
    table = None if store is None else Path(path_text(store, "store"))
    is_parquet = table is not None and table.suffix == ".parquet"
    if is_parquet:
        import pyarrow  # noqa: F401  before any work, not after it
    read = _read(experiment, accuracy)
    points = dict(read.points())
    kept = None
    if table is not None:
        (table.parent if is_parquet else table).mkdir(parents=True, exist_ok=True)
        file = table.with_suffix(".sqlite") if is_parquet else table / _core.store_name
        kept = _core.Store(str(file))
    known = {key: kept.find(key) for key in points} if kept is not None else {}
    outcomes = {key: outcome for key, outcome in known.items() if outcome is not None}
    missing = {key: text for key, text in points.items() if key not in outcomes}
    with ExitStack() as stack:
        workers = executor
        if workers is None:
            workers = stack.enter_context(ThreadPoolExecutor(len(os.sched_getaffinity(0))))
        advance = stack.enter_context(_progress.bar("points", len(missing), progress))
        for key, outcome in _finished(workers, missing, 1):
            outcomes[key] = outcome
            if kept is not None and outcome[2]:
                kept.put(key, missing[key], outcome)
            advance()
    ordered = [outcomes[key] for key, _ in read.points()]
    rows = json.loads(read.rows(ordered))
    if table is not None and not is_parquet:
        read.write_tables(ordered, str(table))
    return _table(rows, table if is_parquet else None)


def _table(rows: list[dict[str, Any]], parquet: Path | None) -> Table:
    if parquet is not None:
        from pyarrow import Table as ArrowTable
        from pyarrow import parquet as files

        aside = parquet.with_name(f"{parquet.name}.part{os.getpid()}")
        files.write_table(ArrowTable.from_pylist(rows), aside)
        aside.replace(parquet)
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)


def sweep(
    experiment: PathName | Mapping[str, Any],
    executor: Any = None,
    store: PathName | None = None,
    *,
    progress: bool = True,
) -> Table:
    """Cycles, bytes and energy of many points, as ``tilewave sweep``.

    Parameters
    ----------
    experiment : path, str or mapping
        A YAML file, YAML text, or the same as a mapping; docs/experiments.md has its keys.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where points run; by default on all cores of this process. A point travels as text, and its
        result as text; network and data must be found under the same names over there.
    store : path, optional
        A folder, in which the results are as the command leaves them; or a file ending in
        ``.parquet``, for the table, with the store beside it (``.sqlite``) in which points are kept
        as they come. What is in the store does not run again. By default nothing is kept.
    progress : bool
        A bar: by rich on a terminal, by tqdm in a notebook, where these are installed.

    Returns
    -------
    DataFrame or list of dict
        A row per point, the columns as in ``results.csv``; a list without pandas.

    Raises
    ------
    TypeError
        If an argument has another type.
    FileNotFoundError
        If there is no such file.
    InputError
        If the experiment has a mistake. A point that cannot be done is none: its row has the
        reason under ``failure``.
    OSError
        If the store cannot be written, or another process has it; finished points stay in it.
    ImportError
        If a Parquet file is wanted and pyarrow is not installed.
    KeyboardInterrupt
        At Ctrl-C; finished points stay in the store.
    """
    return _explore(experiment, False, executor, store, progress)


def study(
    experiment: PathName | Mapping[str, Any],
    executor: Any = None,
    store: PathName | None = None,
    *,
    progress: bool = True,
) -> Table:
    """The same with accuracies where the experiment does not say, as ``tilewave study``.

    Parameters
    ----------
    experiment, executor, store, progress
        As `sweep`'s.

    Raises
    ------
    TypeError, FileNotFoundError, InputError, OSError, ImportError, KeyboardInterrupt
        As `sweep`.
    """
    return _explore(experiment, True, executor, store, progress)
