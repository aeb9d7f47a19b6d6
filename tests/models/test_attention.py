"""The attention that an entry asks for: in all parts of a model, in the key, or refused in one line."""

import polars as pl
import pytest
import torch

from benchc.hugging_face import transformers
from benchc.models import checkpoint
from benchc.models.attention import require_attention
from benchc.models.checkpoint import load
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.schemas.parquet import read_footer
from scripts.commands.cache import settings_of
from tests.models import test_cache_commands
from tests.models.classes.builders import save
from tests.models.conftest import FAMILIES
from tests.models.stand_ins.device import StandInDevice
from tests.models.test_cache_commands import COMPUTED, PREDICTIONS, predicted

folder, job = test_cache_commands.folder, test_cache_commands.job


def test_another_attention_has_its_own_predictions_and_the_default_those_of_sdpa(job, capsys, monkeypatch):
    calls = []
    sdpa = torch.nn.functional.scaled_dot_product_attention

    def counted(*values, **options):
        calls.append(values[0].shape)
        return sdpa(*values, **options)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", counted)
    assert predicted(job, capsys) == COMPUTED
    plain, used = pl.read_parquet("out.parquet"), len(calls)
    assert predicted(job, capsys, **{"model.attention": "sdpa"}) == (PREDICTIONS, 0)
    # A job compares its first unit in any case.
    with_cache = len(calls)
    assert 0 < with_cache - used < used / 4
    assert predicted(job, capsys, **{"model.attention": "eager"}) == COMPUTED
    assert len(calls) == with_cache
    assert read_footer("out.parquet")["attention"] == "model eager, vision_config eager, text_config eager"
    eager = pl.read_parquet("out.parquet")
    columns = ["id", "corruption", "severity", "prompt_hash", "image_hash"]
    assert eager.select(columns).equals(plain.select(columns))
    differences = (eager["logits"].explode() - plain["logits"].explode()).abs()
    assert 0 < differences.max() < 1e-5


def test_flash_attention_is_named_in_the_list_of_the_cache():
    found = [list(settings_of({"attention": f"model {name}"})) for name in ("sdpa", "flash_attention_2")]
    assert found == [[], ["flash_attention_2"]]


@pytest.mark.parametrize("divided", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_vision_tower_and_language_model_have_the_attention(
    checkpoints, family, divided, monkeypatch, tmp_path
):
    if divided:  # the layer is read from disk in each pass, as that of another GPU gets its input
        names = load(CheckpointSource(str(checkpoints[family]))).model.state_dict()
        parts = {name: "disk" if ".layers.1." in name else "cpu" for name in names}
        given = {"device_map": parts, "offload_folder": str(tmp_path)}
        monkeypatch.setattr(checkpoint, "division", lambda _: given)
        monkeypatch.setattr(checkpoint, "place", lambda *_: None)
    model = load(CheckpointSource(str(checkpoints[family]), attention="eager")).model
    assert hasattr(model, "hf_device_map") == divided
    parts = [part for part in model.modules() if isinstance(part, transformers.PreTrainedModel)]
    assert len(parts) > 2 and {part.config._attn_implementation for part in parts} == {"eager"}
    source = CheckpointSource("m", attention="eager")
    require_attention(model, source)
    parts[-1].config._attn_implementation = "sdpa"
    with pytest.raises(ModelError, match=r"m: \w+ does not support `attention: eager`; choose another, or"):
        require_attention(model, source)


def test_eager_attention_is_refused_for_a_tower_of_timm_which_ignores_it(tmp_path):
    save("fast_vlm", tmp_path)
    with pytest.raises(
        ModelError, match=r": TimmWrapperModel does not support `attention: eager`; choose an"
    ):
        load(CheckpointSource(str(tmp_path), attention="eager"))
    load(CheckpointSource(str(tmp_path), attention="sdpa"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"device": "cpu"}, "has attention: flash_attention_2 without gpus, but it computes on a GPU alone"),
        ({"dtype": "float32"}, "has attention: flash_attention_2 and dtype: float32, in which it cannot"),
        (
            {},
            "`attention: flash_attention_2` needs the package flash_attn, 2.3.3 or later, which is not inst",
        ),
    ],
)
def test_what_flash_attention_lacks_is_one_line(checkpoints, options, sentence):
    given = {"device": "cuda", "dtype": "bfloat16", "attention": "flash_attention_2", **options}
    with pytest.raises(ModelError, match=sentence) as caught:
        load(CheckpointSource(str(checkpoints["llava"]), **given))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("attention", "flag"), [("flash_attention_2", "_supports_flash_attn"), ("sdpa", "_supports_sdpa")]
)
def test_a_part_that_does_not_support_the_attention_is_one_line(checkpoints, attention, flag, monkeypatch):
    monkeypatch.setattr(transformers.CLIPVisionModel, flag, False)
    monkeypatch.setattr(transformers.utils, "is_flash_attn_2_available", lambda: True)
    monkeypatch.setattr(transformers.PreTrainedModel, "_flash_attn_import_error", lambda *_, **__: None)
    monkeypatch.setattr("transformers.modeling_utils.lazy_import_flash_attention", lambda *_, **__: None)
    source = CheckpointSource(str(checkpoints["llava"]), device="cuda", dtype="bfloat16", attention=attention)
    with (
        StandInDevice(),
        pytest.raises(
            ModelError, match=rf"CLIPVision\w+ does not support `attention: {attention}`; choose an"
        ),
    ):
        load(source)
