import polars as pl

from benchc.config import settings
from benchc.models.label_mass import LOW_LABEL_MASS
from benchc.schemas.label_masses import clean_label_mass
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS
from tests.footers import footer_of


def test_the_label_mass_is_that_of_letters_on_clean_images(tmp_path):
    rows = [("a", "clean", 0, 0.25), ("b", "clean", 0, 0.75), ("a", "fog", 1, 0.0)]
    whole = [(*key, [0.0, 1.0], mass, "p", "i") for *key, mass in rows]
    table = pl.DataFrame(whole, schema=dict(PREDICTIONS.columns), orient="row")
    files = {}
    for scoring in ("classify", "letter", "text"):
        files[scoring] = tmp_path / f"{scoring}.parquet"
        write_table(table, files[scoring], PREDICTIONS, footer_of({"scoring": scoring}))
    write_table(table.tail(1), tmp_path / "fog.parquet", PREDICTIONS, footer_of({"scoring": "letter"}))
    assert clean_label_mass([files["letter"], tmp_path / "fog.parquet"]) == 0.5
    assert clean_label_mass([tmp_path / "fog.parquet"]) is None
    for scoring in ("classify", "text"):
        assert clean_label_mass([files[scoring]]) is None
    assert clean_label_mass([]) is None
    # Models are not ranked below the mass that jobs warn of.
    assert settings.LabelRanking().least_label_mass == LOW_LABEL_MASS
