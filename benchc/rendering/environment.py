"""A LaTeX tabular with its caption and label, as an environment across both columns of a page."""


def table_environment(tabular: str, caption: str, label: str) -> str:
    """Return a ``table*`` environment; ``tabular`` and ``caption`` are LaTeX already."""
    lines = [
        r"\begin{table*}",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        tabular.rstrip("\n"),
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)
