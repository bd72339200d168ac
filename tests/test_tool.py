"""Tools: declaring, calling, wrapping, finding."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from agent.errors import ArgumentError, DeclarationError
from agent.schema import FunctionDeclaration, FunctionSchema, FunctionType, Place, Range
from agent.tool import (
    AccessLevel,
    AgentTool,
    ConfirmationTool,
    ToolCall,
    discover,
    load_folder,
    tool,
    visible,
)

USER_TOOLS = Path(__file__).parent / "data" / "user_tools"


class Unit(Enum):
    CELSIUS = "celsius"
    FAHRENHEIT = "fahrenheit"


@dataclass(frozen=True)
class Weather:
    location: str
    degrees: float
    unit: Unit
    wind: tuple[int, ...] = ()


@tool(read_only=True, say="In {location} it's currently {degrees} degrees.")
def get_weather(location: str, unit: Unit = Unit.CELSIUS) -> Weather:
    """Gets the weather."""
    return Weather(location, 25.0, unit, (1, 2))


@tool
async def wait_for(seconds: float) -> float:
    """Waits."""
    return seconds


class Lights:
    """Something that tools are methods of."""

    def __init__(self) -> None:
        self.brightness: dict[str, int | None] = {}

    @tool
    def turn_on(self, room: Place, brightness: Annotated[int, Range(0, 100)] | None = None) -> None:
        """Turns on a light.

        Args:
            room: What the user calls it.
            brightness: Percent.
        """
        self.brightness[room] = brightness

    @classmethod
    @tool
    def count(cls) -> int:
        """Counts the lights."""
        return 3

    @staticmethod
    @tool
    def name(room: str) -> str:
        """Names the light of a room."""
        return f"{room} light"


class Person:
    """Answers every question in the same way, and remembers them."""

    def __init__(self, answer: bool = True) -> None:
        self.answer = answer
        self.questions: list[str] = []

    async def confirm(self, question: str) -> bool:
        self.questions.append(question)
        return self.answer


async def called(agent_tool: AgentTool, person: Person | None = None, /, **arguments: Any) -> dict[str, Any]:
    return await agent_tool.call(arguments, ToolCall("call-1", agent_tool.name, (person or Person()).confirm))


def returning(result: Any) -> AgentTool:
    declaration = FunctionDeclaration("give", "Gives it.")
    return AgentTool.from_declaration(declaration, lambda: result)


class TestDecorator:
    def test_decorated_function_stays_callable_as_itself(self) -> None:
        assert get_weather("Rome").location == "Rome"

    def test_bare_decorator_is_trusted_and_not_read_only(self) -> None:
        declared = AgentTool(wait_for)

        assert declared.access is AccessLevel.TRUSTED
        assert declared.declaration.read_only is False

    def test_arguments_of_the_decorator_are_kept(self) -> None:
        declaration = AgentTool(get_weather).declaration

        assert declaration.read_only is True
        assert declaration.say == "In {location} it's currently {degrees} degrees."

    def test_wrong_declaration_fails_at_once(self) -> None:
        with pytest.raises(DeclarationError, match=r"dim\.amount: it has no type annotation"):

            @tool(access=AccessLevel.SELF)
            def dim(amount) -> None:  # type: ignore[no-untyped-def]
                """Dims."""

    def test_decorator_above_classmethod_says_where_it_belongs(self) -> None:
        with pytest.raises(DeclarationError, match="put @tool beneath @classmethod"):
            tool(classmethod(lambda cls: None))  # type: ignore[call-overload]


class TestAgentTool:
    async def test_bound_method_moves_its_own_object(self) -> None:
        mine, other = Lights(), Lights()

        response = await called(AgentTool(mine.turn_on), room="kitchen", brightness=80.0)

        assert response == {"status": "ok"}
        assert mine.brightness == {"kitchen": 80}
        assert other.brightness == {}

    async def test_self_is_no_parameter(self) -> None:
        assert list(AgentTool(Lights().turn_on).declaration.parameters.properties) == ["room", "brightness"]

    async def test_class_and_static_methods_work(self) -> None:
        assert await called(AgentTool(Lights.count)) == {"result": 3}
        assert await called(AgentTool(Lights.name), room="hall") == {"result": "hall light"}

    def test_method_without_its_object_is_refused(self) -> None:
        with pytest.raises(DeclarationError, match=r"Lights\.turn_on: it is a method"):
            AgentTool(Lights.turn_on)

    def test_function_that_is_not_declared_is_refused(self) -> None:
        with pytest.raises(DeclarationError, match="called: it is not declared; put @tool above it"):
            AgentTool(called)

    async def test_argument_reaches_the_function_with_its_declared_type(self) -> None:
        response = await called(AgentTool(wait_for), seconds=3)

        assert isinstance(response["result"], float)

    async def test_dataclass_becomes_its_fields_and_enum_its_value(self) -> None:
        response = await called(AgentTool(get_weather), location="Rome", unit="fahrenheit")

        assert response == {"location": "Rome", "degrees": 25.0, "unit": "fahrenheit", "wind": [1, 2]}

    @pytest.mark.parametrize(
        ("result", "response"),
        [
            (None, {"status": "ok"}),
            (3, {"result": 3}),
            ([1, 2], {"result": [1, 2]}),
            (Unit.CELSIUS, {"result": "celsius"}),
            ("half a \ud800 pair", {"result": "half a ? pair"}),
            ({"a": Unit.CELSIUS}, {"a": "celsius"}),
            ({"error": "no such room"}, {"error": "no such room"}),
        ],
    )
    async def test_result_becomes_a_json_object(self, result: Any, response: dict[str, Any]) -> None:
        assert await called(returning(result)) == response

    @pytest.mark.parametrize(
        "result",
        [object(), {1: "a"}, {1, 2}, float("nan"), pytest.param(10**5000, id="a huge number"), b"bytes"],
    )
    async def test_result_that_json_lacks_is_an_error_of_the_tool(self, result: Any) -> None:
        with pytest.raises(TypeError, match="give: a tool returns primitives"):
            await called(returning(result))

    async def test_wrong_argument_comes_back_as_an_error_and_calls_nothing(self) -> None:
        lights = Lights()

        response = await called(AgentTool(lights.turn_on), room="kitchen", brightness=180)

        assert response == {"error": "brightness: 180 is out of range; allowed is 0 to 100"}
        assert lights.brightness == {}

    async def test_unexpected_exception_propagates(self) -> None:
        @tool
        def fail() -> None:
            """Fails."""
            raise OSError("no port")

        with pytest.raises(OSError, match="no port"):
            await called(AgentTool(fail))

    async def test_argument_error_of_the_function_comes_back_as_an_error(self) -> None:
        @tool
        def resolve(room: str) -> None:
            """Resolves."""
            raise ArgumentError(f"room: there is no {room}")

        assert await called(AgentTool(resolve), room="attic") == {"error": "room: there is no attic"}

    async def test_sync_function_runs_off_the_event_loop(self) -> None:
        @tool
        def thread() -> bool:
            """Tells whether it is on the event loop's thread."""
            return threading.current_thread() is threading.main_thread()

        assert await called(AgentTool(thread)) == {"result": False}

    async def test_async_function_runs_on_the_event_loop(self) -> None:
        @tool
        async def thread() -> bool:
            """Tells whether it is on the event loop's thread."""
            return threading.current_thread() is threading.main_thread()

        assert await called(AgentTool(thread)) == {"result": True}

    async def test_tool_around_a_tool_is_the_same_tool(self) -> None:
        inner = AgentTool(get_weather)
        outer = AgentTool(inner)

        assert outer.declaration is inner.declaration
        assert await called(outer, location="Rome") == await called(inner, location="Rome")


