"""Pictures of runs, with Matplotlib: ``pip install 'tilewave[viz]'``.

Every function draws into the Matplotlib axes that it is given, or into those of a new figure, and
returns them. Colours are told apart by colour-blind readers (Okabe and Ito's palette), and by their
lightness or hatching in a grey print.

>>> import tilewave as tw
>>> result = tw.run(images=256, reference=False)
>>> axes = tw.viz.cycles(result)
>>> axes.figure.savefig("cycles.png")  # doctest: +SKIP
"""

from tilewave.viz.array import ArrayRegisters, array_registers, wavefront, wavefront_animation
from tilewave.viz.cycles import compare, cycles
from tilewave.viz.occupancy import occupancy
from tilewave.viz.pareto import pareto, pareto_front
from tilewave.viz.roofline import roofline
from tilewave.viz.timeline import timeline

__all__ = [
    "ArrayRegisters",
    "array_registers",
    "compare",
    "cycles",
    "occupancy",
    "pareto",
    "pareto_front",
    "roofline",
    "timeline",
    "wavefront",
    "wavefront_animation",
]
