"""tilewave: a simulator of low-precision inference accelerators built around a systolic array.

>>> import tilewave as tw
>>> data = tw.datasets.mnist()
>>> graph = tw.load_model("mnist_cnn")
>>> q = tw.quantize(graph, calibration=data.calibration)
>>> program = tw.compile(q, tw.Chip.load("tpu_v1"), batch=256)
>>> result = tw.simulate(program, data.test)
>>> result.cycles
10348314
"""

from tilewave import datasets, report, viz
from tilewave._core import InputError, InternalError
from tilewave._core import version as __version__
from tilewave.chip import Chip
from tilewave.datasets import Dataset, Images
from tilewave.diagnosis import Diagnosis, LayerDiagnosis, diagnose
from tilewave.experiments import study, sweep
from tilewave.figures import Figures, load_result
from tilewave.graph import Graph, GraphNode, load_model, model_names
from tilewave.program import Instruction, Instructions, Program, compile
from tilewave.quantization import LayerScheme, QuantizedGraph, QuantizedNode, Scheme, quantize
from tilewave.reference import Reference, reference
from tilewave.result import Result
from tilewave.simulation import run, simulate
from tilewave.trace import Occupancy, Trace

__all__ = [
    "Chip",
    "Dataset",
    "Diagnosis",
    "Figures",
    "Graph",
    "GraphNode",
    "Images",
    "InputError",
    "Instruction",
    "Instructions",
    "InternalError",
    "LayerDiagnosis",
    "LayerScheme",
    "Occupancy",
    "Program",
    "QuantizedGraph",
    "QuantizedNode",
    "Reference",
    "Result",
    "Scheme",
    "Trace",
    "__version__",
    "compile",
    "datasets",
    "diagnose",
    "load_model",
    "load_result",
    "model_names",
    "quantize",
    "reference",
    "report",
    "run",
    "simulate",
    "study",
    "sweep",
    "viz",
]
