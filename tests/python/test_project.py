"""The project's own files agree with each other."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def tracked(pattern: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", pattern], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / line for line in listed.stdout.splitlines()]


def test_every_relative_link_in_the_documents_leads_somewhere():
    broken = []
    for document in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text()):
            if "://" not in target and not (document.parent / target).exists():
                broken.append(f"{document.relative_to(ROOT)}: {target}")
    assert broken == []


def test_the_version_is_the_same_in_cmake_citation_and_changelog():
    cmake = re.search(r"project\(tilewave VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    citation = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert citation[1] == cmake[1]
    assert f"## [{cmake[1]}]" in (ROOT / "CHANGELOG.md").read_text()
