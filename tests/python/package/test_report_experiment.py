"""The page of a sweep or study has every point, sorts them, and marks those that none beats."""

import html
import json
import re
import shutil
import subprocess
import sys

import pytest
import tilewave as tw
from test_report import CHROMIUM, Tables, report

# 64 KiB hold the network on this array, 1 KiB does not.
EXPERIMENT = {
    "chip": "tiny_8",
    "images": 40,
    "scheme": {"calibration_images": 4},
    "vary": {
        "unified_buffer.capacity_kib": [64, 1],
        "scheme.weight_bits": [2, 8],
        "batch": [10, 2],
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("study")
    tw.study(EXPERIMENT, store=path, progress=False)
    return path


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "study.html"
    tw.report.write_experiment_report(folder, path)
    return path


def points_of(folder):
    return json.loads((folder / "results.json").read_text())["points"]


def changed(folder, tmp_path, change):
    """A results.json with the first point changed."""
    document = json.loads((folder / "results.json").read_text())
    change(document)
    (tmp_path / "in.json").write_text(json.dumps(document))
    return tmp_path / "in.json"


def test_the_table_has_every_point(folder, page):
    header, *rows = Tables(page.read_text()).tables["points"]
    points = points_of(folder)
    assert len(rows) == len(points) == 8
    cycles = header.index("cycles")
    assert [r[cycles] for r in rows] == [f"{p['cycles']:,}" if p["cycles"] else "" for p in points]
    batch = header.index("batch")
    assert [r[batch] for r in rows] == [str(p["batch"]) for p in points]
    energy = header.index("µJ per image")
    assert rows[0][energy] == f"{1e6 * points[0]['energy_joules.total'] / 40:.4g}"
    assert [row[-1] for row in rows] == [point["failure"] or "" for point in points]


def test_the_marked_points_are_those_that_none_beats(folder, page):
    points = points_of(folder)

    def is_beaten(point, cost):
        return any(
            cost(other) <= cost(point)
            and other["accuracy"] >= point["accuracy"]
            and (cost(other), other["accuracy"]) != (cost(point), point["accuracy"])
            for other in points
            if other["failure"] is None
        )

    costs = [lambda p: p["energy_joules.total"], lambda p: p["cycles"]]
    expected = [
        "◆" if p["failure"] is None and not all(is_beaten(p, cost) for cost in costs) else ""
        for p in points
    ]
    header, *rows = Tables(page.read_text()).tables["points"]
    assert [row[header.index("front")] for row in rows] == expected
    assert "◆" in expected
    assert page.read_text().count("<svg") == 2


def test_the_page_is_the_commands_and_needs_no_other_file(folder, page, tmp_path):
    for results in (folder, folder / "results.json"):
        done = report(results, "-o", tmp_path / "page.html")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert (tmp_path / "page.html").read_bytes() == page.read_bytes()
    addresses = Tables(page.read_text()).addresses
    assert [a for a in addresses if not a.startswith(("#", "data:"))] == []


def test_a_sweep_without_accuracies_is_drawn_by_speed(tmp_path):
    sweep = {"chip": "tiny_8", "images": 4, "vary": {"array.rows": [4, 8], "array.cols": [4, 8]}}
    tw.sweep(sweep, store=tmp_path, progress=False)
    tw.report.write_experiment_report(tmp_path, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    header, *rows = Tables(text).tables["points"]
    assert "accuracy" not in header
    assert "multipliers" in text
    assert text.count("<svg") == 2
    # Nothing is slower with more of everything, and nothing smaller than 4 x 4.
    assert rows[0][header.index("front")] == "◆"


def test_texts_of_a_file_cannot_bring_their_own_html(folder, tmp_path):
    def change(document):
        document["columns"].append("<script>a")
        for point in document["points"]:
            point |= {"<script>a": "<script>b", "failure": "<script>c", "cycles": "<script>d"}
            point["configuration"]["model"] = "<script>e"

    source = changed(folder, tmp_path, change)
    tw.report.write_experiment_report(source, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert re.findall("<script>[a-z]", text) == []
    assert {"<script>a", "<script>b", "<script>c", "<script>e"} <= set(
        re.findall("<script>[a-z]", html.unescape(text))
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: d.pop("columns"), "has no 'columns'"),
        (lambda d: d.update(points=[]), "has no points"),
        (lambda d: d.update(points=[3]), "point 0 is no JSON object"),
        (lambda d: d.update(columns=[3]), "a column is no text"),
        (lambda d: d["points"][1].pop("batch"), "point 1 has no 'batch'"),
        (lambda d: d["points"][1].update(configuration=3), "point 1 has no configuration"),
    ],
)
def test_a_bad_file_is_answered_in_one_line_and_nothing_is_written(
    folder, tmp_path, change, reason
):
    done = report(changed(folder, tmp_path, change), "-o", tmp_path / "page.html")
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.json"]


def test_figures_of_the_wrong_kind_are_left_out(folder, tmp_path):
    def change(document):
        document["points"][0] |= {"cycles": True, "accuracy": float("nan"), "images": "40"}
        document["points"][1]["configuration"]["chip"] = 3

    source = changed(folder, tmp_path, change)
    tw.report.write_experiment_report(source, tmp_path / "page.html")
    header, *rows = Tables((tmp_path / "page.html").read_text()).tables["points"]
    assert rows[0][header.index("cycles")] == rows[0][header.index("accuracy")] == ""
    assert rows[1][header.index("cycles")] != ""


def test_a_folder_without_results_and_a_wrong_type_are_refused(tmp_path):
    done = report(tmp_path, "-o", tmp_path / "page.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    with pytest.raises(TypeError, match="results: expected a str or a path"):
        tw.report.write_experiment_report(3, tmp_path / "page.html")


def test_without_pandas_the_report_says_what_is_missing(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas"):
        tw.report.write_experiment_report(folder, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("clicks", "order"), [(1, 1), (2, -1), (3, 1)])
def test_a_click_on_a_header_sorts(folder, page, tmp_path, clicks, order):
    header, *rows = Tables(page.read_text()).tables["points"]
    column = header.index("cycles")
    click = f'document.querySelectorAll("#points button")[{column}].click();' * clicks
    shutil.copy(page, tmp_path / "page.html")
    with (tmp_path / "page.html").open("a") as file:
        file.write(f"<script>{click}</script>")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path}/profile", "--host-resolver-rules=MAP * ~NOTFOUND",
         "--dump-dom", (tmp_path / "page.html").as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    _, *shown = Tables(done.stdout).tables["points"]
    numbers = [int(row[column].replace(",", "")) for row in shown if row[column]]
    assert numbers == sorted(numbers, reverse=order < 0)
    assert numbers != [int(row[column].replace(",", "")) for row in rows if row[column]]
    assert [row[column] for row in shown[-4:]] == [""] * 4
    assert f'aria-sort="{"ascending" if order > 0 else "descending"}"' in done.stdout
