"""Sweeps and studies from Python: the command's results, wherever the points run."""

import json
import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import pandas
import pytest
import tilewave as tw
from conftest import tilewave

EXPERIMENT = {
    "chip": "tiny_8",
    "images": 40,
    "scheme": {"calibration_images": 4},
    "vary": {
        "unified_buffer.capacity_kib": [64, 1],
        "scheme.weight_bits": [4, 8],
        "batch": [2, 8, 16],
    },
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The command's folder for the experiment."""
    folder = tmp_path_factory.mktemp("command")
    path = folder / "experiment.yaml"
    path.write_text(json.dumps(EXPERIMENT))
    tilewave("study", path, "-o", folder / "out", "--quiet")
    return folder / "out"


def files(folder):
    return [(folder / name).read_bytes() for name in ("results.csv", "results.json")]


def test_a_study_is_the_commands_to_the_byte(expected, tmp_path):
    table = tw.study(EXPERIMENT, store=tmp_path, progress=False)
    assert files(tmp_path) == files(expected)
    rows = json.loads((expected / "results.json").read_text())["points"]
    for row in rows:
        del row["configuration"]
    pandas.testing.assert_frame_equal(table, pandas.DataFrame(rows))
    assert list(table["failure"].notna()) == [False] * 6 + [True] * 6


def test_other_processes_give_the_same(expected, tmp_path):
    with ProcessPoolExecutor(2) as executor:
        tw.study(EXPERIMENT, executor, tmp_path, progress=False)
    assert files(tmp_path) == files(expected)


def test_what_the_command_has_done_is_not_done_again(expected, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a point ran")

    monkeypatch.setattr("tilewave.experiments._run_point", refuse)
    before = files(expected)
    assert len(tw.study(EXPERIMENT, store=expected, progress=False)) == 12
    assert files(expected) == before


def test_a_parquet_file_has_the_table_and_its_points_lie_beside_it(tmp_path):
    path = tmp_path / "results.parquet"
    table = tw.sweep(EXPERIMENT, store=path, progress=False)
    read = pandas.read_parquet(path)
    assert list(read["cycles"].dropna()) == list(table["cycles"].dropna())
    assert sorted(os.listdir(tmp_path)) == ["results.parquet", "results.sqlite"]
    rows = sqlite3.connect(tmp_path / "results.sqlite").execute("SELECT * FROM points").fetchall()
    assert len(rows) == 12


def test_yaml_text_and_files_are_experiments_too(tmp_path):
    small = {"chip": "tiny_8", "images": 2, "scheme": {"calibration_images": 2}}
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps(small))
    cycles = [tw.sweep(form, progress=False)["cycles"][0] for form in (small, path, str(path))]
    text = "chip: tiny_8\nimages: 2\nscheme: {calibration_images: 2}\n"
    assert {*cycles, tw.sweep(text, progress=False)["cycles"][0]} == {cycles[0]}


def test_mistakes_are_the_right_exceptions(tmp_path):
    with pytest.raises(tw.InputError, match=r"experiment:1: array.rosw: unknown key"):
        tw.sweep({"vary": {"array.rosw": [1]}})
    with pytest.raises(FileNotFoundError):
        tw.sweep(tmp_path / "missing.yaml")
    with pytest.raises(TypeError, match="executor: expected"):
        tw.sweep(EXPERIMENT, executor=3)
    with pytest.raises(TypeError, match="experiment: expected"):
        tw.sweep(3)
    (tmp_path / "results.sqlite").mkdir()
    with pytest.raises(OSError, match=r"results\.sqlite"):
        tw.sweep(EXPERIMENT, store=tmp_path)


@pytest.mark.filterwarnings("default")  # distributed's own, of a worker that dies
def test_a_cluster_that_loses_a_worker_loses_nothing(tmp_path):
    distributed = pytest.importorskip("distributed")
    experiment = {
        **EXPERIMENT,
        "images": 400,
        "vary": {"scheme.weight_bits": [4, 6, 8], "array.rows": [2, 4, 8], "batch": [1, 2, 4, 8]},
    }
    local = tw.sweep(experiment, store=tmp_path / "local", progress=False)
    store = tmp_path / "cluster"
    with (
        distributed.LocalCluster(
            n_workers=4,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def kill_in_the_middle():
            log = store / "results.sqlite-wal"
            while not log.exists() or log.stat().st_size < 30_000:
                time.sleep(0.005)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        table = tw.sweep(experiment, client, store, progress=False)
        killer.join()
        assert victim not in client.run(os.getpid).values()
    pandas.testing.assert_frame_equal(table, local)
    assert files(store) == files(tmp_path / "local")
    stored = sqlite3.connect(store / "results.sqlite").execute("SELECT key FROM points").fetchall()
    assert len(stored) == len(set(stored)) == 36
