"""Reports: a run, or a table of experiments, as one HTML file that needs nothing else.

Needs Matplotlib and Jinja2: ``pip install 'tilewave[report]'``.
"""

from tilewave.report.run import write_report

__all__ = ["write_report"]
