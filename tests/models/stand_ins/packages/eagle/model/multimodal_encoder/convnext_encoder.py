from torch import nn

from .vision_models.convnext import convnext_xxlarge


class ConvNextVisionTower(nn.Module):
    def __init__(self, vision_tower):
        super().__init__()
        self.vision_tower = convnext_xxlarge(vision_tower)
