"""Reports: a run, or a table of experiments, as one HTML file that needs nothing else.

Needs Matplotlib, pandas and Jinja2: ``pip install 'tilewave[report]'``.
"""

from tilewave.report.experiment import is_experiment, write_experiment_report
from tilewave.report.run import write_report

__all__ = ["is_experiment", "write_experiment_report", "write_report"]
