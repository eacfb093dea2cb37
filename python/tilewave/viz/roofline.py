"""What a layer could reach, and what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tilewave.figures import Figures
from tilewave.viz._style import INK, PALETTE, axes_or_new, legend_beside, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vP*X"


def roofline(result: Figures, *, ax: Axes | None = None) -> Axes:
    """Draws a chip's roofline with the layers of a network that ran on it.

    Parameters
    ----------
    result : Result or Figures
        Of a run with layers, as a compiled network has them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError
        If `result` is no Result or `ax` no axes.
    ImportError
        If Matplotlib is not installed.

    Notes
    -----
    As in the TPU paper (Jouppi et al., ISCA 2017, figure 5), the slanted roof is the bandwidth of
    the weight memory, so the horizontal axis counts operations per byte of weights that the layer
    read. A multiply-accumulate is two operations. A layer's height is what it achieved in the
    cycles that are charged to it. The flat roof holds for full use of the array: below it, and
    right of the ridge, a layer lacks parallel work, not bandwidth. A layer can lie above the
    slanted roof, since its weights may come while the layer before it works; the whole run cannot.
    Layers without multiply-accumulates or weights are left out.
    """
    if not isinstance(result, Figures):
        raise TypeError(f"result: expected a Result, got {type(result).__name__}")
    ax = axes_or_new(ax, 8.5, 4.5)
    chip = result.chip
    peak = chip.peak_tops
    layers = [r for r in result.layer_records if r["macs"] > 0 and r["bytes"]["weights"] > 0]
    intensity = np.array([2.0 * r["macs"] / r["bytes"]["weights"] for r in layers])
    bandwidth = chip.to_dict()["weight_memory"]["bandwidth_gb_per_s"]
    gigabytes = None if bandwidth == "unlimited" else float(bandwidth)
    points = intensity if gigabytes is None else np.append(intensity, 1e3 * peak / gigabytes)
    low = float(points.min()) / 4 if len(points) else 1.0
    high = float(points.max(initial=low)) * 4
    x = np.geomspace(low, high, 400)
    roof = np.full_like(x, peak)
    if gigabytes is not None:
        roof = np.minimum(roof, gigabytes * x / 1e3)
    ax.plot(x, roof, color=INK, linewidth=2, label=_roof_name(peak, gigabytes))
    for i, (layer, at) in enumerate(zip(layers, intensity)):
        ax.plot(
            at, layer["tops"], _MARKERS[i % len(_MARKERS)], markersize=9, linestyle="none",
            color=PALETTE[i % len(PALETTE)], markeredgecolor=INK,
            label=f"{layer['name']}: {layer['tops']:.3g} TOPS",
        )  # fmt: skip
    if result.macs > 0 and result.bytes["weights"] > 0:
        whole = 2.0 * result.macs / result.bytes["weights"]
        ax.plot(
            whole, result.tops, "*", markersize=15, linestyle="none", color="white",
            markeredgecolor=INK, label=f"whole run: {result.tops:.3g} TOPS",
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("operations per byte of weights read")
    ax.set_ylabel("10$^{12}$ operations per second [TOPS]")
    ax.set_title(f"{result.model} on {chip.name}, {chip.rows} x {chip.cols}", loc="left")
    ax.grid(True, which="major", linewidth=0.4, color="#cccccc")
    plain(ax)
    legend_beside(ax)
    return ax


def _roof_name(peak: float, gigabytes: float | None) -> str:
    if gigabytes is None:
        return f"roof: {peak:.4g} TOPS"
    return f"roof: {peak:.4g} TOPS,\n{gigabytes:g} GB/s of weights"
