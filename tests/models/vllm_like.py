"""A server of a small checkpoint in vLLM's request and response forms, by plain calls of transformers.

As vLLM 0.33.0 (its package on PyPI): ``entrypoints/serve/tokenize``, ``entrypoints/openai/chat_completion``,
``sampling_params.py`` and ``renderers/hf.py``. It imports nothing of the project, so that it cannot repeat a
mistake of the code that it tests. As a program:
``python vllm_like.py FOLDER --model NAME --port PORT``.
"""

import argparse
import base64
import io
import json
import os
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from jinja2 import TemplateError
from PIL import Image

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")

MAX_TOKEN_IDS = 128
MODELS: dict[tuple[bytes, ...], Any] = {}
Reply = tuple[int, dict[str, str], str]
# Called with the path and the body of a request; returns what to reply in its place, None to answer it, or
# raises ConnectionAbortedError to close the connection.
Fault = Callable[[str, dict[str, Any]], Reply | None]


class RefusedError(Exception):
    """A request that vLLM answers with status 400."""


class TinyServer(ThreadingHTTPServer):
    """Serves one checkpoint as ``name``.

    ``token_ids``: whether it knows logprob_token_ids. ``max_logprobs``: as vLLM's option of this name.
    ``refuses``: settings of chat completions that it refuses, as models of OpenAI do. ``key``: that
    requests to /v1 must send, as in vLLM; None for none. ``penalty``: the repetition penalty of the
    checkpoint's generation_config.json, after which vLLM's first engine returns log-probabilities.
    ``string_content``: whether the chat template takes texts, not lists of parts
    (--chat-template-content-format string). ``reasons``: whether an answer that reaches its limit of tokens
    is an error, as of OpenAI's reasoning models. ``api_path``: what its paths have in place of /v1. ``bos``
    and ``eos``: how many times a prompt in the model begins with BOS and ends with EOS, whatever /tokenize
    says; None for what it says.
    """

    daemon_threads = True

    def __init__(
        self,
        folder: Path,
        name: str,
        port: int = 0,
        *,
        token_ids: bool = True,
        max_logprobs: int = 20,
        refuses: tuple[str, ...] = (),
        key: str | None = None,
        penalty: float = 1.0,
        string_content: bool = False,
        reasons: bool = False,
        version: str = "0.33.0",
        api_path: str = "/v1",
        bos: int | None = None,
        eos: int | None = None,
        fault: Fault | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.name, self.token_ids, self.max_logprobs, self.fault = name, token_ids, max_logprobs, fault
        self.refuses, self.key, self.version = refuses, key, version
        self.api_path, self.bos, self.eos = api_path, bos, eos
        self.penalty, self.string_content, self.reasons = penalty, string_content, reasons
        # The tokens of each prompt that was passed through the model.
        self.prompts: list[list[int]] = []
        self.answered: list[tuple[str, dict[str, Any]]] = []
        self.headers_seen: list[dict[str, str]] = []
        self._lock = threading.Lock()
        self.processor, self.model = _load(folder)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> "TinyServer":
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def handle_error(self, *_: object) -> None:
        """Print no traceback where a client went away, or the connection was closed on purpose."""

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def tokenize(self, body: dict[str, Any]) -> dict[str, Any]:
        if "prompt" in body:
            special = body.get("add_special_tokens", True)
            tokens = self.processor.tokenizer(body["prompt"], add_special_tokens=special)["input_ids"]
        else:
            rendered, _ = self._rendered(body)
            special = body.get("add_special_tokens", False)
            tokens = self.processor.tokenizer(rendered, add_special_tokens=special)["input_ids"]
        return {"count": len(tokens), "max_model_len": 4096, "tokens": tokens, "token_strs": None}

    def detokenize(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"prompt": self.processor.tokenizer.decode(body["tokens"])}

    def complete(self, body: dict[str, Any]) -> dict[str, Any]:
        self._check(body)
        rendered, images = self._rendered(body)
        most = body.get("max_completion_tokens", body.get("max_tokens"))
        with self._lock, torch.inference_mode():
            inputs = self.processor(
                text=[rendered],
                images=[images] if images else None,
                add_special_tokens=body.get("add_special_tokens", False),
                return_tensors="pt",
            )
            self._set_ends(inputs)
            self.prompts.append(inputs["input_ids"][0].tolist())
            logits = self.model(**inputs).logits[0].float()
            penalise(logits[-1], self.prompts[-1], body.get("repetition_penalty", self.penalty))
            generated, finish = self._generated(inputs, logits[-1], most)
        if self.reasons and finish == "length":
            raise RefusedError(
                "Could not finish the message because max_tokens or model output limit was reached."
            )
        log_probabilities = logits.log_softmax(-1)
        last = log_probabilities[-1]
        sampled = int(last.argmax())
        logprobs = None
        if body.get("logprobs"):
            if self.token_ids and "logprob_token_ids" in body:
                others = body["logprob_token_ids"]
            else:
                others = last.topk(min(body.get("top_logprobs") or 0, len(last))).indices.tolist()
            entry = self._entry(sampled, last, body)
            entry["top_logprobs"] = [self._entry(token, last, body) for token in dict.fromkeys(others)]
            logprobs = {"content": [entry]}
        content = self.processor.tokenizer.decode(generated, skip_special_tokens=True)
        message = {"role": "assistant", "content": content}
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish}
        asked, added = len(logits), len(generated)
        usage = {"prompt_tokens": asked, "completion_tokens": added, "total_tokens": asked + added}
        answer: dict[str, Any] = {
            **{"id": "chatcmpl-1", "object": "chat.completion", "model": self.name},
            "choices": [choice],
            "usage": usage,
            "prompt_logprobs": None,
            "prompt_token_ids": self.prompts[-1] if body.get("return_token_ids") else None,
        }
        if body.get("prompt_logprobs") is not None:
            answer["prompt_logprobs"] = self._of_prompt(inputs["input_ids"][0], log_probabilities, body)
        return answer

    def _set_ends(self, inputs: Any) -> None:
        tokenizer, tokens = self.processor.tokenizer, inputs["input_ids"][0].tolist()
        bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
        if self.bos is not None:
            while tokens[0] == bos:
                tokens.pop(0)
            tokens = [bos] * self.bos + tokens
        if self.eos is not None:
            while tokens[-1] == eos:
                tokens.pop()
            tokens += [eos] * self.eos
        inputs["input_ids"] = torch.tensor([tokens])
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])

    def _generated(self, inputs: Any, first: torch.Tensor, most: int) -> tuple[list[int], str]:
        """Return the tokens of a greedy answer, by a full pass for each, and why it ended."""
        inputs, ends = dict(inputs), self.processor.tokenizer.eos_token_id
        inputs.pop("attention_mask", None)
        tokens = [int(first.argmax())]
        while tokens[-1] != ends and len(tokens) < most:
            inputs["input_ids"] = torch.cat([inputs["input_ids"], torch.tensor([tokens[-1:]])], dim=1)
            tokens.append(int(self.model(**inputs, use_cache=False).logits[0, -1].argmax()))
        return tokens, "stop" if tokens[-1] == ends else "length"

    def _of_prompt(self, tokens: torch.Tensor, log_probabilities: torch.Tensor, body: Any) -> list[Any]:
        found: list[dict[str, Any] | None] = [None]
        for row, token in zip(log_probabilities[:-1], tokens[1:].tolist(), strict=True):
            shown = dict.fromkeys([token, *row.topk(body["prompt_logprobs"]).indices.tolist()])
            decode = self.processor.tokenizer.decode
            ranks = {each: int((row > row[each]).sum()) + 1 for each in shown}
            logs = {each: max(row[each].item(), -9999.0) for each in shown}
            named = ((each, {"logprob": logs[each], "decoded_token": decode([each])}) for each in shown)
            found.append({str(each): {**entry, "rank": ranks[each]} for each, entry in named})
        return found

    def _check(self, body: dict[str, Any]) -> None:
        if body["model"] != self.name:
            raise RefusedError(f"The model `{body['model']}` does not exist.")
        for setting in self.refuses:
            if setting in body:
                raise RefusedError(f"Unsupported parameter: '{setting}' is not supported with this model.")
        if body.get("temperature", 0) != 0:
            raise RefusedError("the test asks for greedy tokens")
        if self.token_ids and "logprob_token_ids" in body:
            if not body.get("logprobs"):
                raise RefusedError("`logprob_token_ids` requires `logprobs`.")
            if len(body["logprob_token_ids"]) > MAX_TOKEN_IDS:
                raise RefusedError("too many `logprob_token_ids`")
            size = self.model.get_output_embeddings().weight.shape[0]
            if not all(0 <= token < size for token in body["logprob_token_ids"]):
                raise RefusedError("token_id(s) in logprob_token_ids contain out-of-vocab token ids.")
        if (body.get("top_logprobs") or 0) > self.max_logprobs:
            asked = f"Requested sample logprobs of {body['top_logprobs']}"
            raise RefusedError(f"{asked}, which is greater than max allowed: {self.max_logprobs}")

    def _rendered(self, body: dict[str, Any]) -> tuple[str, list[Image.Image]]:
        """Return the prompt, and its images; a message's content becomes a list of parts or a text."""
        if body.get("continue_final_message") and body.get("add_generation_prompt", True):
            raise RefusedError("Cannot set `continue_final_message` and `add_generation_prompt` to True.")
        images, messages = [], []
        for message in body["messages"]:
            content = message["content"]
            parts = []
            for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
                if part["type"] == "image_url":
                    images.append(image_of(part["image_url"]["url"]))
                    parts.append({"type": "image"})
                else:
                    parts.append(part)
            if self.string_content:
                # Placeholders come first, each on its line.
                images_first = sorted(parts, key=lambda part: part["type"] != "image")
                shown = [part.get("text", self.processor.image_token) for part in images_first]
                messages.append({"role": message["role"], "content": "\n".join(shown)})
                continue
            messages.append({"role": message["role"], "content": parts})
        rendered = self.processor.apply_chat_template(
            messages,
            add_generation_prompt=body.get("add_generation_prompt", True),
            continue_final_message=body.get("continue_final_message", False),
            tokenize=False,
        )
        return rendered, images

    def _entry(self, token: int, row: torch.Tensor, body: dict[str, Any]) -> dict[str, Any]:
        text = self.processor.tokenizer.decode([token])
        named = f"token_id:{token}" if body.get("return_tokens_as_token_ids") else text
        return {"token": named, "logprob": max(row[token].item(), -9999.0), "bytes": list(text.encode())}


