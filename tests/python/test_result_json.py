"""The result file of `tilewave run`: its keys, its sums, and that it is always the same."""

import json

import pytest
from conftest import tilewave

RUN_KEYS = {
    "schema_version", "tilewave_version", "chip", "scheme", "model", "engine", "batch", "images",
    "accuracy", "accuracy_fp32", "agreement_fp32", "cycles", "seconds", "images_per_second",
    "latency_seconds", "unified_buffer_peak_bytes", "overflows", "layers", "host",
}  # fmt: skip
FIGURES = {"counters", "waiting", "macs", "utilization", "tops", "bytes", "energy_joules"}
LAYER_KEYS = {"name", "op", "m", "n", "k", "tiles", "overflows"}
STALLS = {"weight_stall", "weight_shift", "input_stall", "raw_stall", "accumulator_stall"}
CLASSES = STALLS | {"active", "drain", "idle"}
BYTES = {
    "host_in", "host_out", "weights", "unified_buffer_read", "unified_buffer_write",
    "accumulator_read", "accumulator_write",
}  # fmt: skip


def without_host(text):
    """The file's bytes up to its last key, "host"."""
    head, separator, _ = text.rpartition(b'\n  "host": {')
    assert separator
    return head


def small_run(*options):
    return tilewave("run", "--images", 600, "--json", "-", *options)


def test_the_keys_that_users_rely_on_are_there(full_run):
    assert RUN_KEYS | FIGURES <= full_run.keys()
    assert full_run["host"].keys() >= {"wall_seconds", "threads", "cpu"}
    for part in [full_run, *full_run["layers"]]:
        assert part.keys() >= FIGURES
        assert part["counters"].keys() == CLASSES | {"active_useful", "active_unused"}
        assert part["waiting"].keys() == STALLS
        assert part["bytes"].keys() == BYTES
    for layer in full_run["layers"]:
        assert layer.keys() >= LAYER_KEYS


def test_every_cycle_is_in_exactly_one_class(full_run):
    assert sum(full_run["counters"][name] for name in CLASSES) == full_run["cycles"]


@pytest.mark.parametrize("group, names", [("counters", CLASSES), ("bytes", BYTES)])
def test_the_layers_add_up_to_the_run(full_run, group, names):
    for name in names:
        assert sum(layer[group][name] for layer in full_run["layers"]) == full_run[group][name]


def test_the_macs_are_those_of_the_network(full_run):
    layers = {layer["name"]: layer["m"] * layer["n"] * layer["k"] for layer in full_run["layers"]}
    per_image = 28 * 28 * 64 * 4 + 14 * 14 * 32 * 256 + 1568 * 256 + 256 * 10
    assert sum(layers.values()) == per_image
    launched = -(-full_run["images"] // full_run["batch"]) * full_run["batch"]
    assert full_run["macs"] == launched * per_image


def test_simulated_time_follows_from_the_cycles(full_run):
    hertz = full_run["chip"]["clock_mhz"] * 1e6
    assert full_run["seconds"] == pytest.approx(full_run["cycles"] / hertz, rel=1e-12)
    assert full_run["images_per_second"] == pytest.approx(10_000 / full_run["seconds"], rel=1e-12)


def test_the_number_of_threads_changes_no_byte_outside_host():
    one, two = small_run("--threads", 1), small_run("--threads", 2)
    assert without_host(one) == without_host(two)
    assert json.loads(one)["host"]["threads"] == 1
    assert json.loads(two)["host"]["threads"] == 2


def test_the_same_run_twice_gives_the_same_file_outside_host():
    assert without_host(small_run()) == without_host(small_run())
