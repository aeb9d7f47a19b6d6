"""Which encoders are those of the paper's Table 7. Imports nothing heavy: rules use it, too."""

from collections.abc import Mapping

from benchc.models.encoders.names import Library

# The labels of published_table7 by open_clip's names and tags. The weights of OpenAI have QuickGELU, with
# which the paper's code loads them by any name. Not here, since several weights fit what the paper prints:
# those of LAION for ViT-g-14, and SigLIP, whose image sizes it does not print.
LABELS: Mapping[tuple[str, str], str] = {
    **{
        (f"{name}-quickgelu", "openai"): f"CLIP OpenAI {name}"
        for name in ("RN50", "RN101", "RN50x4", "RN50x16", "RN50x64", "ViT-B-32", "ViT-L-14")
    },
    ("roberta-ViT-B-32", "laion2b_s12b_b32k"): "CLIP LAION roberta-ViT-B-32",
    ("ViT-H-14", "laion2b_s32b_b79k"): "CLIP LAION ViT-H-14",
    ("ViT-bigG-14", "laion2b_s39b_b160k"): "CLIP LAION ViT-bigG-14",
    ("xlm-roberta-base-ViT-B-32", "laion5b_s13b_b90k"): "CLIP LAION xlm-roberta-base-ViT-B-32",
    ("xlm-roberta-large-ViT-H-14", "frozen_laion5b_s13b_b90k"): "CLIP LAION xlm-roberta-large-ViT-H-14",
    ("ViT-B-32", "datacomp_s_s13m_b4k"): "CLIP DataComp small: ViT-B-32",
    ("ViT-B-32", "datacomp_m_s128m_b4k"): "CLIP DataComp medium: ViT-B-32",
    ("ViT-B-16", "datacomp_l_s1b_b8k"): "CLIP DataComp large: ViT-B-16",
    ("ViT-L-14", "datacomp_xl_s13b_b90k"): "CLIP DataComp xlarge: ViT-L-14",
}


def published_label(library: Library, name: str, pretrained: str | None) -> str | None:
    """Return the label in Table 7 of an encoder of a run; None where it is certain for none."""
    return LABELS.get((name, pretrained or "")) if library == "open_clip" else None
