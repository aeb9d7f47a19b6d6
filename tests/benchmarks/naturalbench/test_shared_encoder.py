"""A curation by the encoder that another run trained: models are added once it is finished."""

import pytest
import yaml

from scripts.naturalbench.record_demo_reviews import record_demo_reviews
from scripts.naturalbench.record_demo_writer import record_demo_writer
from tests.benchmarks.naturalbench.conftest import own_captions
from tests.workflow.checkout import Checkout

ANNOTATORS = ("first", "second")
CURATED = "results/mine/curate"


def answer(checkout: Checkout, review: str, round_: int | None = None) -> None:
    """Write the reviews of both annotators, who know what was drawn."""
    curated = checkout.folder / CURATED
    for annotator in ANNOTATORS:
        output = checkout.folder / f"reviews/{review}/{annotator}.csv"
        output.parent.mkdir(parents=True, exist_ok=True)
        record_demo_reviews(
            pairs=curated / ("pairs.parquet" if round_ is None else "kept_pairs.parquet"),
            captions=curated / "captions.parquet",
            questions=None if round_ is None else curated / f"questions/{round_}.parquet",
            round=round_,
            annotator=annotator,
            seed=1,
            output=output,
        )


@pytest.fixture(scope="module")
def checkout(finished_groups: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A curation without models and without `demo`, finished, whose encoder another run has trained."""
    checkout = finished_groups.copy(tmp_path_factory.mktemp("shared") / "benchc")
    config = yaml.safe_load((checkout.folder / checkout.config).read_text())
    checkout.config = "config/mine.yaml"
    (encoder,) = (checkout.folder / "results/models").glob("image_encoder*/")
    location = str(encoder.relative_to(checkout.folder))
    curate = config["curate"]
    curate["captions"] = own_captions(checkout)
    curate["mine"]["encoders"] = ["my-clip"]
    curate["review"]["folder"] = "reviews"
    curate["writer"] |= {"recordings": "recordings", "more_rounds": 0}
    config |= dict.fromkeys(("translate", "fine_tuning", "retrieval", "demo"))
    config |= {"name": "mine", "sources": [], "models": [], "blind": {}}
    config["encoders"] = {"my-clip": {"label": "Mine", "name": location}}
    (checkout.folder / checkout.config).write_text(yaml.safe_dump(config, sort_keys=False))
    checkout.configure(corruptions={"types": []})

    checkout.make(f"{CURATED}/pairs.parquet")
    answer(checkout, "pairs")
    checkout.make(f"{CURATED}/kept_pairs.parquet")
    files = {name: checkout.folder / f"{CURATED}/{name}.parquet" for name in ("kept_pairs", "captions")}
    kinds = curate["writer"]["types"]
    record_demo_writer(
        pairs=files["kept_pairs"],
        captions=files["captions"],
        model=curate["writer"]["model"],
        templates={kind: checkout.folder / f"config/prompts/naturalbench_{kind}.txt" for kind in kinds},
        rounds=1,
        seed=1,
        output=checkout.folder / "recordings",
    )
    checkout.make(f"{CURATED}/questions/0.parquet")
    answer(checkout, "0", 0)
    checkout.make()
    assert checkout.plan() == {}
    return checkout


def test_models_are_scored_without_a_step_of_the_curation_or_the_training_of_its_encoder(
    checkout: Checkout,
) -> None:
    # Table 3 describes the groups that a run reads, too.
    curation = set(checkout.plan("--forceall")) - {"configuration", "describe_models", "table3"}
    assert {"embed_captions", "mine", "keep_pairs", "assemble"} < curation
    before = checkout.hashes("results/models", CURATED)
    sources = checkout.folder / "config/small-sources.yaml"
    mine = {"label": "Mine", "path": f"{CURATED}/groups.tsv", "task_column": "category"}
    sources.write_text(yaml.safe_dump({**yaml.safe_load(sources.read_text()), "mine": mine}))
    # Other settings than those by which the other run trained the encoder.
    demo = {"seed": 2, "training_set": {"items_per_category": 8}}
    config = checkout.folder / checkout.config
    added = {"sources": ["mine"], "models": ["trained"], "demo": demo}
    config.write_text(yaml.safe_dump({**yaml.safe_load(config.read_text()), **added}, sort_keys=False))
    planned = checkout.plan()
    assert planned["train_demo_model"] == planned["generate_training_set"] == planned["score_groups"] == 1
    assert not {"train_demo_encoder", *curation} & set(planned), planned
    checkout.configure(demo={"image_encoder": {"steps": 4}})
    assert checkout.plan() == planned

    table = "results/mine/tables/table1.csv"
    checkout.make(table)
    after = checkout.hashes("results/models", CURATED)
    assert {file: after[file] for file in before} == before
    assert checkout.plan(table) == {}
    # The run whose encoder it is.
    assert checkout.plan("--configfile", "config/groups.yaml") == {}
