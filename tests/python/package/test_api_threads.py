"""Long work leaves the interpreter to others, and stops at Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import tilewave as tw

# Far longer than any test waits.
ENDLESS = 10**9
# On tiny_8, a program of millions of instructions.
LARGE_BATCH = 2_000
SECONDS_UNTIL_IT_IS_STUCK = 60


@pytest.fixture(scope="module")
def quantized():
    return tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration)


@pytest.fixture(scope="module")
def program(quantized):
    return tw.compile(quantized, tw.Chip.load("tpu_v1"), 64)


def endless_calls(quantized, program):
    images = tw.datasets.mnist().test
    images = tw.Images(images.images.repeat(20, axis=0))
    one = tw.compile(quantized, tw.Chip.load("tpu_v1"), len(images))
    many = tw.Scheme(calibration_images=len(images))
    return {
        "timeline, cycles": lambda: tw.simulate(program, launches=ENDLESS),
        "timeline, values": lambda: tw.simulate(program, images),
        "timeline, values of one launch": lambda: tw.simulate(one, images),
        "systemc/tile": lambda: tw.simulate(program, images, engine="systemc"),
        "systemc/pe": lambda: tw.simulate(program, images, engine="systemc", matrix_unit="pe"),
        "reference, fp32": lambda: tw.reference(quantized, images, precision="fp32"),
        "reference, int8": lambda: tw.reference(quantized, images),
        "quantize": lambda: tw.quantize(quantized.graph, images, many),
        "compile": lambda: tw.compile(quantized, tw.Chip.load("tiny_8"), LARGE_BATCH),
    }


class Stopped(Exception):
    """Raised by a signal handler, as KeyboardInterrupt is."""


def test_a_signal_handlers_exception_ends_every_kind_of_work(quantized, program):
    def handler(number, frame):
        raise Stopped

    previous = signal.signal(signal.SIGUSR1, handler)
    try:
        for name, call in endless_calls(quantized, program).items():
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
            with pytest.raises(Stopped):
                timer.start()
                call()
            timer.join()
            assert name
    finally:
        signal.signal(signal.SIGUSR1, previous)
    # Nothing is left that would stop the next one.
    assert tw.simulate(program, launches=2).cycles > 0


def test_ctrl_c_in_a_script_is_a_keyboard_interrupt():
    script = """
import sys
import tilewave as tw
q = tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration)
program = tw.compile(q, tw.Chip.load("tpu_v1"), 64)
try:
    print("ready", flush=True)
    tw.simulate(program, launches=10**9)
except KeyboardInterrupt:
    sys.exit(7)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    with process.stdout:
        assert process.stdout.readline() == b"ready\n"
        # One that comes before the call is an interrupt as well, but of another line.
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS_UNTIL_IT_IS_STUCK) == 7


def test_python_goes_on_while_a_simulation_runs(program):
    """The simulation ends only when the other thread, which needs the interpreter, says so."""
    begun = threading.Event()
    done = threading.Event()
    counted = 0

    def count_and_stop():
        nonlocal counted
        begun.wait()
        while counted < 200_000:
            counted += 1
        done.set()
        signal.raise_signal(signal.SIGUSR1)

    def handler(number, frame):
        raise Stopped

    previous = signal.signal(signal.SIGUSR1, handler)
    counter = threading.Thread(target=count_and_stop)
    try:
        counter.start()
        with pytest.raises(Stopped):
            begun.set()
            tw.simulate(program, launches=ENDLESS)
    finally:
        counter.join()
        signal.signal(signal.SIGUSR1, previous)
    assert done.is_set()
    assert counted == 200_000


def test_two_simulations_of_two_threads_do_not_mix(program):
    images = tw.datasets.mnist().test[:640]
    alone = tw.simulate(program, images).outputs.tobytes()
    started = threading.Barrier(2)
    outputs = [b"", b""]

    def work(index):
        started.wait(SECONDS_UNTIL_IT_IS_STUCK)
        outputs[index] = tw.simulate(program, images, threads=1).outputs.tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == [alone, alone]


def test_two_simulations_work_at_the_same_time():
    """One never ends; while another of the same process runs from its start to its end, the first
    takes processor time, by the kernel's own account of its threads."""
    script = """
import os, sys, threading
from pathlib import Path
import tilewave as tw
q = tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration)
program = tw.compile(q, tw.Chip.load("tpu_v1"), 64)
mine = threading.get_native_id()

def ticks(tasks):
    total = 0
    for task in tasks:
        user, system = Path(f"/proc/self/task/{task}/stat").read_text().split()[13:15]
        total += int(user) + int(system)
    return total

threading.Thread(target=lambda: tw.simulate(program, launches=10**9), daemon=True).start()
for attempt in range(200):
    others = [t for t in os.listdir("/proc/self/task") if int(t) != mine]
    before = ticks(others)
    finite = tw.simulate(program, launches=20_000)
    assert finite.cycles > 0
    if ticks(others) - before >= 3:
        os._exit(7)
"""
    ended = subprocess.run([sys.executable, "-c", script], timeout=10 * SECONDS_UNTIL_IT_IS_STUCK)
    assert ended.returncode == 7


def test_a_systemc_run_that_waits_for_its_turn_can_be_stopped(program):
    """One process runs one at a time; the one that holds the kernel here never ends by itself."""
    script = """
import os, signal, sys, threading, time
import tilewave as tw
q = tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration)
program = tw.compile(q, tw.Chip.load("tpu_v1"), 64)
def run():
    tw.simulate(program, launches=10**9, engine="systemc")
threading.Thread(target=run, daemon=True).start()
time.sleep(0.5)
try:
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    run()
except KeyboardInterrupt:
    os._exit(7)
"""
    ended = subprocess.run([sys.executable, "-c", script], timeout=SECONDS_UNTIL_IT_IS_STUCK)
    assert ended.returncode == 7
