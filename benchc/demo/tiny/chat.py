"""The chat template of the tiny models."""


def chat_template(image: str) -> str:
    """Return a Jinja template that writes ``image`` where a message holds a picture.

    One user message with a picture and a text becomes ``USER: <image>\\n{text} ASSISTANT:``.
    """
    return (
        "{% for message in messages %}{{ message['role'].upper() }}: "
        "{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}" + image + "\n{% else %}{{ part['text'] }}{% endif %}"
        "{% endfor %} {% endfor %}"
        "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
    )
