"""A server of a small checkpoint in SGLang's request and response forms, by plain calls of transformers.

As SGLang 0.5.23 (its package on PyPI, ``sglang/srt``): ``entrypoints/http_server.py``,
``entrypoints/openai/serving_tokenize.py`` and ``serving_chat.py``, ``managers/io_struct.py`` and
``managers/tokenizer_manager.py``.
Like :mod:`tests.models.vllm_like`, it imports nothing of the project.
"""

from pathlib import Path
from typing import Any

import torch

from tests.models.vllm_like import Handler, RefusedError, TinyServer, UnknownPathError, image_of, penalise

TOKENIZE = {
    *("model", "prompt", "messages"),
    *("add_special_tokens", "add_generation_prompt", "continue_final_message"),
}
CHAT = {"model", "messages", "temperature", "max_tokens", "max_completion_tokens"}
GENERATE = {
    *("text", "image_data", "sampling_params"),
    *("return_logprob", "logprob_start_len", "token_ids_logprob"),
}


class SglangLikeServer(TinyServer):
    """Serves one checkpoint as ``name``, and refuses what no test needs."""

    def __init__(self, folder: Path, name: str, **settings: Any) -> None:
        super().__init__(folder, name, **settings)
        self.RequestHandlerClass = SglangHandler

    def tokenize(self, body: dict[str, Any]) -> dict[str, Any]:
        _require(body, TOKENIZE)
        encode = self.processor.tokenizer.encode
        special = body.get("add_special_tokens", True)
        if "messages" in body:
            rendered, _ = self._rendered({"messages": body["messages"]})
            # TokenizeRequest.to_chat_completion_request
            added = "add_generation_prompt" in body and body.get("add_special_tokens", False)
            tokens = encode(rendered, add_special_tokens=added)
        elif isinstance(body["prompt"], str):
            tokens = encode(body["prompt"], add_special_tokens=special)
        else:
            tokens = [encode(prompt, add_special_tokens=special) for prompt in body["prompt"]]
        return {"tokens": tokens, "count": len(tokens), "max_model_len": 4096}

    def detokenize(self, body: dict[str, Any]) -> dict[str, Any]:
        _require(body, {"model", "tokens", "skip_special_tokens"})
        decode = self.processor.tokenizer.decode
        return {"text": decode(body["tokens"], skip_special_tokens=body.get("skip_special_tokens", True))}

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        _require(body, CHAT)
        # serving_chat.py, _engine_prompt: the model is asked as by /generate.
        return super().complete(body | {"add_special_tokens": self._adds(self._rendered(body)[0])})

    def _adds(self, prompt: str) -> bool:
        """Return whether the model's processor adds special tokens to a prompt.

        As ``process_mm_data`` in ``multimodal/processors/base_processor.py``.
        """
        bos = self.processor.tokenizer.bos_token
        return not (bos and prompt.startswith(bos))

    def generate(self, body: dict[str, Any]) -> dict[str, Any]:
        _require(body, GENERATE)
        sampling = body["sampling_params"]
        if (sampling["temperature"], sampling["max_new_tokens"]) != (0, 1):
            raise RefusedError("the test asks for one greedy token")
        images = [image_of(url) for url in body.get("image_data") or ()]
        with self._lock, torch.inference_mode():
            inputs = self.processor(
                text=[body["text"]],
                images=[images] if images else None,
                add_special_tokens=self._adds(body["text"]),
                return_tensors="pt",
            )
            self._set_ends(inputs)
            prompt = inputs["input_ids"][0].tolist()
            self.prompts.append(prompt)
            logits = self.model(**inputs).logits[0].float()
            penalise(logits[-1], prompt, sampling.get("repetition_penalty", self.penalty))
            rows = logits.log_softmax(-1)
        sampled = int(rows[-1].argmax())
        facts: dict[str, Any] = {"id": "1", "prompt_tokens": len(prompt), "completion_tokens": 1}
        if body.get("return_logprob"):
            facts |= self._log_probabilities(body, prompt, rows)
            facts["output_token_logprobs"] = [[rows[-1, sampled].item(), sampled, None]]
        return {"text": self.processor.tokenizer.decode([sampled]), "meta_info": facts}

    def _log_probabilities(
        self, body: dict[str, Any], prompt: list[int], rows: torch.Tensor
    ) -> dict[str, Any]:
        start = body.get("logprob_start_len", -1)
        start = len(prompt) if start == -1 else start
        logs = [row[token].item() for row, token in zip(rows, prompt[1:], strict=False)]
        # The first token that is returned has no log-probability, whether or not it is the prompt's first.
        values = [None, *logs[start:]]
        shown = [token if token < rows.shape[1] - 1 else 0 for token in prompt[start:]]
        found: dict[str, Any] = {
            "input_token_logprobs": [[log, token, None] for log, token in zip(values, shown, strict=False)]
        }
        tokens = body.get("token_ids_logprob")
        if tokens is not None:
            if not all(0 <= token < rows.shape[1] for token in tokens):
                raise RefusedError("token_ids_logprob contains out-of-vocabulary token id")
            found["output_token_ids_logprobs"] = [[[rows[-1, token].item(), token, None] for token in tokens]]
        return found


class SglangHandler(Handler):
    """The paths of SGLang that are needed here."""

    server: SglangLikeServer

    def _content(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self.server
        match self.path:
            case "/health":
                return {}
            case "/server_info":
                return {"model_path": server.name, "version": "0.5.23", "internal_states": []}
            case "/v1/models":
                entry = {"id": server.name, "object": "model", "owned_by": "sglang", "root": server.name}
                return {"object": "list", "data": [entry]}
            case "/tokenize":
                return server.tokenize(body)
            case "/detokenize":
                return server.detokenize(body)
            case "/generate":
                return server.generate(body)
            case "/v1/chat/completions":
                return server.complete(body)
        raise UnknownPathError


def _require(body: dict[str, Any], known: set[str]) -> None:
    if not set(body) <= known:
        raise RefusedError(f"this server does not know {sorted(set(body) - known)}")
