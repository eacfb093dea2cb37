"""--vcd and --fault of the command: what GTKWave would be given, and what a broken array does."""

import json
import os
import re
import resource
import signal
import subprocess
import time

import numpy as np
import pytest
from conftest import COMMAND, ROOT, tilewave

PE = ["--engine", "systemc", "--matrix-unit", "pe"]
SMALL = ["--chip", "tiny_8", "--images", 2, "--batch", 1, "--no-reference"]
HELLO = ROOT / "tests/sim/isa/programs/hello_4x4.tws"
# The weights of that program.
PIXELS = np.arange(0, 256, 16, dtype=np.uint8).reshape(4, 4)  # rows of the multiply
WEIGHTS = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, -1]])


@pytest.fixture
def hello(tmp_path):
    """The first program of docs/isa.md, four rows for it, and options to run it on 4 x 4 PEs."""
    program, rows = tmp_path / "hello.twp", tmp_path / "rows"
    tilewave("asm", HELLO, "-o", program)
    pixels = PIXELS.reshape(1, 2, 2, 4)
    rows.write_bytes(bytes([0, 0, 8, 4]) + np.array(pixels.shape, ">u4").tobytes() + bytes(pixels))
    options = ["exec", program, "--input", rows, *PE, "--chip", "tiny_8"]
    options += ["--set", "array.rows=4", "--set", "array.cols=4"]
    return options


def read_vcd(text):
    """Changes of each signal, {name: [(time, bits), ...]}, and all times."""
    head, body = text.split("$enddefinitions $end\n")
    scopes, names, changes, times = [], {}, {}, []
    for words in re.findall(r"\$(scope|upscope|var) (.*?) ?\$end", head):
        if words[0] == "scope":
            scopes.append(words[1].split()[1])
        elif words[0] == "upscope":
            scopes.pop()
        else:
            _, _, code, name = words[1].split()[:4]
            names[code] = ".".join([*scopes, name])
            changes[names[code]] = []
    assert not scopes
    for line in body.splitlines():
        if line.startswith("#"):
            times.append(int(line[1:]))
        elif not line.startswith("$"):
            value, code = line[1:].split() if line[0] == "b" else (line[0], line[1:])
            changes[names[code]].append((times[-1], value))
    return changes, times


def signed(bits):
    value = int(bits, 2)
    return value - (1 << len(bits)) if bits[0] == "1" and len(bits) > 1 else value


