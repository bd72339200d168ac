"""Makes the wire's C header and Python module from protocol.toml.

python firmware/generate.py           writes both
python firmware/generate.py --check   exits with 1 and names those that are not current
"""

from __future__ import annotations

import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "firmware" / "protocol.toml"
C_FILE = ROOT / "firmware" / "src" / "logic" / "protocol.h"
PYTHON_FILE = ROOT / "tools" / "drivers" / "serial" / "protocol.py"

SIZES = {"u8": 1, "u16": 2, "u32": 4}
CODES = {"u8": "B", "u16": "H", "u32": "I"}


@dataclass(frozen=True)
class Field:
    """One value of a body.

    Attributes:
        kind: "u8", "u16", "u32", "bytes" or "list".
        size: Its bytes on the wire; of one element where it is a list.
        group: The fields of an element where it is a list.
    """

    name: str
    kind: str
    size: int
    doc: str
    group: tuple[Field, ...] = ()
    group_name: str = ""


@dataclass(frozen=True)
class Message:
    """A type of frame.

    Attributes:
        role: "request", "answer" or "event".
        like: The request whose answer it repeats; "" for all others.
    """

    name: str
    code: int
    doc: str
    fields: tuple[Field, ...]
    role: str
    like: str = ""

    @property
    def size(self) -> int:
        """Bytes of its body, without those of a list."""
        return sum(each.size for each in self.fields if each.kind != "list")

    @property
    def class_name(self) -> str:
        """As Python names it."""
        return "".join(part.title() for part in f"{self.name}_{self.role}".split("_"))

    @property
    def c_name(self) -> str:
        """As C names it."""
        return self.name if self.role == "answer" and self.name == "refusal" else f"{self.name}_{self.role}"


@dataclass
class Wire:
    """All that protocol.toml says."""

    link: dict[str, Any]
    enums: dict[str, dict[str, Any]]
    flags: dict[str, dict[str, Any]]
    groups: dict[str, tuple[Field, ...]] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)


