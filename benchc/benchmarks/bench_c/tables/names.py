"""How Bench-C's measures are printed, in Markdown and in LaTeX."""

import re
from typing import Any

from benchc.rendering.latex import latex_symbols
from benchc.rendering.printing import Column

NAMES = {
    "acc_clean": ("Acc(o)", r"$\mathrm{Acc}^{(o)}$"),
    "delta_acc": ("ΔAcc", r"$\Delta\mathrm{Acc}$"),
    "ras": ("RAS", r"$\mathrm{RAS}$"),
    "entropy_clean": ("S(o)", r"$\mathcal{S}^{(o)}$"),
    "entropy_clean_weighted": ("S(o), κ-weighted", r"$\mathcal{S}^{(o)}_\kappa$"),
    "delta_entropy": ("ΔS", r"$\Delta\mathcal{S}$"),
    "calibration_clean": ("C(o)", r"$\mathcal{C}^{(o)}$"),
    "calibration_clean_weighted": ("C(o), κ-weighted", r"$\mathcal{C}^{(o)}_\kappa$"),
    "delta_calibration": ("ΔC", r"$\Delta\mathcal{C}$"),
    "rank_delta_acc": ("rank ΔAcc", r"rank $\Delta\mathrm{Acc}$"),
    "rank_ras": ("rank RAS", r"rank $\mathrm{RAS}$"),
    "mean_abs_z_ras": ("E|z| RAS", r"$\mathbb{E}[|z_{\mathrm{RAS}}|]$"),
    "mean_abs_z_delta_acc": ("E|z| ΔAcc", r"$\mathbb{E}[|z_{\Delta\mathrm{Acc}}|]$"),
    "t": ("t", "$t$"),
    "wr": ("WR", "WR"),
    "rw": ("RW", "RW"),
}
COUNTS = {"rank_delta_acc", "rank_ras", "wr", "rw"}
SIGNED = {"delta_acc", "ras", "delta_entropy", "delta_calibration"}

FORMULAS = dict(
    NAMES[name] for name in ("acc_clean", "entropy_clean", "calibration_clean", "delta_acc", "ras")
) | {"|z|": "$|z|$"}


def measure(name: str, **options: Any) -> Column:
    """Return the column of a measure."""
    header, latex = NAMES[name]
    return Column(name, header, latex, signed=name in SIGNED, digits=0 if name in COUNTS else 3, **options)


def latex_caption(text: str) -> str:
    """Return a caption as LaTeX, with the names of measures as formulas."""
    parts = re.split(f"({'|'.join(map(re.escape, FORMULAS))})", text)
    return "".join(FORMULAS.get(part) or latex_symbols(part) for part in parts)


def words(name: str) -> str:
    """Return the name of a corruption as it is printed: "motion blur"."""
    return name.replace("_", " ")
