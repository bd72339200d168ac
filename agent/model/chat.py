"""How a conversation and its declarations look to a language model: messages, of which the first never change.

They hold the instructions, the declarations and two examples. They are the same for every command, so what a
runtime has read of them can be kept. Results come as words of the user, which every chat template knows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from agent.content import Content, FunctionResponsePart, Role
from agent.model.gbnf import SAY, dumps_calls
from agent.model.generative import GenerateContentRequest
from agent.model.prompt import HIDDEN_RESULT
from agent.names import spoken_name
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType

Message = dict[str, str]
"""`{"role": "system", "user" or "assistant", "content"}`."""

RESULTS: Final = "Results of the calls: "

_HOW: Final = """Functions:
{functions}
say(text): Answers, asks for what was not said, or tells that no function fits.

Answer with a JSON list of calls: [{{"name": "...", "arguments": {{...}}}}]
Arguments are the person's own words. What was not said is left out. When something needed was not said, ask for it. \
Call nothing that was not asked for. Tell what results say in one short sentence."""

# What chat templates mark turns with: said by a person, it is to be words.
_MARK: Final = re.compile(r"<(?=[|/]?\w)|\[(?=/?[A-Z_]+\])")


def system_message(instructions: str | None, tools: Sequence[FunctionDeclaration]) -> Message:
    """The message that stays the same."""
    how = _HOW.format(functions="\n".join(map(signature, tools)))
    return {"role": "system", "content": "\n\n".join(filter(None, (instructions, how)))}


def examples(tools: Sequence[FunctionDeclaration]) -> list[Message]:
    """A call and a refusal, made of the first function that needs a text: small models need to see one of each."""
    for each in tools:
        schema = each.parameters
        needed = [name for name in schema.required if _is_text(schema.properties[name])]
        if len(needed) == len(schema.required) == 1:
            value = f"first {spoken_name(needed[0])}"
            exchanges = (
                (f"{spoken_name(each.name)} {value}", (each.name, {needed[0]: value})),
                ("sing a song", (SAY, {"text": "I can't do that."})),
            )
            return [
                message
                for said, call in exchanges
                for message in (_message("user", said), _message("assistant", dumps_calls([call])))
            ]
    return []


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _is_text(schema: FunctionSchema) -> bool:
    return schema.type is FunctionType.STRING and not schema.enum


def signature(declaration: FunctionDeclaration) -> str:
    """A declaration in a line: `turn_on_light(room, brightness?: 0 to 100): Turns on lights.`"""
    schema = declaration.parameters
    fields = ", ".join(_parameter(name, each, name in schema.required) for name, each in schema.properties.items())
    return f"{declaration.name}({fields}): {' '.join(declaration.description.split())}".rstrip(": ")


def _parameter(name: str, schema: FunctionSchema, required: bool) -> str:
    kind = _kind(schema)
    return name + ("" if required else "?") + (f": {kind}" if kind else "")


def _kind(schema: FunctionSchema) -> str:
    if schema.enum:
        return "|".join(str(member) for member in schema.enum)
    if schema.type is FunctionType.ARRAY and schema.items is not None:
        return f"list of {_kind(schema.items) or 'text'}"
    if schema.type is FunctionType.OBJECT:
        fields = (_parameter(name, each, name in schema.required) for name, each in schema.properties.items())
        return "{" + ", ".join(fields) + "}"
    if schema.minimum is not None and schema.maximum is not None:
        return f"{schema.minimum:g} to {schema.maximum:g}"
    if schema.type is FunctionType.STRING:
        return schema.format if schema.format and schema.format != "name" else ""
    return "true or false" if schema.type is FunctionType.BOOLEAN else "number"


def messages_of(request: GenerateContentRequest, contents: Sequence[Content]) -> list[Message]:
    """The messages of a request for some of its contents; the same role never comes twice in a row."""
    messages = [system_message(request.system_instruction, request.tools), *examples(request.tools)]
    for content in contents:
        role = "user" if content.role is Role.USER else "assistant"
        if not content.parts:
            continue
        text = _text(content)
        if messages[-1]["role"] == role:
            messages[-1] = {"role": role, "content": f"{messages[-1]['content']}\n{text}"}
        else:
            messages.append({"role": role, "content": text})
    return messages


def _text(content: Content) -> str:
    if content.role is Role.MODEL:
        calls = [(each.name, each.arguments) for each in content.calls]
        text = dumps_calls(calls or [(SAY, {"text": content.text})])
    elif content.responses:
        results = [{"name": each.name, "result": each.response} for each in content.responses]
        text = RESULTS + json.dumps(results, ensure_ascii=False, default=str)
    else:
        text = content.text
    return _MARK.sub(lambda mark: mark[0] + " ", text)


def last_words(contents: Sequence[Content]) -> int | None:
    """Where the user's last words are, with which the turn begins."""
    places = [at for at, content in enumerate(contents) if content.role is Role.USER and content.text.strip()]
    return places[-1] if places else None


def without_results(contents: Sequence[Content]) -> tuple[Content, ...]:
    """The same contents in which no result says anything."""
    return tuple(
        Content(
            content.role,
            tuple(
                FunctionResponsePart(part.id, part.name, {"result": HIDDEN_RESULT})
                if isinstance(part, FunctionResponsePart)
                else part
                for part in content.parts
            ),
        )
        for content in contents
    )
