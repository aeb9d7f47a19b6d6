from torch import nn
from transformers import Pix2StructForConditionalGeneration


class Pix2StructLargeVisionTower(nn.Module):
    def __init__(self):
        super().__init__()
        whole = Pix2StructForConditionalGeneration.from_pretrained("google/pix2struct-large")
        self.vision_tower = whole.encoder
