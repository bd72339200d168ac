"""A small reader of GBNF: whether a text is one of a grammar. llama.cpp itself is not needed for that."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|(\[(?:[^\]\\]|\\.)*\])|\{(\d+)(?:,(\d*))?\}|([a-zA-Z][\w-]*)|([()|?*])|\s+')

Ends = set[int]
Matcher = Callable[[str, int], Ends]
"""From a text and a place in it to all the places where a match from there may end."""


class Grammar:
    """A grammar without left recursion."""

    def __init__(self, source: str) -> None:
        self._rules: dict[str, Matcher] = {}
        self._known: dict[tuple[str, int], Ends] = {}
        for line in source.strip().split("\n"):
            name, _, expression = line.partition(" ::= ")
            assert name not in self._rules, f"{name} comes twice"
            self._rules[name] = self._any(iter([*self._tokens(expression), None]))

    def allows(self, text: str) -> bool:
        """Whether the whole text is one of `root`."""
        self._known = {}
        return len(text) in self._rule("root")(text, 0)

    @staticmethod
    def _tokens(expression: str) -> list[re.Match[str]]:
        found, end = [], 0
        for token in _TOKEN.finditer(expression):
            assert token.start() == end, f"not understood: {expression[end:]}"
            end = token.end()
            if not token[0].isspace():
                found.append(token)
        assert end == len(expression), f"not understood: {expression[end:]}"
        return found

    def _any(self, tokens: Iterator[re.Match[str] | None]) -> Matcher:
        """Alternatives, up to a closing bracket or the end."""
        sequences: list[list[Matcher]] = [[]]
        while (token := next(tokens)) is not None and token[0] != ")":
            last = sequences[-1]
            if token[0] == "|":
                sequences.append([])
            elif token[0] == "(":
                last.append(self._any(tokens))
            elif token[1]:
                last.append(_literal(re.sub(r"\\(.)", r"\1", token[1][1:-1])))
            elif token[2]:
                last.append(_class(token[2]))
            elif token[5]:
                last.append(self._rule(token[5]))
            else:
                least, most = {"?": (0, 1), "*": (0, 10_000)}.get(
                    token[0], (int(token[3] or 0), int(token[4] or token[3] or 0))
                )
                last.append(_repeated(last.pop(), least, most))
        return lambda text, start: set().union(*(_sequence(each, text, start) for each in sequences))

    def _rule(self, name: str) -> Matcher:
        def match(text: str, start: int) -> Ends:
            key = (name, start)
            if key not in self._known:
                self._known[key] = self._rules[name](text, start)
            return self._known[key]

        return match


def _literal(literal: str) -> Matcher:
    return lambda text, start: {start + len(literal)} if text.startswith(literal, start) else set()


def _class(pattern: str) -> Matcher:
    letter = re.compile(pattern)
    return lambda text, start: {start + 1} if letter.match(text, start) else set()


def _repeated(item: Matcher, least: int, most: int) -> Matcher:
    def match(text: str, start: int) -> Ends:
        ends, found, times = {start}, {start} if least == 0 else set(), 0
        while ends and times < most:
            times += 1
            ends = set().union(*(item(text, end) for end in ends)) - found
            if times >= least:
                found |= ends
        return found

    return match


def _sequence(items: list[Matcher], text: str, start: int) -> Ends:
    ends = {start}
    for item in items:
        ends = set().union(*(item(text, end) for end in ends))
    return ends
