"""Every public name is documented and typed; the checkers find nothing."""

import ast
import inspect
import subprocess
import sys

import pytest
import tilewave as tw
from conftest import ROOT

PACKAGE = ROOT / "python/tilewave"
STUBTEST = [
    "mypy.stubtest", "tilewave._core", "--mypy-config-file", "pyproject.toml",
    "--allowlist", "tests/python/package/stubtest_allowlist.txt",
]  # fmt: skip


def public_callables():
    """(name, object) of every public class, function, method and property."""
    for name in tw.__all__:
        item = getattr(tw, name)
        if inspect.ismodule(item):
            for inner in item.__all__:
                yield from with_members(f"{name}.{inner}", getattr(item, inner))
        elif callable(item):
            yield from with_members(name, item)


def with_members(name, item):
    yield name, item
    if not inspect.isclass(item) or item.__module__ == "tilewave._core":
        return
    for member, value in vars(item).items():
        if member.startswith("_") or not (callable(value) or hasattr(value, "__get__")):
            continue
        if inspect.ismemberdescriptor(value):
            continue
        yield f"{name}.{member}", inspect.unwrap(getattr(value, "__func__", value))


CALLABLES = dict(public_callables())


def test_there_is_something_to_check():
    assert {"Chip", "Chip.load", "Chip.rows", "simulate", "datasets.mnist"} <= CALLABLES.keys()
    assert len(CALLABLES) > 80


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_name_has_a_docstring(name):
    item = CALLABLES[name]
    if getattr(item, "__module__", "") == "tilewave._core":
        return
    assert inspect.getdoc(item), name


@pytest.mark.parametrize(
    "name", [n for n, item in CALLABLES.items() if inspect.isfunction(item) and "." not in n]
)
def test_a_public_function_describes_every_parameter_and_its_errors(name):
    text = inspect.getdoc(CALLABLES[name])
    parameters = inspect.signature(CALLABLES[name]).parameters
    for parameter in parameters:
        assert f"{parameter} :" in text or parameter in text.split("Parameters")[1], parameter
    assert not parameters or "Raises\n------" in text


def test_no_module_has_a_name_that_its_all_does_not_know():
    listed = ast.parse((PACKAGE / "__init__.py").read_text())
    imported = {
        alias.asname or alias.name
        for node in ast.walk(listed)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == set(tw.__all__)
    assert tw.__all__ == sorted(tw.__all__)


@pytest.mark.parametrize(
    "command",
    [
        ["mypy", "--strict"],
        STUBTEST,
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "python", "tests/python", "tests/package", "bench"],
        ["ruff", "format", "--check", "scripts"],
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_checker_finds_nothing(command):
    words = [sys.executable, "-m", *command]
    checked = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
