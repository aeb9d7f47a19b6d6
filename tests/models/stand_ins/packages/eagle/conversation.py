"""Signatures of eagle/conversation.py of NVlabs/EAGLE."""

import copy


class Conversation:
    def __init__(self):
        self.roles = ("USER", "ASSISTANT")
        self.messages = []

    def copy(self):
        return copy.deepcopy(self)

    def append_message(self, role, message):
        self.messages.append((role, message))

    def get_prompt(self):
        turns = "".join(f"{role}: {message} " if message else f"{role}:" for role, message in self.messages)
        return f"A chat. {turns}"


conv_templates = {"vicuna_v1": Conversation()}