class TestDeclaredAsData:
    OPEN_APP = FunctionDeclaration(
        "open_app",
        "Opens an app.",
        FunctionSchema(
            FunctionType.OBJECT,
            properties={"appName": FunctionSchema(FunctionType.STRING)},
            required=("appName",),
        ),
    )

    async def test_function_takes_the_arguments_by_keyword(self) -> None:
        opened: list[dict[str, Any]] = []
        declared = AgentTool.from_declaration(self.OPEN_APP, lambda **arguments: opened.append(arguments))

        assert await called(declared, appName="Camera") == {"status": "ok"}
        assert opened == [{"appName": "Camera"}]

    async def test_function_may_be_async(self) -> None:
        async def open_app(**arguments: Any) -> str:
            return str(arguments["appName"])

        declared = AgentTool.from_declaration(self.OPEN_APP, open_app, AccessLevel.SYSTEM)

        assert await called(declared, appName="Camera") == {"result": "Camera"}
        assert declared.access is AccessLevel.SYSTEM

    async def test_arguments_are_checked(self) -> None:
        declared = AgentTool.from_declaration(self.OPEN_APP, lambda **arguments: None)

        assert await called(declared) == {"error": "appName: it is missing; allowed is a string"}


class TestConfirmationTool:
    async def test_yes_calls_the_tool(self) -> None:
        lights, person = Lights(), Person(answer=True)

        response = await called(ConfirmationTool(lights.turn_on), person, room="kitchen")

        assert response == {"status": "ok"}
        assert lights.brightness == {"kitchen": None}
        assert person.questions == ["Really turn on (room: kitchen)?"]

    async def test_no_calls_nothing(self) -> None:
        lights = Lights()

        response = await called(ConfirmationTool(lights.turn_on), Person(answer=False), room="kitchen")

        assert response["status"] == "CANCELLED_BY_USER"
        assert lights.brightness == {}

    async def test_wrong_arguments_ask_nobody(self) -> None:
        person = Person()

        response = await called(ConfirmationTool(Lights().turn_on), person, room="kitchen", brightness=101)

        assert response == {"error": "brightness: 101 is out of range; allowed is 0 to 100"}
        assert person.questions == []

    async def test_question_may_be_words_or_made_of_the_arguments(self) -> None:
        person = Person()
        lights = Lights()

        await called(ConfirmationTool(lights.turn_on, "Sure?"), person, room="kitchen")
        of_arguments = ConfirmationTool(AgentTool(lights.turn_on), lambda given: f"Light the {given['room']}?")
        await called(of_arguments, person, room="kitchen")

        assert person.questions == ["Sure?", "Light the kitchen?"]

    def test_declaration_and_access_are_those_of_the_tool(self) -> None:
        @ConfirmationTool
        @tool(access=AccessLevel.SELF)
        def open_door() -> None:
            """Opens the door."""

        assert open_door.name == "open_door"
        assert open_door.access is AccessLevel.SELF