def load(path: Path = SOURCE) -> Wire:
    """Reads the description.

    Raises:
        ValueError: A body is longer than a frame may be, or a code is used twice.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    wire = Wire(link=table["link"], enums=table["enum"], flags=table["flags"])
    for name, group in table["group"].items():
        wire.groups[name] = tuple(_field(each, {}) for each in group["fields"])
    bit = wire.link["answer_bit"]
    for name, request in table["request"].items():
        asked = tuple(_field(each, wire.groups) for each in request["fields"])
        answered = tuple(_field(each, wire.groups) for each in request["answer"])
        wire.messages.append(Message(name, request["code"], request["doc"], asked, "request"))
        wire.messages.append(Message(name, request["code"] | bit, f"Answers {name}.", answered, "answer"))
    for role in ("answer", "event"):
        for name, given in table[role].items():
            fields = given["fields"] if "fields" in given else table["request"][given["like"]]["answer"]
            parts = tuple(_field(each, wire.groups) for each in fields)
            wire.messages.append(Message(name, given["code"], given["doc"], parts, role, given.get("like", "")))
    _check(wire)
    return wire


def _field(given: dict[str, str], groups: dict[str, tuple[Field, ...]]) -> Field:
    kind, _, argument = given["type"].partition(":")
    if kind == "list":
        group = groups[argument]
        return Field(given["name"], kind, sum(each.size for each in group), given["doc"], group, argument)
    size = int(argument) if kind == "bytes" else SIZES[kind]
    return Field(given["name"], kind, size, given["doc"])


def _check(wire: Wire) -> None:
    codes = [message.code for message in wire.messages]
    if len(set(codes)) != len(codes):
        raise ValueError("a code is used twice in protocol.toml")
    for message in wire.messages:
        longest = message.size + sum(each.size * wire.link["page"] for each in message.fields if each.kind == "list")
        if longest > wire.link["max_body"]:
            raise ValueError(f"{message.name}: a body of {longest} bytes; {wire.link['max_body']} is the most")


# --- C ---


def c_text(wire: Wire) -> str:
    """The header."""
    lines = [
        "/* Made by firmware/generate.py from firmware/protocol.toml; change it there. */",
        "#ifndef PROTOCOL_H",
        "#define PROTOCOL_H",
        "",
        "#include <stdint.h>",
        "",
    ]
    for name, value in wire.link.items():
        if isinstance(value, str):
            lines.append(f'#define PROTOCOL_{name.upper()} "{value}"')
        else:
            lines.append(f"#define PROTOCOL_{name.upper()} {value}u")
    lines.append("")
    for name, values in [*wire.enums.items(), *wire.flags.items()]:
        lines.append(f"/* {values['doc']} */")
        lines += [f"#define {name.upper()}_{key.upper()} {value}u" for key, value in values.items() if key != "doc"]
        lines.append("")
    for message in wire.messages:
        lines.append(f"#define TYPE_{message.c_name.upper()} 0x{message.code:02X}u")
    lines.append("")
    for message in wire.messages:
        lines.append(f"#define SIZE_{message.c_name.upper()} {message.size}u")
    lines += [
        "",
        "static inline uint16_t protocol_u16(const uint8_t *at)",
        "{",
        "    return (uint16_t)(at[0] | (uint16_t)((uint16_t)at[1] << 8));",
        "}",
        "",
        "static inline void protocol_put_u16(uint8_t *at, uint16_t value)",
        "{",
        "    at[0] = (uint8_t)value;",
        "    at[1] = (uint8_t)(value >> 8);",
        "}",
        "",
        "static inline void protocol_put_u32(uint8_t *at, uint32_t value)",
        "{",
        "    protocol_put_u16(at, (uint16_t)value);",
        "    protocol_put_u16(at + 2, (uint16_t)(value >> 16));",
        "}",
        "",
    ]
    for message in wire.messages:
        lines += [] if message.like else _c_message(message)
    lines += ["#endif", ""]
    return "\n".join(lines)


def _c_message(message: Message) -> Iterator[str]:
    """A struct, and the one way that firmware uses it: requests are read, all else is written."""
    plain = [each for each in message.fields if each.kind != "list"]
    if not plain:
        return
    yield f"/* {message.doc} */"
    yield f"struct {message.c_name} {{"
    for each in plain:
        if each.kind == "bytes":
            yield f"    uint8_t {each.name}[{each.size}]; /* {each.doc} */"
        else:
            yield f"    uint{each.size * 8}_t {each.name}; /* {each.doc} */"
    yield "};"
    yield ""
    if message.role == "request":
        yield f"static inline void {message.c_name}_read(const uint8_t *body, struct {message.c_name} *to)"
    else:
        yield f"static inline uint8_t {message.c_name}_write(uint8_t *body, const struct {message.c_name} *from)"
    yield "{"
    at = 0
    for each in plain:
        if message.role == "request":
            yield from _c_read(each, at)
        else:
            yield from _c_write(each, at)
        at += each.size
    if message.role != "request":
        yield f"    return SIZE_{message.c_name.upper()};"
    yield "}"
    yield ""


def _c_read(each: Field, at: int) -> Iterator[str]:
    if each.kind == "bytes":
        yield f"    for (uint8_t i = 0; i < {each.size}; i++) {{"
        yield f"        to->{each.name}[i] = body[{at} + i];"
        yield "    }"
    elif each.kind == "u8":
        yield f"    to->{each.name} = body[{at}];"
    else:
        yield f"    to->{each.name} = protocol_{each.kind}(body + {at});"


def _c_write(each: Field, at: int) -> Iterator[str]:
    if each.kind == "bytes":
        yield f"    for (uint8_t i = 0; i < {each.size}; i++) {{"
        yield f"        body[{at} + i] = from->{each.name}[i];"
        yield "    }"
    elif each.kind == "u8":
        yield f"    body[{at}] = from->{each.name};"
    else:
        yield f"    protocol_put_{each.kind}(body + {at}, from->{each.name});"


# --- Python ---


def python_text(wire: Wire) -> str:
    """The module."""
    lines = [
        '"""The wire to the light controller: numbers, and messages that pack and unpack themselves.',
        "",
        "Made by firmware/generate.py from firmware/protocol.toml; change it there.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "import struct",
        "from dataclasses import dataclass",
        "from enum import IntEnum, IntFlag",
        "from typing import ClassVar, Self",
        "",
    ]
    for name, value in wire.link.items():
        lines.append(f'{name.upper()} = b"{value}"' if isinstance(value, str) else f"{name.upper()} = {value}")
    for base, tables in (("IntEnum", wire.enums), ("IntFlag", wire.flags)):
        for name, values in tables.items():
            lines += ["", "", f"class {_title(name)}({base}):", *_doc(values["doc"]), ""]
            lines += [f"    {key.upper()} = {value}" for key, value in values.items() if key != "doc"]
    lines += MESSAGE_CLASS.splitlines()
    for name, group in wire.groups.items():
        lines += _python_class(_title(name), f"One {name} of a list.", group, None)
    for message in wire.messages:
        if message.like:
            base = f"{_title(message.like)}Answer"
            lines += ["", "", "@dataclass(frozen=True)", f"class {message.class_name}({base}):"]
            lines += [*_doc(message.doc), "", f"    TYPE: ClassVar[int] = 0x{message.code:02X}"]
        else:
            lines += _python_class(message.class_name, message.doc, message.fields, message.code)
    lines.append("")
    for role, names in (("request", "REQUESTS"), ("answer", "ANSWERS"), ("event", "EVENTS")):
        lines += ["", f"{names}: dict[int, type[Message]] = {{"]
        lines += [f"    0x{each.code:02X}: {each.class_name}," for each in wire.messages if each.role == role]
        lines.append("}")
    return "\n".join(lines) + "\n"


