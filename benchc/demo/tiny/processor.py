"""What the processors of all tiny models share: the chat template and the treatment of pixels."""

from benchc.demo.training_set import RESAMPLING

# Resize like the training set, then map 0..255 to -1..1.
IMAGE_SETTINGS = {"resample": int(RESAMPLING), "image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def chat_template(image: str) -> str:
    """Return a Jinja template that writes ``image`` for each image of a message.

    One user message with an image and a text becomes ``USER: <image>\\n{text} ASSISTANT:``.
    """
    return (
        "{% for message in messages %}{{ message['role'].upper() }}: "
        "{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}" + image + "\n{% else %}{{ part['text'] }}{% endif %}"
        "{% endfor %} {% endfor %}"
        "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
    )