def refused(*options):
    words = [COMMAND, *map(str, options)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_the_weights_and_sums_of_a_program_are_in_its_waveform(hello, tmp_path):
    vcd = tmp_path / "out.vcd"
    result = tmp_path / "out.json"
    tilewave(*hello, "--vcd", vcd, "--vcd-signals", "rows 0:4,cols 0:4", "--json", result)
    changes, times = read_vcd(vcd.read_text())
    assert times == sorted(set(times))
    assert times[0] == 0
    assert times[-1] == json.loads(result.read_text())["cycles"]
    pes = {name for name in changes if ".pe_" in name}
    registers = ["activation", "weight", "shadow", "psum"]
    assert pes == {
        f"matrix_unit.pe_{r}_{c}.{name}" for r in range(4) for c in range(4) for name in registers
    }
    for (row, column), weight in np.ndenumerate(WEIGHTS):
        held = changes[f"matrix_unit.pe_{row}_{column}.weight"]
        assert signed(held[-1][1]) == weight
        assert {len(bits) for _, bits in held} == {8}
    entering = {signed(bits): time for time, bits in changes["matrix_unit.entering_row"]}
    sums = np.rint(PIXELS / 255 / 0.5).astype(int) @ WEIGHTS
    for (row, column), expected in np.ndenumerate(sums):
        leaves = entering[row] + 3 + column
        psum = changes[f"matrix_unit.pe_3_{column}.psum"]
        bits = [bits for time, bits in psum if time <= leaves][-1]
        assert len(bits) == 32
        assert signed(bits) == expected


def test_a_waveform_changes_nothing_else(tmp_path):
    def without_host(text):
        return text[: text.rindex(b'\n  "host": {')]

    vcd = tmp_path / "out.vcd"
    plain = tilewave("run", *PE, *SMALL, "--json", "-")
    shown = tilewave("run", *PE, *SMALL, "--json", "-", "--vcd", vcd, "--vcd-cycles", "3000:3100")
    assert without_host(shown) == without_host(plain)
    changes, times = read_vcd(vcd.read_text())
    assert times[0] == 3000
    assert times[-1] == 3100
    # 8 activations, 8 shadow weights and 8 sums on the edges.
    assert sum(".pe_" in name for name in changes) == 24


def test_a_waveform_goes_to_standard_output_alone(hello):
    out = tilewave(*hello, "--vcd", "-").decode()
    assert out.startswith("$version tilewave")
    assert "where the cycles went" not in out


def test_what_cannot_be_shown_is_refused_in_one_line(hello, tmp_path):
    vcd = tmp_path / "out.vcd"
    show = ["--vcd", vcd]
    assert "--engine systemc --matrix-unit pe" in refused("run", *SMALL, *show)
    tile = ["--engine", "systemc", "--matrix-unit", "tile"]
    assert "systemc/tile does not model" in refused("run", *tile, *SMALL, *show)
    assert "needs --vcd" in refused("run", *PE, *SMALL, "--vcd-cycles", "0:5")
    assert "FROM:TO" in refused("run", *PE, *SMALL, *show, "--vcd-cycles", "5:5")
    assert "edges, diagonal" in refused("run", *PE, *SMALL, *show, "--vcd-signals", "all")
    assert "0:8" in refused(*["run", *PE, *SMALL, *show, "--vcd-signals", "rows 0:9,cols 0:1"])
    large = ["--chip", "tpu_v1", "--images", 1, "--batch", 1, "--no-reference"]
    window = ["--vcd-signals", "rows 0:33,cols 0:32"]
    assert "4224 signals are too many" in refused("run", *PE, *large, *show, *window)
    far = ["--vcd-cycles", "1000000:1000001"]
    assert "the run was over after" in refused(*hello, *show, *far)
    program = hello[1]
    assert "is an input" in refused(*hello, "--vcd", program)
    assert "also --json's" in refused(*hello, "--vcd", vcd, "--json", vcd)
    assert "taken by --json" in refused(*hello, "--vcd", "-", "--json", "-")
    assert sorted(os.listdir(tmp_path)) == ["hello.twp", "rows"]


def test_systemc_takes_the_matrix_unit_with_registers_where_none_is_chosen(tmp_path):
    vcd = tmp_path / "out.vcd"
    out = tilewave("run", "--engine", "systemc", *SMALL, "--vcd", vcd, "--json", "-")
    assert json.loads(out)["engine"] == "systemc/pe"
    assert vcd.exists()


def test_the_report_says_what_a_stuck_bit_changed(tmp_path):
    fault = "matrix_unit.pe_0_0.weight bit 7 stuck-at-1 from 0"
    sound = json.loads(tilewave("run", *PE, *SMALL, "--json", "-"))
    assert sound["faults"] is None
    result = json.loads(tilewave("run", *PE, *SMALL, "--json", "-", "--fault", fault))
    faults = result["faults"]
    assert faults["stuck"] == [fault]
    assert faults["bits_forced"] > 0
    assert faults["bits_flipped"] == 0
    assert faults["outputs"] == 20
    assert 0 < faults["outputs_changed"] <= 20
    assert 0 <= faults["classes_changed"] <= faults["images"] == 2
    assert result["cycles"] == sound["cycles"]
    text = tilewave("run", *PE, *SMALL, "--fault", fault).decode()
    assert f"changed {faults['outputs_changed']} of 20 outputs" in text


def test_a_file_over_the_size_limit_is_a_failed_write(hello, tmp_path):
    out = tmp_path / "out.vcd"
    run = subprocess.run(
        [str(word) for word in [COMMAND, *hello, "--quiet", "--vcd", out]],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1 and "out.vcd" in run.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("out.vcd")]


def test_random_flips_are_those_of_their_seed():
    def outcome(*options):
        return json.loads(tilewave("run", *PE, *SMALL, "--json", "-", *options))["faults"]

    one = outcome("--fault-rate", 0.01, "--fault-seed", 1)
    assert one["bits_flipped"] > 0
    assert one == outcome("--fault-rate", 0.01, "--fault-seed", 1)
    assert one["bits_flipped"] != outcome("--fault-rate", 0.01, "--fault-seed", 2)["bits_flipped"]
    assert outcome("--fault-rate", 0) is None


@pytest.mark.parametrize(
    "options, message",
    [
        (["--fault", "weight bit 6"], "matrix_unit.pe_ROW_COLUMN"),
        (
            ["--fault", "matrix_unit.pe_8_0.weight bit 6 stuck-at-1"],
            "row 8 does not exist (0 to 7)",
        ),
        (["--fault", "matrix_unit.pe_0_0.psun bit 6 stuck-at-1"], "did you mean psum?"),
        (["--fault-rate", "many"], "a number from 0 to 100"),
        (["--fault-rate", "nan"], "a number from 0 to 100"),
        (["--fault-seed", "3"], "needs --fault-rate"),
    ],
)
def test_what_cannot_be_broken_is_refused_in_one_line(options, message):
    assert message in refused("run", *PE, *SMALL, *options)


def test_faults_need_the_engine_with_registers():
    assert "--engine systemc --matrix-unit pe" in refused("run", *SMALL, "--fault-rate", 1)


def test_ctrl_c_ends_a_run_with_one_line_and_no_file(tmp_path):
    vcd = tmp_path / "out.vcd"
    options = ["--batch", "256", "--no-reference", "--vcd", str(vcd), "--json", str(vcd) + ".json"]
    process = subprocess.Popen(
        [COMMAND, "run", *PE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(600):  # until it simulates
        if os.listdir(tmp_path):
            break
        time.sleep(0.1)
    assert os.listdir(tmp_path)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, error) == ("", "tilewave: interrupted\n")
    assert os.listdir(tmp_path) == []
