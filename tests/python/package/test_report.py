"""The HTML report says what the result says, and needs nothing but itself."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import pytest
import tilewave as tw

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Tables(HTMLParser):
    """{id: rows of texts} of a page's tables, and every address in it."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.addresses, self._rows, self._in_cell = {}, [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [v for k, v in given.items() if k in ("src", "href", "xlink:href")]
        if tag == "table":
            self._rows = self.tables[given["id"]] = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data):
        if self._in_cell:
            self._rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def result():
    return tw.run(images=96, batch=32, reference=False)


@pytest.fixture(scope="module")
def page(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    result.report(path)
    return path


def report(*arguments):
    words = [sys.executable, "-m", "tilewave", "report", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True)


def test_the_tables_are_the_results(result, page):
    tables = Tables(page.read_text()).tables
    classes = {row[0]: row[1] for row in tables["classes"][1:]}
    assert sum(int(n.replace(",", "")) for n in classes.values()) == result.cycles
    assert classes["weight stall"] == f"{result.counters['weight_stall']:,}"
    header, *layers = tables["layers"]
    column = header.index("cycles")
    assert [row[column] for row in layers] == [f"{r['cycles']:,}" for r in result.layer_records]
    moved = {row[0]: row[1] for row in tables["bytes"][1:]}
    assert moved == {k.replace("_", " "): f"{n:,}" for k, n in result.bytes.items()}
    assert [row[0] for row in tables["energy"][1:]] == [
        k.replace("_", " ") for k in result.energy_joules if k != "total"
    ]


def test_the_configuration_in_it_is_the_chip(result, page):
    text = re.search(r'<pre id="chip">(.*?)</pre>', page.read_text(), re.S)[1]
    assert tw.Chip.from_yaml(text.replace("&#34;", '"')) == result.chip


def test_a_page_from_the_file_is_the_page_from_the_run(result, page, tmp_path):
    result.save(tmp_path / "result.json")
    done = report(tmp_path / "result.json", "-o", tmp_path / "report.html")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "report.html").read_bytes() == page.read_bytes()


def test_nothing_in_it_points_outside(page):
    addresses = Tables(page.read_text()).addresses
    assert addresses
    assert [a for a in addresses if not a.startswith(("#", "data:"))] == []
    assert "url(http" not in page.read_text()
    assert "@import" not in page.read_text()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "elsewhere"}, "'elsewhere' is no network that ships with tilewave"),
        ({"cycles": 5}, "takes other cycles"),
        ({"scheme": {"weight_bits": 3, "new": 1}}, "could not be made again"),
    ],
)
def test_a_timeline_that_is_not_the_runs_is_left_out(result, tmp_path, changes, reason):
    (tmp_path / "result.json").write_text(json.dumps(result.to_dict() | changes))
    tw.report.write_report(tw.load_result(tmp_path / "result.json"), tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert 'id="timeline"' not in text
    assert reason in text.replace("&#39;", "'")


def test_names_cannot_bring_their_own_html(result, tmp_path):
    (tmp_path / "result.json").write_text(json.dumps(result.to_dict() | {"model": "<script>x"}))
    tw.report.write_report(tw.load_result(tmp_path / "result.json"), tmp_path / "report.html")
    assert "<script>x" not in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "is no JSON file"),
        ("[" * 100_000, "is no JSON file"),
        ("[]", "has no key 'schema_version' (expected a result of `tilewave run --json`)"),
        ('{"schema_version": 1}', "has no key 'tilewave_version'"),
        ("\x00\xff", "is no JSON file"),
    ],
)
def test_a_bad_file_is_answered_in_one_line_and_nothing_is_written(tmp_path, content, reason):
    (tmp_path / "in.json").write_text(content, encoding="latin-1")
    (tmp_path / "out.html").write_text("before")
    done = report(tmp_path / "in.json", "-o", tmp_path / "out.html")
    assert done.returncode == 2
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1
    assert (tmp_path / "out.html").read_text() == "before"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.json", "out.html"]


def test_a_missing_file_and_a_folder_are_answered_in_one_line(result, tmp_path):
    done = report(tmp_path / "none.json", "-o", tmp_path / "out.html")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    result.save(tmp_path / "in.json")
    done = report(tmp_path / "in.json", "-o", tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_without_jinja_the_report_says_what_is_missing(result, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install 'tilewave\[report\]'"):
        result.report(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_a_browser_shows_it_without_complaint_or_network(page, tmp_path):
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path}/profile", f"--log-net-log={tmp_path}/net.json",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1200,2000",
         f"--screenshot={tmp_path}/page.png", page.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    pyplot = pytest.importorskip("matplotlib.pyplot")
    picture = pyplot.imread(tmp_path / "page.png")
    assert picture.shape[:2] == (2000, 1200)
    # The blue of the cycles' bars, and dark text.
    blue = abs(picture[:, :, :3] - [0x00 / 255, 0x72 / 255, 0xB2 / 255]).max(axis=2) < 0.02
    assert blue.sum() > 1000
    assert (picture[:, :, :3].max(axis=2) < 0.2).sum() > 2000
