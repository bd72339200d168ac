"""The numbers that the network and its reader agree on."""

from __future__ import annotations

from enum import IntEnum

from agent.model.generative import Outcome

WIDTH = 384
LAYERS = 2  # of the decoder
DECISIONS = 64  # at most in one step: modes, functions and values together
TEXT_LENGTHS = (32, 128)  # the sizes of the graphs: each costs 20 MB of memory, as the runtime packs its weights anew

MODES = (Outcome.ACT, Outcome.QUERY, Outcome.ASK, Outcome.DECLINE, Outcome.ANSWER)


class Kind(IntEnum):
    """What is decided."""

    MODE = 0
    FUNCTION = 1
    VALUE = 2


class Previous(IntEnum):
    """What was decided before."""

    NOTHING = 0
    ACT = 1
    QUERY = 2
    ASK = 3
    DECLINE = 4
    ANSWER = 5
    FUNCTION = 6
    ABSENT = 7
    MEMBER = 8
    SPAN = 9


KINDS = tuple(Kind)
PREVIOUS = tuple(Previous)

# Order of the network's four queries and of its choices after the modes.
TOOL_QUERY, MEMBER_QUERY, FIRST_QUERY, LAST_QUERY = range(4)
END_CHOICE, ABSENT_CHOICE = len(MODES), len(MODES) + 1
