from types import SimpleNamespace

from benchc.benchmarks.mllm_ic.figure_outputs import figure_outputs
from benchc.benchmarks.mllm_ic.hierarchy_outputs import hierarchy_outputs
from benchc.benchmarks.mllm_ic.settings import Corruptions, Figures, Hierarchy, Settings, Tables
from benchc.benchmarks.mllm_ic.table_outputs import table_outputs
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS

LABELS = {"tiny": "Tiny", "mine": "Mine"}


def declared(labels: dict[str, str] = LABELS, hierarchy: Hierarchy | None = None, **figures: object):
    """Return the outputs by name of a run with the default settings, but those of figures."""
    corruptions = Corruptions(suite="mllm-ic", types=[*CATEGORIES])
    given = {"corruptions": corruptions, "tables": Tables(), "hierarchy": hierarchy}
    settings = Settings.model_construct(**given, figures=Figures.model_validate(figures))
    run = SimpleNamespace(images=SimpleNamespace(suite=MLLM_IC, groups=CATEGORIES))
    makers = (table_outputs, figure_outputs, hierarchy_outputs)
    return {output.name: output for make in makers for output in make(run, settings, labels)}


def test_without_hierarchy_the_explorer_is_left_and_a_caption_names_the_pictures():
    explorer = declared()["cube_explorer"]
    assert explorer.settings["levels"] == LEVELS and explorer.settings["categories"] == CATEGORIES
    assert declared(hierarchy=Hierarchy()).keys() - declared() == {"figure3", "hierarchy"}
    cifar = Hierarchy(images="cifar.tar.gz", weights="wrn.pt")
    assert "of CIFAR-10 and a WRN-40-2" in declared(hierarchy=cifar)["figure3"].caption
    assert "pictures of the pool" in declared(hierarchy=Hierarchy())["figure3"].caption


def test_every_table_has_all_models_and_the_categories_of_the_run() -> None:
    for output in declared().values():
        if output.kind != "table":
            continue
        assert output.inputs["outcomes"] == [f"<results>/outcomes/{id_}.parquet" for id_ in LABELS]
        assert output.settings.get("labels", LABELS) == LABELS
        assert output.settings.get("categories", CATEGORIES) == CATEGORIES


def test_radars_leave_out_the_models_that_settings_name_and_say_so() -> None:
    figures = declared(left_out=["mine"])
    for name in ("figure6", "figure7", "figure8", "figure9"):
        assert figures[name].inputs["outcomes"] == ["<results>/outcomes/tiny.parquet"]
        assert figures[name].settings["labels"] == {"tiny": "Tiny"}
        assert "Without Mine" in figures[name].caption and "Without" not in declared()[name].caption
    assert figures["figure4"].settings["labels"] == LABELS


def test_figures_5_and_10_show_what_the_paper_has_unless_settings_name_others() -> None:
    assert declared()["figure5"].settings["types"] == ["motion_blur", "snow", "gaussian_noise"]
    assert declared(figure5={"types": ["fog"]})["figure5"].settings["types"] == ["fog"]
    assert declared()["figure10"].settings["labels"] == {"tiny": "Tiny"}
    paper = {"deepseek-vl-7b-chat": "DeepSeek"}
    figure10 = declared(LABELS | paper)["figure10"]
    assert figure10.settings["labels"] == paper and "accuracy of DeepSeek" in figure10.caption
    assert figure10.inputs["outcomes"] == ["<results>/outcomes/deepseek-vl-7b-chat.parquet"]
    named = declared(LABELS | paper, figure10={"model": "mine"})["figure10"]
    assert named.settings["labels"] == {"mine": "Mine"}
