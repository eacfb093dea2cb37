"""`--trace`: the file obeys the Chrome trace event format and says what the counters say."""

import json
import subprocess
from collections import Counter
from itertools import pairwise

import pytest
from conftest import COMMAND, tilewave

MOST_BYTES = 100_000_000
TRACKS = ["host_in", "host_out", "weight_memory", "weight_shift", "matrix", "activation", "stalls"]
WAITS = ["weight_stall", "weight_shift", "input_stall", "raw_stall", "accumulator_stall", "idle"]
RUNS = {
    "tpu_v1": (),
    "edge_32": ("--chip", "edge_32", "--images", 200, "--batch", 64),
    "one plane": ("--images", 40, "--batch", 16, "--set", "array.double_buffered_weights=false"),
    "output stationary": (
        "--chip", "edge_32", "--images", 20, "--batch", 8,
        "--set", "array.dataflow=output_stationary",
    ),
    "input stationary": (
        "--chip", "edge_32", "--images", 20, "--batch", 8,
        "--set", "array.dataflow=input_stationary",
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=RUNS)
def traced(request, tmp_path_factory):
    """(trace, result) of a run; the first is the one of 10,000 images."""
    folder = tmp_path_factory.mktemp("trace")
    file, result = folder / "trace.json", folder / "result.json"
    tilewave(
        "run", *RUNS[request.param], "--no-reference", "--trace", file, "--json", result, "--quiet"
    )
    assert file.stat().st_size < MOST_BYTES
    return json.loads(file.read_text()), json.loads(result.read_text())


def slices_by_track(trace):
    names = {
        e["tid"]: e["args"]["name"]
        for e in trace["traceEvents"]
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    tracks = {name: [] for name in names.values()}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            tracks[names[event["tid"]]].append(event)
    return tracks


def test_it_obeys_the_chrome_trace_event_format(traced):
    trace, _ = traced
    assert trace["displayTimeUnit"] in ("ms", "ns")
    assert isinstance(trace["otherData"], dict)
    for event in trace["traceEvents"]:
        assert event["ph"] in "MXC"
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name", "thread_sort_index")
            continue
        assert isinstance(event["ts"], int) and event["ts"] >= 0
        if event["ph"] == "X":
            assert isinstance(event["tid"], int)
            assert isinstance(event["dur"], int) and event["dur"] >= 0
        else:
            assert all(isinstance(value, int) for value in event["args"].values())


def test_there_is_a_track_per_unit_and_its_slices_never_overlap(traced):
    tracks = slices_by_track(traced[0])
    assert list(tracks) == TRACKS
    for name, slices in tracks.items():
        ordered = sorted(slices, key=lambda e: (e["ts"], e["ts"] + e["dur"]))
        for before, after in pairwise(ordered):
            assert before["ts"] + before["dur"] <= after["ts"], name


def test_the_sums_of_a_track_are_the_counters(traced):
    trace, result = traced
    tracks, counters = slices_by_track(trace), result["counters"]
    assert sum(e["dur"] for e in tracks["matrix"]) == counters["active"]
    stalls = Counter()
    for event in tracks["stalls"]:
        stalls[event["name"]] += event["dur"]
    for name in [*WAITS, "drain"]:
        assert stalls.pop(name, 0) == counters[name], name
    assert not stalls
    assert len(tracks["weight_memory"]) == result["tiles_read"]


def test_a_layers_slices_add_up_to_its_counters(traced):
    trace, result = traced
    active, stalls = Counter(), Counter()
    tracks = slices_by_track(trace)
    for event in tracks["matrix"]:
        active[event["args"]["layer"]] += event["dur"]
    for event in tracks["stalls"]:
        if event["name"] != "drain":
            stalls[event["args"]["layer"], event["name"]] += event["dur"]
    for layer in result["layers"]:
        assert active[layer["name"]] == layer["counters"]["active"]
        for name in WAITS:
            assert stalls[layer["name"], name] == layer["counters"][name]


def test_a_multiply_carries_its_layer_tile_and_why_it_waited(traced):
    trace, _ = traced
    tracks = slices_by_track(trace)
    by_multiply = {}
    for event in tracks["stalls"]:
        if event["name"] != "drain":
            key = event["args"]["launch"], event["args"]["instruction"]
            by_multiply.setdefault(key, {})[event["name"]] = event["dur"]
    for event in tracks["matrix"]:
        args = event["args"]
        assert args["mnemonic"] == event["cat"] == "matmul"
        assert isinstance(args["tile"], int)
        waited = by_multiply.pop((args["launch"], args["instruction"]), {})
        assert {name: args[name] for name in WAITS if name in args} == waited
        if waited:
            assert waited[args["stall_reason"]] == max(waited.values())
        else:
            assert args["stall_reason"] is None
    assert not by_multiply


def counter(trace, name):
    steps = [e for e in trace["traceEvents"] if e["ph"] == "C" and e["name"] == name]
    times = [e["ts"] for e in steps]
    assert times == sorted(set(times))
    return [next(iter(e["args"].values())) for e in steps]


def test_the_occupancy_of_the_buffers_stays_within_them(traced):
    trace, result = traced
    buffer = counter(trace, "unified buffer")
    assert 0 < max(buffer) <= result["unified_buffer_peak_bytes"]
    assert min(buffer) == buffer[-1] == 0
    fifo = counter(trace, "weight FIFO")
    assert 0 < max(fifo) <= result["chip"]["weight_memory"]["fifo_tiles"]
    assert min(fifo) == fifo[-1] == 0


def test_the_metadata_says_what_a_microsecond_is_and_that_all_is_shown(traced):
    trace, result = traced
    other = trace["otherData"]
    assert other["clock_mhz"] == result["chip"]["clock_mhz"]
    assert "cycle" in other["time_unit"]
    assert other["complete"] is True
    assert other["launches_shown"] == other["launches"] == result["launches"]
    last = max(e["ts"] + e["dur"] for e in trace["traceEvents"] if e["ph"] == "X")
    assert last == result["cycles"]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program of the MNIST network for a batch of 64 on tpu_v1."""
    path = tmp_path_factory.mktemp("program") / "mnist.twp"
    tilewave("compile", "--batch", 64, "-o", path)
    return path


def test_a_long_run_shows_its_first_launches_and_says_so(program, tmp_path):
    long, short = tmp_path / "long.json", tmp_path / "short.json"
    words = [COMMAND, "exec", program, "--timing-only", "--quiet", "--launches"]
    ran = subprocess.run([*words, "100000", "--trace", long], capture_output=True, check=True)
    trace = json.loads(long.read_text())
    shown = trace["otherData"]["launches_shown"]
    assert trace["otherData"]["complete"] is False
    assert trace["otherData"]["launches"] == 100_000
    line = f"tilewave: the trace shows the first {shown} of 100000 launches\n"
    assert ran.stderr.decode() == line
    assert long.stat().st_size < MOST_BYTES
    ran = subprocess.run([*words, str(shown), "--trace", short], capture_output=True, check=True)
    assert not ran.stderr
    whole = json.loads(short.read_text())
    assert whole["otherData"]["complete"] is True
    by_track = slices_by_track(whole)
    for name, slices in slices_by_track(trace).items():
        all_slices = by_track[name]
        assert slices == all_slices[: len(slices)]
        # Only the wait for the run's end is not there.
        assert len(all_slices) - len(slices) == (1 if name == "stalls" else 0)


def test_a_launch_of_too_many_instructions_is_cut_and_says_so(tmp_path):
    file = tmp_path / "trace.json"
    words = [COMMAND, "run", "--chip", "tiny_8", "--images", "64", "--batch", "64"]
    ran = subprocess.run(
        [*words, "--no-reference", "--quiet", "--trace", file], capture_output=True, check=True
    )
    other = json.loads(file.read_text())["otherData"]
    assert other["complete"] is False
    assert other["instructions_shown"] < other["instructions"]
    assert ran.stderr.decode().startswith("tilewave: the trace shows the first ")
    assert file.stat().st_size < MOST_BYTES


def test_it_can_go_to_standard_output(program):
    trace = json.loads(tilewave("exec", program, "--timing-only", "--trace", "-"))
    assert trace["otherData"]["complete"] is True


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        (["--trace", "-", "--json", "-"], "--trace: '-' is taken by --json"),
        (["--trace", "a.json", "--csv", "a.json"], "--trace: 'a.json' is also --csv's file"),
    ],
)
def test_a_trace_needs_a_file_of_its_own(program, tmp_path, options, answer):
    words = [COMMAND, "exec", program, "--timing-only", *options]
    ran = subprocess.run(words, capture_output=True, cwd=tmp_path, text=True)
    assert ran.returncode == 2
    assert answer in ran.stderr and ran.stderr.count("\n") == 1
    assert not any(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_said_before_any_work(program):
    words = [COMMAND, "exec", program, "--timing-only", "--trace", "nowhere/at/all.json"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
