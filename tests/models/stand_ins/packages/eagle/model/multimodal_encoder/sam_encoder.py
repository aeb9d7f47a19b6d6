from torch import nn
from transformers import SamModel, SamProcessor


class SAMVisionTower(nn.Module):
    def __init__(self):
        super().__init__()
        self.image_processor = SamProcessor.from_pretrained("facebook/sam-vit-large")
        self.vision_tower = SamModel.from_pretrained("facebook/sam-vit-large").vision_encoder