async def test_who_may_ask_for_a_call_can_depend_on_its_arguments() -> None:
    person, lights = Person(), Lights()
    levels = {"safe": AccessLevel.SELF}
    guarded = ConfirmationTool(lights.turn_on, None, lambda given: levels.get(given["room"], AccessLevel.TRUSTED))

    async def call(level: AccessLevel, room: str) -> dict[str, Any]:
        return await guarded.call({"room": room}, ToolCall("c1", guarded.name, person.confirm, level))

    assert "error" in await call(AccessLevel.SYSTEM, "safe")
    assert not person.questions
    assert await call(AccessLevel.TRUSTED, "kitchen") == {"status": "ok"}
    assert await call(AccessLevel.SELF, "safe") == {"status": "ok"}


def test_caller_sees_tools_of_its_level_and_above() -> None:
    tools = {
        level: AgentTool.from_declaration(FunctionDeclaration(level.name.lower(), "Does it."), print, level)
        for level in AccessLevel
    }

    assert visible(tools.values(), AccessLevel.SELF) == tuple(tools.values())
    assert visible(tools.values(), AccessLevel.SYSTEM) == (
        tools[AccessLevel.SYSTEM],
        tools[AccessLevel.TRUSTED],
    )
    assert visible(tools.values(), AccessLevel.TRUSTED) == (tools[AccessLevel.TRUSTED],)


TOOL = 'from agent.tool import *\n@tool\ndef {name}() -> None:\n    """Does it."""\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package `little_house` that can be imported while the test runs."""
    folder = tmp_path / "little_house"
    (folder / "drivers").mkdir(parents=True)
    (folder / "__init__.py").write_text(TOOL.format(name="in_package"))
    (folder / "lights.py").write_text(TOOL.format(name="light_on") + "class Lamp:\n    pass\n")
    (folder / "garage.py").write_text(
        "from little_house.lights import light_on\n" + TOOL.format(name="open_it") + "asked = ConfirmationTool(open_it)"
    )
    (folder / "drivers" / "__init__.py").write_text("raise RuntimeError('loaded without need')")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "little_house"]:
        del sys.modules[name]