class UnknownPathError(Exception):
    """A path that the server does not have."""


def answering(path: str, content: object, status: int = 200) -> Fault:
    """Return a fault that answers the requests to a path with the same content."""
    return lambda asked, body: (status, {}, json.dumps(content)) if asked == path else None


def refusing(path: str, reason: str, status: int = 400) -> Fault:
    """Return a fault that refuses the requests to a path."""
    return answering(path, {"error": {"message": reason}}, status)


class Handler(BaseHTTPRequestHandler):
    """The paths of vLLM that are needed here."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each reply waits 40 ms for the acknowledgement of its head
    server: TinyServer

    def do_GET(self) -> None:
        self._reply("")

    def do_POST(self) -> None:
        self._reply(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def _reply(self, text: str) -> None:
        body = json.loads(text) if text else {}
        self.server.headers_seen.append(dict(self.headers))
        if self.server.api_path != "/v1":
            self.path = f"/no{self.path}" if self.path.startswith("/v1/") else self.path
            self.path = self.path.replace(self.server.api_path + "/", "/v1/", 1)
        try:
            found = self.server.fault(self.path, body) if self.server.fault else None
            status, headers, reply = found or (200, {}, json.dumps(self._content(body)))
        except ConnectionAbortedError:
            self.close_connection = True
            self.connection.close()
            return
        except (RefusedError, TemplateError) as error:
            content = {"error": {"message": str(error), "type": "BadRequestError", "code": 400}}
            status, headers, reply = 400, {}, json.dumps(content)
        except UnknownPathError:
            status, headers, reply = 404, {}, json.dumps({"detail": "Not Found"})
        sent = self.headers.get("Authorization")
        if self.server.key and self.path.startswith("/v1") and sent != f"Bearer {self.server.key}":
            status, headers, reply = 401, {}, json.dumps({"error": "Unauthorized"})
        data = reply.encode()
        if status == 200:
            self.server.answered.append((self.path, body))
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _content(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self.server
        match self.path:
            case "/health":
                return {}
            case "/version":
                return {"version": server.version}
            case "/v1/models":
                entry = {"id": server.name, "object": "model", "owned_by": "vllm", "root": server.name}
                return {"object": "list", "data": [entry]}
            case "/tokenize":
                return server.tokenize(body)
            case "/detokenize":
                return server.detokenize(body)
            case "/v1/chat/completions":
                return server.complete(body)
        raise UnknownPathError

    def log_message(self, *_: object) -> None:
        pass


def penalise(row: torch.Tensor, prompt: list[int], penalty: float) -> None:
    """Apply a repetition penalty to the logits of the tokens of a prompt, in place."""
    seen = sorted(set(prompt))
    row[seen] = torch.where(row[seen] > 0, row[seen] / penalty, row[seen] * penalty)


def image_of(url: str) -> Image.Image:
    """Return the image of a data URL of a PNG."""
    kind, _, data = url.partition(";base64,")
    assert kind == "data:image/png", kind
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def _load(folder: Path) -> tuple[Any, Any]:
    """Return the processor and the model of a checkpoint; servers of equal weights share the model."""
    # torchvision without its compiled operators cannot be imported otherwise.
    for operator in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, operator):
            LIBRARY.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    import transformers

    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.image_processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    key = tuple((folder / name).read_bytes() for name in ("config.json", "model.safetensors"))
    if key not in MODELS:
        model = transformers.AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
        MODELS[key] = model.eval()
    return processor, MODELS[key]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    key = os.environ.get("VLLM_API_KEY")
    TinyServer(arguments.folder, arguments.model, arguments.port, key=key).serve_forever()


if __name__ == "__main__":
    main()
