"""The numbers that the paper prints in its Tables 1 to 6 and 9 to 11.

They are in per cent with one digit, but for the counts of Table 3.

Models are called as in Table 11: a model with several language models has that in brackets. Table 7 is not
here.
"""

from collections.abc import Mapping
from importlib import resources

import polars as pl

from benchc.rendering import published

HUMAN = "Human Performance"
HUMAN_G_ACC = 92.1
CHANCE = "Random Chance"

# The label of this row is lost in the text: the rows above complete BLIP-2, and the next three have this one.
LOST_LABELS = {5: "InstructBLIP"}
# As other tables print them.
OTHER_NAMES = {
    "BLIP-3(XGen-MM)": "BLIP-3 (XGen-MM)",
    "LLaVA-NeXT(Mistral-7B)": "LLaVA-NeXT (Mistral-7B)",
    "Phi3-Vision": "Phi-3-Vision",
    "Molmo (OLMoE-1B-7B)": "Molmo (OLMoE-1B)",
}
# Ids of config/models.yaml of which it is certain that they are the paper's model. Monkey-Chat is probably
# Monkey-10B-chat.
MODELS = {
    "llava-1.5-7b": "LLaVA-1.5 (Vicuna-7B)",
    "llava-1.5-13b": "LLaVA-1.5 (Vicuna-13B)",
    "llava-next-mistral-7b": "LLaVA-NeXT (Mistral-7B)",
    "llava-next-vicuna-7b": "LLaVA-NeXT (Vicuna-7B)",
    "llava-next-vicuna-13b": "LLaVA-NeXT (Vicuna-13B)",
    "llava-onevision-0.5b": "LLaVA-OneVision (Qwen2-0.5B)",
    "llava-onevision-7b": "LLaVA-OneVision (Qwen2-7B)",
    "qwen2-vl-2b": "Qwen2-VL (Qwen2-1.5B)",  # with its image encoder, 2B
    "qwen2-vl-7b": "Qwen2-VL (Qwen2-7B)",
    "llama-3.2-vision-11b": "Llama3.2-Vision (Llama-3.1-8B)",  # with its image encoder, 11B
    "molmo-7b-d": "Molmo (Qwen2-7B)",  # Molmo-7B-O has OLMo-7B
    "instructblip-vicuna-7b": "InstructBLIP (Vicuna-7B)",
    "instructblip-vicuna-13b": "InstructBLIP (Vicuna-13B)",
    "llava-next-34b": "LLaVA-NeXT (Nous-Hermes-2-Yi-34B)",
    "deepseek-vl-1.3b-chat": "DeepSeek-VL-1.3B-Chat",
    "deepseek-vl-7b-chat": "DeepSeek-VL-7B-Chat",
    "qwen2-vl-72b": "Qwen2-VL (Qwen2-72B)",
    "llama-3.2-vision-90b": "Llama3.2-Vision (Llama-3.1-70B)",  # with its image encoder, 90B
    "molmo-7b-o": "Molmo (OLMo-7B)",
    "molmo-72b": "Molmo (Qwen2-72B)",
    "phi-3-vision": "Phi-3-Vision",
    "internvl2-8b": "InternVL2-8B",
    "internvl2-26b": "InternVL2-26B",
    "qwen-vl-chat": "Qwen-VL-Chat",
    "gpt-4o": "GPT-4o",
}
# Of Table 11.
READINGS = {
    "decoding": "stochastic",
    "deterministic": "deterministic",
    "post_hoc": "post_hoc",
    "global": "global_tau",
    "sample": "sample_tau",
}


def published_table1() -> pl.DataFrame:
    """Return Table 1: model, acc, q_acc, i_acc, g_acc and delta_human (from ours); 55 rows.

    The first two are of people and of chance.
    """
    return _named(_read("table1.csv")).select("model", "acc", "q_acc", "i_acc", "g_acc", "delta_human")


def published_table2() -> pl.DataFrame:
    """Return Table 2: model, and {q,i,g}_acc_{original,debiased}; 8 models."""
    return _named(_read("table2.csv")).drop("image_encoder", "language_model")


def published_table3() -> pl.DataFrame:
    """Return Table 3: source, question_type, language, samples, vlms, mismatched_pairs and verified_pairs.

    Pairs are of a source, and so repeated for its types; the rows "All" have none. 8 rows.
    """
    return _read("table3.csv")


def published_table4() -> pl.DataFrame:
    """Return Table 4: model, flickr_yn, flickr_mcq, docci_yn, docci_mcq, overall; rows as in Table 1."""
    table = _named(_read("table4.csv"))
    return table.select("model", "flickr_yn", "flickr_mcq", "docci_yn", "docci_mcq", "overall")


def published_table5() -> pl.DataFrame:
    """Return Table 5: model, and {Chinese,Hindi}_{original,translated}; 4 models."""
    columns = {
        f"{name.title()}_{new}": f"{name}{ending}"
        for name in ("chinese", "hindi")
        for new, ending in (("original", ""), ("translated", "_translated"))
    }
    return _read("table5.csv").with_columns(_canonical("model")).select("model", **columns)


def published_table6() -> pl.DataFrame:
    """Return Table 6: model, flickr_adversarial (mined pairs) and flickr_random; 7 models."""
    return _read("table6.csv").with_columns(_canonical("model"))


def published_skills() -> pl.DataFrame:
    """Return Tables 9 and 10: table (9 or 10), model, group, skill and score; 7 models, 27 skills.

    They are headed Q-Acc, but the scores are G-Acc: no cell of GPT-4o is above 44.2, while its Q-Acc is 64.4
    and its G-Acc 39.6.
    """
    return _read("table9_10.csv").with_columns(_canonical("model"))


def published_table11() -> pl.DataFrame:
    """Return Table 11: model, reading, q_acc, i_acc and g_acc, null where the paper has none; 17 models."""
    table = _read("table11.csv").with_columns(_canonical("model"))
    return pl.concat(
        table.select(
            "model",
            pl.lit(reading).alias("reading"),
            *(pl.col(f"{name}_{measure}").alias(measure) for measure in ("q_acc", "i_acc", "g_acc")),
        )
        for reading, name in READINGS.items()
    )


def of_run(table: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of the models of a run, with its labels; ``labels``: by the ids of models."""
    return published.of_run(table, labels, MODELS)


def _named(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose models are told apart by their language models where Table 1 has several."""
    every = _with_labels(_read("table1.csv"))
    several = every.filter(pl.col("model").is_duplicated())["model"].unique().to_list()
    named = (
        pl.when(pl.col("model").is_in(several))
        .then(pl.format("{} ({})", "model", "language_model"))
        .otherwise("model")
        .alias("model")
    )
    return _with_labels(table).with_columns(named).with_columns(_canonical("model"))


def _with_labels(table: pl.DataFrame) -> pl.DataFrame:
    if "row" not in table.columns:
        return table
    lost = pl.col("row").replace_strict(LOST_LABELS, default=None, return_dtype=pl.String)
    return table.with_columns(pl.coalesce("model", lost).alias("model"))


def _canonical(column: str) -> pl.Expr:
    return pl.col(column).replace(OTHER_NAMES)


def _read(name: str) -> pl.DataFrame:
    data = resources.files("benchc.benchmarks.naturalbench.published").joinpath(name).read_bytes()
    return pl.read_csv(data, infer_schema_length=None)
