"""The paper's names of corruptions, and those of the suite vqa-robustness."""

# As Tables A.1 and A.2 print them, in small letters, in the order of Table A.1.
CORRUPTIONS = {
    "shot": "shot_noise",
    "gaussian": "gaussian_noise",
    "impulse": "impulse_noise",
    "speckle": "speckle_noise",
    "defocus": "defocus_blur",
    "zoom": "zoom_blur",
    "snow": "snow",
    "brightness": "brightness",
    "contrast": "contrast",
    "saturation": "saturate",
    "elastic": "elastic_transform",
    "splatter": "spatter",
    "pixelate": "pixelate",
    "jpeg": "jpeg_compression",
}
