"""The registers that tilewave.viz draws are those of the SystemC model's array."""

import re

import numpy as np
import tilewave as tw
from conftest import ROOT, tilewave
from test_registers import read_vcd, signed

HELLO = ROOT / "tests/sim/isa/programs/hello_4x4.tws"


def simulated_registers(folder, activations, weights):
    """Values of all signals of a 4 x 4 array that multiplies these, {name: [cycle]}."""
    text = re.sub(r"weights=\[\[.*\]\]", f"weights={weights.tolist()}", HELLO.read_text())
    # The pixel p is then the activation p - 128.
    text = text.replace("scale=0.5 ", f"scale={1 / 255} zero_point=-128 ", 1)
    source, program, rows = folder / "product.tws", folder / "product.twp", folder / "rows"
    source.write_text(text)
    pixels = (activations + 128).astype(np.uint8).reshape(1, 2, 2, 4)
    rows.write_bytes(bytes([0, 0, 8, 4]) + np.array(pixels.shape, ">u4").tobytes() + bytes(pixels))
    tilewave("asm", source, "-o", program)
    array = ["--chip", "tiny_8", "--set", "array.rows=4", "--set", "array.cols=4"]
    engine = ["--engine", "systemc", "--matrix-unit", "pe"]
    vcd = tilewave(
        "exec", program, "--input", rows, *array, *engine,
        "--vcd", "-", "--vcd-signals", "rows 0:4,cols 0:4",
    )  # fmt: skip
    changes, times = read_vcd(vcd.decode())
    signals = {}
    for name, events in changes.items():
        value, values, at = 0, [], dict(events)
        for cycle in range(times[-1]):
            value = signed(at[cycle]) if cycle in at else value
            values.append(value)
        signals[name] = np.array(values)
    return signals


def test_what_is_drawn_is_what_the_systemc_model_holds(tmp_path):
    random = np.random.default_rng(6)
    weights = random.integers(-127, 128, (4, 4))
    activations = random.integers(-128, 128, (4, 4))
    drawn = tw.viz.array_registers(activations, weights)
    signals = simulated_registers(tmp_path, activations, weights)

    def simulated(register, begin):
        pes = [[signals[f"matrix_unit.pe_{r}_{c}.{register}"] for c in range(4)] for r in range(4)]
        return np.moveaxis(np.array(pes), 2, 0)[begin : begin + len(drawn)]

    # Between the shift-in and the multiply, the chip waits for its pixels.
    shift = np.flatnonzero(signals["matrix_unit.shifting_in"])[0]
    first_row = np.flatnonzero(signals["matrix_unit.multiplying"])[0]
    assert first_row > shift + 4
    assert (simulated("shadow", shift) == drawn.shadow).all()
    begin = first_row - drawn.first_row
    assert (simulated("weight", begin) == drawn.weight).all()
    inside = drawn.activation_row >= 0
    assert (simulated("activation", begin) == drawn.activation)[inside].all()
    assert (simulated("psum", begin) == drawn.psum)[inside].all()
