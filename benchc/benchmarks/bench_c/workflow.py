"""What the rules ask about a run of Bench-C: its subsets, encoders and outputs."""

from typing import ClassVar, cast

from benchc.benchmarks.bench_c import outputs
from benchc.benchmarks.bench_c.results_page import results_page
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.load import Config
from benchc.models.encoders.names import hub_id
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.workflow import encoders
from benchc.workflow.run import Benchmark, Metric, Run


class Workflow(Benchmark):
    """A run of Bench-C.

    Attributes:
        image_encoder: the name of the image encoder, or the folder of the one that the run trains
        text_encoder_repo: the Hub's id of the text encoder; None for one that is not on the Hub
        text_encoder_file, image_encoder_file: the records of encoders on the Hub; empty for others
        image_device, text_device: where the encoders compute
        encoder_files: the files of encoders that the run trains, or that are the user's own
        random_subset: the most items that are sampled from those not selected; None: all
    """

    stored_subset = "selected"
    main_tables = ("table1", "intervals")
    item_columns: ClassVar = {"selection/selected.parquet": ("kappa",)}
    metrics = (
        Metric("accuracy", "mean accuracy on clean images", "tables/table1.csv", "acc_clean", False),
        Metric("delta_accuracy", "its change, weighted by kappa", "tables/table1.csv", "delta_acc", True),
        Metric("ras", "robustness alignment score, weighted by kappa", "tables/table1.csv", "ras", True),
    )

    def __init__(self, config: Config) -> None:
        self.settings = cast(Settings, config.settings)
        folder = f"results/{self.settings.name}/subsets"
        self.subsets = {
            "pool": None,
            "selected": f"{folder}/selected.parquet",
            "unselected": f"{folder}/unselected.parquet",
        }
        self.measured = self.settings.targets
        image, text = self.settings.selection.image_encoder, self.settings.selection.text_encoder
        demo = self.settings.demo
        if image.name == encoders.TRAINED:
            assert demo is not None  # which the configuration's checks ensure
            self.trained_encoder = encoders.TrainedEncoder(demo, demo.image_encoder.steps)
        self.image_encoder = self.trained_encoder.folder if self.trained_encoder else image.name
        self.text_encoder_repo = hub_id(text.name)
        self.text_encoder_file: str | list[str] = (
            "<results>/selection/text_encoder.json" if self.text_encoder_repo else []
        )
        tagged = encoders.tag_on_hub(image.pretrained)
        self.image_encoder_file: str | list[str] = "<results>/selection/image_encoder.json" if tagged else []
        self.image_device, self.text_device = encoders.device(image.gpus), encoders.device(text.gpus)
        files = (self.text_encoder_file, self.image_encoder_file)
        self.fetched = [file for file in files if isinstance(file, str)]
        self.encoder_files = (
            self.trained_encoder.files
            if self.trained_encoder
            else encoders.files_of([image.pretrained, text.name])
        )
        asked = self.settings.diagnostics.random_subset
        self.random_subset = None if asked == "all" else asked

    def outputs(self, run: Run) -> list[Output]:
        return outputs.outputs(run, self.settings)

    def results_page(self, run: Run) -> ResultsPage:
        return results_page(run, self.settings)
