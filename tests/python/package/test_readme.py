"""The Python that README.md shows runs."""

import re

from conftest import ROOT


def test_the_readmes_python_runs(monkeypatch, tmp_path):
    blocks = re.findall(r"^```python$(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    for block in blocks:
        exec(block, {})
