"""A command as a process of its own: its output, and what it took."""

import os
import subprocess
import tempfile
import time


def measure(command):
    """Runs the command to its end; RuntimeError if it fails. `peak_bytes` is its largest resident
    set, never less than this process' own when it starts the command, so keep this one small."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode}: {' '.join(process.args)}")
        output.seek(0)
        return {
            "output": output.read(),
            "wall_seconds": wall,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "peak_bytes": usage.ru_maxrss * 1024,
        }
