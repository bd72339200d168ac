"""What "here", "it" and nothing at all point at."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.command import Command
from agent.config import Settings
from agent.events import TextMessage
from agent.grounding import fill_places, room_among, spoken_places, which
from agent.house_store import HouseStore
from agent.runner import Agent, AgentRunner
from agent.schema import FunctionDeclaration, Name, Place
from agent.service import Service
from agent.tool import tool
from tests.fakes import ScriptedModel, act, call
from tests.homes import open_devices
from tools.house import House


def turn_on_light(room: Place, brightness: int | None = None) -> None:
    """Turns on a light.

    Args:
        room: Which.
        brightness: How bright.
    """


def list_devices(room: Place | None = None) -> None:
    """Lists devices.

    Args:
        room: Where.
    """


def tidy(room: Place | None = None) -> None:
    """Tidies up.

    Args:
        room: Where.
    """


LIGHT = FunctionDeclaration.from_function(turn_on_light)
LIST = FunctionDeclaration.from_function(list_devices, read_only=True)
TIDY = FunctionDeclaration.from_function(tidy)


def test_place_that_was_said_stays_in_the_persons_words() -> None:
    assert fill_places(LIGHT, {"room": "The Küche "}, "hall", ["attic"]) == {"room": "The Küche "}


@pytest.mark.parametrize("arguments", [{}, {"room": None}, {"room": ""}, {"room": "here"}, {"room": "In here."}])
def test_absent_place_and_here_are_the_requesters_room(arguments: dict[str, object]) -> None:
    assert fill_places(LIGHT, {**arguments, "brightness": 3}, "hall", []) == {"room": "hall", "brightness": 3}


@pytest.mark.parametrize("arguments", [{}, {"room": "here"}, {"room": "it"}])
def test_required_place_that_nobody_knows_is_to_be_asked_for(arguments: dict[str, object]) -> None:
    assert fill_places(LIGHT, arguments, None, []) is None
    assert which(LIGHT) == "Which room?"


@pytest.mark.parametrize("word", ["it", "IT", "them", "that one"])
def test_it_is_the_place_that_was_spoken_of_last(word: str) -> None:
    assert fill_places(LIGHT, {"room": word}, "hall", ["kitchen", "attic"]) == {"room": "attic"}


def test_it_is_not_the_requesters_room_when_nothing_was_spoken_of() -> None:
    assert fill_places(LIGHT, {"room": "it"}, "hall", []) is None


def test_optional_place_that_is_absent_stays_absent_where_no_room_is_known() -> None:
    assert fill_places(TIDY, {}, None, ["attic"]) == {}


def test_optional_place_of_an_action_is_the_requesters_room() -> None:
    assert fill_places(TIDY, {}, "hall", []) == {"room": "hall"}


def test_question_that_names_no_place_stays_one_about_the_whole_house() -> None:
    assert fill_places(LIST, {}, "hall", []) == {}
    assert fill_places(LIST, {"room": "here"}, "hall", []) == {"room": "hall"}


def test_place_of_a_wrong_type_is_left_to_the_tools_own_check() -> None:
    assert fill_places(LIGHT, {"room": 7}, "hall", []) == {"room": 7}


def test_places_of_a_call_are_remembered_and_other_arguments_are_not() -> None:
    assert spoken_places(LIGHT, {"room": "attic", "brightness": 3}) == ["attic"]
    assert spoken_places(LIST, {}) == []


def lock_door(door: Name) -> None:
    """Locks a door.

    Args:
        door: Which.
    """


def start_vacuum(area: Name | None = None, vacuum: Name | None = None) -> None:
    """Cleans.

    Args:
        area: Where.
        vacuum: With what.
    """


LOCK = FunctionDeclaration.from_function(lock_door)
VACUUM = FunctionDeclaration.from_function(start_vacuum)


def test_absent_name_stays_absent_and_one_that_is_needed_is_asked_for() -> None:
    assert fill_places(VACUUM, {}, "hall", ["kitchen"]) == {}
    assert fill_places(VACUUM, {"area": None, "vacuum": ""}, "hall", ["kitchen"]) == {}
    assert fill_places(LOCK, {}, "hall", ["back door"]) is None
    assert which(LOCK) == "Which door?"


def test_here_and_it_stand_for_names_too() -> None:
    here_and_it = {"area": "here", "vacuum": "it"}

    assert fill_places(VACUUM, here_and_it, "hall", ["Rosie"]) == {"area": "hall", "vacuum": "Rosie"}
    assert fill_places(VACUUM, {"area": "in here"}, None, ["Rosie"]) is None
    assert fill_places(LOCK, {"door": "it"}, "hall", ["back door"]) == {"door": "back door"}
    assert fill_places(LOCK, {"door": "it"}, "hall", []) is None
    assert spoken_places(VACUUM, {"area": "hall", "vacuum": "Rosie"}) == ["hall", "Rosie"]


@pytest.mark.parametrize("word", ["them", "They", "those", "these.", "both", "both of them", "all of them"])
def test_them_are_the_places_that_were_spoken_of_together(word: str) -> None:
    earlier, together = ["attic", "hall", "kitchen"], ["hall", "kitchen"]

    assert fill_places(LIGHT, {"room": word}, "bath", earlier, together) == {"room": "hall and kitchen"}
    assert fill_places(LIGHT, {"room": "it"}, "bath", earlier, together) == {"room": "kitchen"}
    assert fill_places(LIGHT, {"room": word}, "bath", earlier) == {"room": "kitchen"}
    assert fill_places(LIGHT, {"room": word}, "bath", []) is None


def test_them_names_nothing_twice_and_an_exception_last() -> None:
    together = ["everything except the bedroom", "hall", "Hall", "all but the bath"]

    assert fill_places(LIGHT, {"room": "them"}, None, together, together) == {
        "room": "Hall and everything except the bedroom and all but the bath"
    }


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("the lights in here", "the lights in hall"),
        ("everything in here.", "everything in hall"),
        ("The  Blinds  here", "The Blinds in hall"),
        ("all lamps in this room", "all lamps in hall"),
        ("straße here", "straße in hall"),
        ("the heater in the room", "the heater in hall"),
        ("both lamps around here", "both lamps in hall"),
        ("this area", "hall"),
        ("right here", "hall"),
        ("the atmosphere", "the atmosphere"),
        ("where", "where"),
    ],
)
def test_here_at_the_end_is_the_requesters_room(said: str, meant: str) -> None:
    assert fill_places(LIGHT, {"room": said}, "hall", ["attic"]) == {"room": meant}


def test_here_at_the_end_is_asked_about_where_no_room_is_known() -> None:
    assert fill_places(LIGHT, {"room": "the lights in here"}, None, ["attic"]) is None


@given(st.text(max_size=30), st.one_of(st.none(), st.text(min_size=1, max_size=10)), st.lists(st.text(min_size=1)))
@settings(deadline=None)
def test_any_place_is_filled_with_words_or_asked_about(said: str, room: str | None, earlier: list[str]) -> None:
    filled = fill_places(LIGHT, {"room": said}, room, earlier)

    assert filled is None or (isinstance(filled["room"], str) and filled["room"])


ROOMS = ("Küche", "kitchen", "Living Room", "kids’ room", "the den")


@pytest.mark.parametrize("room", ["kitchen", "KITCHEN", "ku\u0308che", "living-room", "Livingroom", "kids room", "Den"])
def test_a_requesters_room_is_one_of_the_house_whatever_its_case_accents_and_spaces(room: str) -> None:
    assert room_among(room, ROOMS)


@pytest.mark.parametrize("room", ["all", "everything", "everywhere", "the", "", "kitchen and hall", "upstairs"])
def test_another_word_is_no_requesters_room(room: str) -> None:
    assert not room_among(room, ROOMS)


class Rooms:
    """A house of which only the rooms are of interest."""

    def rooms(self) -> tuple[str, ...]:
        return ROOMS

    async def show(self, status: str) -> None: ...


@pytest.mark.parametrize("room", ["all", "everything", "everywhere", "the whole house"])
async def test_a_command_from_a_room_that_is_none_is_asked_about_and_the_room_is_logged_once(
    room: str, caplog: pytest.LogCaptureFixture
) -> None:
    called: list[str] = []

    @tool
    def turn_off_light(room: Place) -> None:
        """Turns off a light.

        Args:
            room: Which.
        """
        called.append(room)

    model = ScriptedModel(
        always=lambda request: "Okay." if request.contents[-1].responses else act(call("turn_off_light"))
    )
    async with AgentRunner(Agent("desk", tools=(turn_off_light,)), model) as runner:
        service = Service(Settings(node="desk"), None, Rooms(), model, runner, HouseStore())  # type: ignore[arg-type]
        for text in ("light off", "off with it"):
            command = Command(text, "mqtt", room=room)
            said = [event async for event in service.handle(command)]

            assert said == [TextMessage("Which room?")]
        _ = [event async for event in service.handle(Command("kill the lamp", "mqtt", room="KÜCHE"))]

    assert called == ["KÜCHE"]
    assert [record.message for record in caplog.records] == [
        f"the house has no room {room!r}: a command by mqtt is taken without it"
    ]


def test_rooms_of_a_home_are_told_by_all_their_names() -> None:
    devices, _ = open_devices()

    rooms = House(devices, None, HouseStore()).rooms()

    assert {"living room", "lounge", "Küche", "kitchen"} <= set(rooms)
    assert not {"ground floor", "upstairs", "reading lamp", "movie lights"} & set(rooms)