class TestDiscover:
    def test_module_level_tools_of_package_and_modules_are_found_once(self, package: Path) -> None:
        assert [found.name for found in discover("little_house")] == ["in_package", "open_it", "light_on"]

    def test_function_with_a_wrapper_is_found_as_its_wrapper(self, package: Path) -> None:
        (found,) = discover("little_house", ids=["open_it"])

        assert isinstance(found, ConfirmationTool)

    def test_ids_narrow(self, package: Path) -> None:
        assert [found.name for found in discover("little_house", ids={"light_on"})] == ["light_on"]
        assert discover("little_house", ids=[]) == ()

    def test_unknown_id_is_named_with_what_exists(self, package: Path) -> None:
        with pytest.raises(DeclarationError, match=r"no tool 'light_of' \(there are: in_package, open_it, light_on"):
            discover("little_house", ids=["light_of"])

    def test_package_that_is_not_there_is_named(self) -> None:
        with pytest.raises(DeclarationError, match="no_such_house: it cannot be imported"):
            discover("no_such_house")

    def test_two_tools_of_one_name_are_refused_naming_both(self, package: Path) -> None:
        (package / "more.py").write_text(TOOL.format(name="light_on"))

        with pytest.raises(DeclarationError, match=r"light_on: .*little_house.lights and in little_house.more"):
            discover("little_house")


class TestLoadFolder:
    async def test_user_s_own_tools_are_loaded_and_work(self) -> None:
        set_blinds, open_skylight = load_folder(USER_TOOLS)

        assert await called(set_blinds, room="study", closed=40) == {"room": "study", "closed": 40}
        assert isinstance(open_skylight, ConfirmationTool)
        assert open_skylight.access is AccessLevel.SELF
        assert (await called(open_skylight, Person(answer=False)))["status"] == "CANCELLED_BY_USER"

    def test_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(DeclarationError, match="nowhere: there is no such folder"):
            load_folder(tmp_path / "nowhere")

    @pytest.mark.parametrize(
        ("text", "cause"),
        [
            ("def f(:\n", r"broken\.py: SyntaxError: .*line 1"),
            ("\nimport no_such_module\n", r"broken\.py:2: ModuleNotFoundError: .*no_such_module"),
            ("raise SystemExit(3)\n", r"broken\.py:1: SystemExit: 3"),
            ("from agent.tool import tool\n@tool\ndef f(x):\n  'Does.'\n", r"broken\.py:2: f\.x: it has no"),
            ("x = '\0'", r"broken\.py"),
        ],
    )
    def test_broken_file_is_named_with_its_cause(self, tmp_path: Path, text: str, cause: str) -> None:
        (tmp_path / "broken.py").write_text(text)

        with pytest.raises(DeclarationError, match=cause):
            load_folder(tmp_path)

    def test_file_without_a_tool_is_warned_of(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        (tmp_path / "forgotten.py").write_text("def f() -> None:\n    'Does it.'\n")

        with caplog.at_level(logging.WARNING):
            assert load_folder(tmp_path) == ()
        assert "forgotten.py: it declares no tool" in caplog.text

    def test_files_with_underscore_in_front_and_other_files_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "_shared.py").write_text("raise RuntimeError")
        (tmp_path / "notes.txt").write_text("not Python")

        assert load_folder(tmp_path) == ()

    def test_annotations_of_the_file_s_own_types_are_resolved(self, tmp_path: Path) -> None:
        (tmp_path / "own.py").write_text(
            "from __future__ import annotations\n"
            "from dataclasses import dataclass\n"
            "from typing import Literal\n"
            "from agent.tool import tool\n"
            "@dataclass\n"
            "class Wish:\n"
            "    kind: Literal['tea', 'coffee']\n"
            "@tool\n"
            "def brew(wish: Wish) -> None:\n"
            "    'Brews.'\n"
        )

        (brew,) = load_folder(tmp_path)

        assert brew.declaration.parameters.properties["wish"].properties["kind"].enum == ("tea", "coffee")


async def test_literal_argument_arrives_as_the_literal() -> None:
    @tool
    def pick(level: Literal[1, 2] = 1) -> bool:
        """Picks a level."""
        return type(level) is int

    assert await called(AgentTool(pick), level=2.0) == {"result": True}