MESSAGE_CLASS = '''

@dataclass(frozen=True)
class Message:
    """A body of one type."""

    TYPE: ClassVar[int] = 0
    LAYOUT: ClassVar[struct.Struct] = struct.Struct("<")

    def pack(self) -> bytes:
        """The body.

        Raises:
            ValueError: A value does not fit its field.
        """
        try:
            return self.LAYOUT.pack(*vars(self).values())
        except struct.error as error:
            raise ValueError(f"{self} does not fit its frame: {error}") from error

    @classmethod
    def unpack(cls, body: bytes) -> Self:
        """Reads a body.

        Raises:
            ValueError: It is too long or too short.
        """
        if len(body) != cls.LAYOUT.size:
            raise ValueError(f"{cls.__name__} has {len(body)} bytes; {cls.LAYOUT.size} are right")
        return cls(*cls.LAYOUT.unpack(body))
'''


def _python_class(name: str, doc: str, fields: tuple[Field, ...], code: int | None) -> Iterator[str]:
    yield from ("", "", "@dataclass(frozen=True)", f"class {name}(Message):")
    yield from _doc(doc, [f"{each.name}: {each.doc[0].upper()}{each.doc[1:]}." for each in fields])
    yield ""
    if code is not None:
        yield f"    TYPE: ClassVar[int] = 0x{code:02X}"
    codes = "<" + "".join(f"{each.size}s" if each.kind == "bytes" else CODES.get(each.kind, "") for each in fields)
    yield f'    LAYOUT: ClassVar[struct.Struct] = struct.Struct("{codes}")'
    if fields:
        yield ""
    for each in fields:
        yield f"    {each.name}: {_python_type(each)}"
    for each in fields:
        if each.kind == "list":
            yield from _python_list(each, [other.name for other in fields if other is not each])


def _python_list(each: Field, head: list[str]) -> Iterator[str]:
    """Both ways of a body that ends in a list, whose count is the last byte before it."""
    item = _title(each.group_name)
    yield from f'''
    def pack(self) -> bytes:
        """The body; ValueError where a value does not fit."""
        try:
            head = self.LAYOUT.pack({", ".join(f"self.{name}" for name in head)})
        except struct.error as error:
            raise ValueError(f"{{self}} does not fit its frame: {{error}}") from error
        return head + b"".join(each.pack() for each in self.{each.name})

    @classmethod
    def unpack(cls, body: bytes) -> Self:
        """Reads a body; ValueError where it is too long or too short."""
        head, step = cls.LAYOUT.size, {item}.LAYOUT.size
        if len(body) < head or len(body) != head + step * body[head - 1]:
            raise ValueError(f"{{cls.__name__}} has {{len(body)}} bytes, which its count does not say")
        items = tuple({item}.unpack(body[at : at + step]) for at in range(head, len(body), step))
        [{", ".join(head)}] = cls.LAYOUT.unpack(body[:head])
        return cls({", ".join(head)}, items)'''.splitlines()


def _python_type(each: Field) -> str:
    if each.kind == "list":
        return f"tuple[{_title(each.group_name)}, ...]"
    return "bytes" if each.kind == "bytes" else "int"


def _doc(text: str, attributes: list[str] | None = None) -> Iterator[str]:
    first, *more = textwrap.wrap(text, 110)
    if not more and not attributes:
        yield f'    """{first}"""'
        return
    yield f'    """{first}'
    yield from (f"    {line}" for line in more)
    if attributes:
        yield ""
        yield "    Attributes:"
        for line in attributes:
            wrapped = textwrap.wrap(line, 104)
            yield f"        {wrapped[0]}"
            yield from (f"            {each}" for each in wrapped[1:])
    yield '    """'


def _title(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))


def main(arguments: list[str]) -> int:
    """Writes the two files, or says which are not current."""
    wire = load()
    stale = []
    for path, text in ((C_FILE, c_text(wire)), (PYTHON_FILE, python_text(wire))):
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.relative_to(ROOT))
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path} {'is not current: python firmware/generate.py' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
