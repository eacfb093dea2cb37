"""``python -m tilewave``: what needs Python. Everything else is the command ``tilewave``."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from tilewave.figures import load_result


class _Parser(argparse.ArgumentParser):
    """Answers a mistake in one line, as the command does."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def _report(options: argparse.Namespace) -> None:
    from tilewave.report import is_experiment, write_experiment_report, write_report

    if is_experiment(options.result):
        write_experiment_report(options.result, options.output)
    else:
        write_report(load_result(options.result), options.output)


def main(arguments: list[str] | None = None) -> int:
    """Runs a command line; returns the exit code: 0 done, 1 the work failed, 2 wrong input."""
    parser = _Parser(prog="python -m tilewave", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser("report", help="results as one HTML file")
    report.add_argument(
        "result", metavar="RESULT.json",
        help="from `tilewave run --json`; or the folder of a sweep or study",
    )  # fmt: skip
    report.add_argument("-o", "--output", metavar="FILE.html", required=True)
    report.set_defaults(work=_report)
    options = parser.parse_args(arguments)
    try:
        options.work(options)
    except (ValueError, FileNotFoundError, IsADirectoryError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    except (ImportError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
