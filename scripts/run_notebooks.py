"""Runs the notebooks of python/notebooks from top to bottom and fails if a cell does.

Usage: scripts/run_notebooks.py [NAME...]. With the Python that has tilewave. What ran, with its
outputs, is left in build/notebooks; the tree keeps notebooks without outputs, which is checked.
"""

import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
MOST_SECONDS_PER_CELL = 600


def outputs_left(notebook):
    """Whether a cell was saved with what it gave."""
    return any(
        cell.outputs or cell.execution_count is not None
        for cell in notebook.cells
        if cell.cell_type == "code"
    )


def warnings_of(notebook):
    """What the cells wrote to standard error."""
    return [
        output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


def run(path, executed):
    """What is wrong with a notebook, or None."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    if outputs_left(notebook):
        return "has outputs: clear them before it is committed"
    # Somewhere else: a notebook must not need the source tree.
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=MOST_SECONDS_PER_CELL,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute()
        except CellExecutionError as error:
            return str(error)
    nbformat.write(notebook, executed / path.name)
    warnings = warnings_of(notebook)
    return f"wrote to standard error: {warnings[0]}" if warnings else None


def main(names):
    """Exit code: 1 if a notebook has failed."""
    notebooks = sorted((ROOT / "python/notebooks").glob("*.ipynb"))
    if names:
        notebooks = [path for path in notebooks if path.stem in names]
    if not notebooks:
        print("run_notebooks.py: no such notebook", file=sys.stderr)
        return 1
    executed = ROOT / "build/notebooks"
    executed.mkdir(parents=True, exist_ok=True)
    failed = False
    for path in notebooks:
        start = time.monotonic()
        wrong = run(path, executed)
        failed = failed or wrong is not None
        seconds = time.monotonic() - start
        print(f"run_notebooks.py: {path.name}: {wrong or 'ok'} ({seconds:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
