from torch import nn
from transformers import CLIPImageProcessor, CLIPVisionModel


class HRCLIPVisionTower(nn.Module):
    def __init__(self, vision_tower):
        super().__init__()
        self.image_processor = CLIPImageProcessor.from_pretrained(vision_tower)
        self.vision_tower = CLIPVisionModel.from_pretrained(vision_tower)

    def forward(self, pixels):
        return self.vision_tower(pixels).last_hidden_state.mean(1, keepdim=True)
