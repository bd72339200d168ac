"""One conversation: its history, its borders, its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from agent.command import MAX_COMMAND_LENGTH
from agent.content import Content, FunctionResponsePart, Role
from agent.errors import AgentError, ErrorCode, StoreError
from agent.events import AgentEvent, FunctionResponse, TextMessage
from agent.runner import Agent, AgentRunner, Limits
from agent.schema import Place
from agent.session import AgentSession, last_turns
from agent.store import SessionStore
from agent.tool import AgentTool, tool
from tests.fakes import HOLD, ScriptedModel, act, answer, call, query

LIGHTS: list[str] = []


@tool(say="The {room} light is on.")
def turn_on_light(room: Place) -> None:
    """Turns on a light.

    Args:
        room: Which.
    """
    LIGHTS.append(room)


@tool(read_only=True, say="It is on.")
def get_state(device: Place) -> None:
    """Tells how a device is.

    Args:
        device: Which.
    """


@pytest.fixture(autouse=True)
def dark() -> None:
    LIGHTS.clear()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SessionStore]:
    store = SessionStore(tmp_path / "sessions.db")
    yield store
    store.close()


def _runner(model: ScriptedModel, store: SessionStore | None = None, **limits: float) -> AgentRunner:
    agent = Agent("hearth", tools=(turn_on_light,))
    return AgentRunner(agent, model, store=store, limits=Limits(**limits))  # type: ignore[arg-type]


async def _events(session: AgentSession, text: str, room: str | None = None) -> list[AgentEvent]:
    return [event async for event in session.run(text, room)]


async def _text(session: AgentSession, text: str, room: str | None = None) -> str:
    last = (await _events(session, text, room))[-1]
    assert isinstance(last, TextMessage) and not last.is_partial
    return last.text


async def _code(session: AgentSession, content: str | Content) -> ErrorCode:
    with pytest.raises(AgentError) as failure:
        async for _ in session.run(content):
            pass
    return failure.value.code


async def test_history_holds_what_was_said_called_and_answered() -> None:
    async with _runner(ScriptedModel(act(call("turn_on_light", room="hall")), "The hall light is on.")) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "light in the hall")

        said, called, responded, answered = session.history
    assert said == Content.user("light in the hall")
    assert called.role is Role.MODEL and called.calls[0].arguments == {"room": "hall"}
    assert responded.role is Role.USER and responded.responses[0].id == called.calls[0].id
    assert answered == Content.model("The hall light is on.")


async def test_next_turn_shows_the_model_the_ones_before() -> None:
    model = ScriptedModel("Hello.", "Bye.")
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "hello")
        await _events(session, "bye")

    assert model.requests[1].contents == (Content.user("hello"), Content.model("Hello."), Content.user("bye"))


async def test_history_is_cut_at_the_border_of_a_turn_with_calls_and_results_together() -> None:
    turn = (act(call("turn_on_light", room="hall")), "The hall light is on.")
    model = ScriptedModel(*turn, *turn, *turn, *turn)
    async with _runner(model, history_turns=2) as runner:
        session = runner.get_or_create_session("a")
        for number in range(4):
            await _events(session, f"light {number}")

    for request in model.requests:
        starts = [each.text for each in request.contents if each.role is Role.USER and not each.responses]
        assert request.contents[0].text == starts[0]
        assert len(starts) <= 2
        called = [each.id for content in request.contents for each in content.calls]
        assert called == [each.id for content in request.contents for each in content.responses]
    assert [each.text for each in session.history if each.text.startswith("light")] == ["light 2", "light 3"]
    assert len(session.history) == 8


def test_last_turns_of_a_short_conversation_are_all_of_it() -> None:
    contents = [
        Content.user("a"),
        Content.model("b"),
        Content(Role.USER, (FunctionResponsePart("1", "f", {}),)),
    ]

    assert last_turns(contents, 1) == contents
    assert last_turns([], 3) == []


@pytest.mark.parametrize(
    "content",
    ["", "  \n", "\ud83d", "x" * (MAX_COMMAND_LENGTH + 1), Content.model("hello"), Content(Role.USER, ())],
)
async def test_turn_that_is_no_words_of_a_person_is_an_invalid_request(content: str | Content) -> None:
    async with _runner(ScriptedModel()) as runner:
        session = runner.get_or_create_session("a")

        assert await _code(session, content) is ErrorCode.INVALID_REQUEST
        assert session.history == ()


async def test_content_may_be_given_in_place_of_a_text() -> None:
    async with _runner(ScriptedModel("Hello.")) as runner:
        events = [event async for event in runner.get_or_create_session("a").run(Content.user("hello"))]

    assert events == [TextMessage("Hello.")]


async def test_space_around_the_words_is_not_part_of_them() -> None:
    async with _runner(ScriptedModel("Hello.")) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "  hello \n")

    assert session.history[0] == Content.user("hello")


async def test_closed_session_leaves_memory_and_the_store_keeps_it(store: SessionStore) -> None:
    async with _runner(ScriptedModel("Hello.", "Again."), store) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "hello")
        await session.close()

        again = runner.get_or_create_session("a")
        assert again is not session
        assert again.history == (Content.user("hello"), Content.model("Hello."))
        assert await _code(session, "hello?") is ErrorCode.NOT_AVAILABLE
        await session.close()
        assert await _text(again, "hello again") == "Again."


async def test_closed_session_without_a_store_is_gone() -> None:
    async with _runner(ScriptedModel("Hello.")) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "hello")
        await session.close()

        assert runner.get_or_create_session("a").history == ()


async def test_session_survives_a_restart(store: SessionStore) -> None:
    async with _runner(ScriptedModel("Hello."), store) as runner:
        await _events(runner.get_or_create_session("a"), "hello")
    model = ScriptedModel("Bye.")
    async with _runner(model, store) as runner:
        await _events(runner.get_or_create_session("a"), "bye")

    assert model.requests[0].contents[0] == Content.user("hello")
    assert store.sessions()[0].turns == 2


async def test_deleted_session_is_erased_from_memory_and_store(store: SessionStore) -> None:
    async with _runner(ScriptedModel("Hello.", always="Hello."), store) as runner:
        for name in ("a", "b"):
            await _events(runner.get_or_create_session(name), "hello")
        await runner.get_or_create_session("a").delete()

        assert [row.id for row in store.sessions()] == ["b"]
        assert runner.get_or_create_session("a").history == ()


async def test_delete_session_erases_also_what_only_the_store_knows(store: SessionStore) -> None:
    store.append("old", [Content.user("hello"), Content.model("Hello.")])
    async with _runner(ScriptedModel("Hello."), store) as runner:
        await _events(runner.get_or_create_session("a"), "hello")
        await runner.delete_session("old")
        await runner.delete_session("a")
        await runner.delete_session("never there")

    assert store.sessions() == []


async def test_clear_all_sessions_erases_everything(store: SessionStore) -> None:
    store.append("old", [Content.user("hello"), Content.model("Hello.")])
    async with _runner(ScriptedModel(always="Hello."), store) as runner:
        for name in ("a", "b"):
            await _events(runner.get_or_create_session(name), "hello")
        await runner.clear_all_sessions()

        assert store.sessions() == []
        assert runner.get_or_create_session("a").history == ()


async def test_single_turn_leaves_nothing(store: SessionStore) -> None:
    model = ScriptedModel(always="Hello.")
    async with _runner(model, store) as runner:
        for _ in range(2):
            assert [event async for event in runner.run_single_turn("hello")] == [TextMessage("Hello.")]

    assert store.sessions() == []
    assert all(request.contents == (Content.user("hello"),) for request in model.requests)


async def test_delete_in_the_middle_of_a_turn_ends_it_and_leaves_nothing(store: SessionStore) -> None:
    model = ScriptedModel(act(call("turn_on_light", room="hall")), HOLD)
    async with _runner(model, store) as runner:
        session = runner.get_or_create_session("a")
        running = asyncio.create_task(_code(session, "light"))
        await model.holding.wait()
        await session.delete()

        assert await running is ErrorCode.NOT_AVAILABLE
        assert store.sessions() == []


async def test_cancelled_turn_keeps_only_whole_pairs_and_the_session_goes_on(store: SessionStore) -> None:
    model = ScriptedModel(act(call("turn_on_light", room="hall")), HOLD, "Hello.")
    async with _runner(model, store) as runner:
        session = runner.get_or_create_session("a")
        async with aclosing(session.run("light")) as stream:
            async for event in stream:
                if isinstance(event, FunctionResponse):
                    break
            await model.holding.wait()

        assert LIGHTS == ["hall"]
        said, called, responded, note = session.history
        assert (said.text, called.calls[0].id) == ("light", responded.responses[0].id)
        assert "not finished" in note.text
        assert store.load("a", 9) == list(session.history)
        model.go.set()
        assert await _text(session, "hello") == "Hello."
        assert runner.waiting == 0


async def test_turn_that_failed_before_anything_happened_is_not_kept(store: SessionStore) -> None:
    async with _runner(ScriptedModel(RuntimeError("no weights"), "Hello."), store) as runner:
        session = runner.get_or_create_session("a")

        assert await _code(session, "light") is ErrorCode.NOT_AVAILABLE
        assert session.history == ()
        assert store.sessions() == []
        assert await _text(session, "hello") == "Hello."


async def test_turn_that_failed_after_a_call_is_kept_with_a_note() -> None:
    async with _runner(ScriptedModel(act(call("turn_on_light", room="hall")), RuntimeError("hot"))) as runner:
        session = runner.get_or_create_session("a")

        assert await _code(session, "light") is ErrorCode.NOT_AVAILABLE
        assert [each.role for each in session.history] == [Role.USER, Role.MODEL, Role.USER, Role.MODEL]
        assert session.history[-1].text == "This was not finished: The model failed: hot"


async def test_store_that_cannot_be_written_costs_no_answer(
    store: SessionStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("disk full")

    monkeypatch.setattr(store, "append", full)
    async with _runner(ScriptedModel("Hello."), store) as runner:
        session = runner.get_or_create_session("a")

        assert await _text(session, "hello") == "Hello."
        assert len(session.history) == 2
    assert "disk full" in caplog.text


async def test_store_that_stays_full_is_warned_of_once_and_works_again_when_it_can(
    store: SessionStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StoreError("disk full")

    async with _runner(ScriptedModel(always="Hello."), store) as runner:
        with monkeypatch.context() as broken:
            broken.setattr(store, "append", full)
            for each in ("a", "b", "a"):
                await _text(runner.get_or_create_session(each), "hello")
        await _text(runner.get_or_create_session("a"), "hello")

    said = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert said == ["session a: a turn is kept in memory only: disk full", "turns are kept again"]
    assert [row.id for row in store.sessions()] == ["a"]


async def test_store_that_cannot_be_read_costs_the_history_only(
    store: SessionStore, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> list[Content]:
        raise StoreError("unreadable")

    monkeypatch.setattr(store, "load", broken)
    async with _runner(ScriptedModel("Hello."), store) as runner:
        assert await _text(runner.get_or_create_session("a"), "hello") == "Hello."
    assert "unreadable" in caplog.text


async def test_it_is_the_place_of_the_turn_before() -> None:
    model = ScriptedModel(
        act(call("turn_on_light", room="hall")), "Okay.", act(call("turn_on_light", room="it")), "Okay."
    )
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "light in the hall")
        await _events(session, "turn it on")

    assert LIGHTS == ["hall", "hall"]


async def test_it_is_forgotten_after_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("agent.session.time.monotonic", lambda: now)
    model = ScriptedModel(
        act(call("turn_on_light", room="hall")), "Okay.", "Hello.", act(call("turn_on_light", room="it"))
    )
    async with _runner(model, idle_s=300) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "light in the hall")
        now += 301
        await _events(session, "hello")

        assert await _text(session, "turn it on") == "Which room?"
    assert LIGHTS == ["hall"]


async def test_model_sees_nothing_from_before_a_long_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("agent.session.time.monotonic", lambda: now)
    model = ScriptedModel("One.", "Two.", "Three.")
    async with _runner(model, idle_s=300) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "first")
        now += 301
        await _events(session, "second")
        await _events(session, "third")

        assert [content.text for content in model.requests[1].contents] == ["second"]
        assert [content.text for content in model.requests[2].contents] == ["second", "Two.", "third"]
        assert [content.text for content in session.history][:2] == ["first", "One."]


@pytest.mark.parametrize(("silence", "moved"), [(10, ["hall", "hall"]), (301, ["hall"]), (-5, ["hall"])])
async def test_it_outlasts_a_restart_only_within_the_idle_window(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, silence: float, moved: list[str]
) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    async with _runner(ScriptedModel(act(call("turn_on_light", room="hall")), "Okay."), store) as runner:
        await _events(runner.get_or_create_session("a"), "light in the hall")
    now += silence
    async with _runner(ScriptedModel(act(call("turn_on_light", room="it")), "Okay."), store, idle_s=300) as runner:
        await _events(runner.get_or_create_session("a"), "turn it on")

    assert moved == LIGHTS


async def test_it_lasts_as_long_as_the_conversation_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("agent.session.time.monotonic", lambda: now)
    model = ScriptedModel(
        act(call("turn_on_light", room="hall")),
        "Okay.",
        "Hello.",
        act(call("turn_on_light", room="it")),
        "Okay.",
    )
    async with _runner(model, idle_s=300) as runner:
        session = runner.get_or_create_session("a")
        for text in ("light in the hall", "hello", "turn it on"):
            await _events(session, text)
            now += 200

    assert LIGHTS == ["hall", "hall"]


async def test_it_is_not_carried_from_one_session_to_another() -> None:
    model = ScriptedModel(act(call("turn_on_light", room="hall")), "Okay.", act(call("turn_on_light", room="it")))
    async with _runner(model) as runner:
        await _events(runner.get_or_create_session("a"), "light in the hall")

        assert await _text(runner.get_or_create_session("b"), "turn it on") == "Which room?"


async def test_place_of_a_call_that_failed_is_not_it() -> None:
    def refuse(room: str) -> dict[str, str]:
        return {"error": f"there is no {room}"}

    light = AgentTool.from_declaration(AgentTool(turn_on_light).declaration, refuse)
    model = ScriptedModel(
        act(call("turn_on_light", room="cellar")),
        answer("There is no cellar."),
        act(call("turn_on_light", room="it")),
    )
    async with AgentRunner(Agent("hearth", tools=(light,)), model) as runner:
        session = runner.get_or_create_session("a")
        assert await _text(session, "light in the cellar") == "There is no cellar."

        assert await _text(session, "turn it on") == "Which room?"


async def test_it_within_one_step_is_the_place_of_the_call_before() -> None:
    model = ScriptedModel(
        act(
            call("turn_on_light", room="hall"),
            call("turn_on_light", room="attic"),
            call("turn_on_light", room="it"),
        ),
        "Okay.",
    )
    async with _runner(model) as runner:
        await _events(runner.get_or_create_session("a"), "hall and attic, and it")

    assert LIGHTS == ["hall", "attic"]  # "it" is the attic, and the same call twice in one step is one


async def test_them_are_the_places_of_the_turn_before_all_of_them() -> None:
    model = ScriptedModel(
        act(call("turn_on_light", room="attic")),
        "Okay.",
        act(call("turn_on_light", room="hall"), call("turn_on_light", room="kitchen light")),
        "Okay.",
        act(call("turn_on_light", room="them")),
        "Okay.",
        act(call("turn_on_light", room="it")),
        "Okay.",
    )
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        for text in ("attic light", "light in the hall and the kitchen", "turn them on", "turn it on"):
            await _events(session, text)

    assert LIGHTS == ["attic", "hall", "kitchen light", "hall and kitchen light", "hall and kitchen light"]


async def test_them_are_also_what_was_called_in_an_earlier_step_of_the_same_turn() -> None:
    model = ScriptedModel(
        act(call("turn_on_light", room="attic")),
        "Okay.",
        act(call("turn_on_light", room="hall")),
        act(call("turn_on_light", room="kitchen"), call("turn_on_light", room="them")),
        "Okay.",
    )
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "attic light")
        await _events(session, "hall, kitchen, and all of them")

    assert LIGHTS == ["attic", "hall", "kitchen", "hall and kitchen"]


async def test_a_turn_that_speaks_of_no_place_leaves_them_as_they_were() -> None:
    model = ScriptedModel(
        act(call("turn_on_light", room="hall"), call("turn_on_light", room="attic")),
        "Okay.",
        "Hello.",
        act(call("turn_on_light", room="them")),
        "Okay.",
    )
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        for text in ("hall and attic", "hello", "turn them on"):
            await _events(session, text)

    assert LIGHTS == ["hall", "attic", "hall and attic"]


async def test_what_a_question_asked_about_is_it() -> None:
    model = ScriptedModel(
        query(call("get_state", device="hall light")), "On.", act(call("turn_on_light", room="it")), "Okay."
    )
    async with AgentRunner(Agent("hearth", tools=(turn_on_light, get_state)), model) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "is the hall light on?")
        await _events(session, "turn it on")

    assert LIGHTS == ["hall light"]


@pytest.mark.parametrize("jump", [-1_800_000_000.0, -3600.0, 3600.0, 1_000_000_000.0])
@pytest.mark.parametrize("kept", [True, False])
async def test_it_and_them_do_not_heed_a_wall_clock_that_jumps(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch, jump: float, kept: bool
) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    model = ScriptedModel(
        act(call("turn_on_light", room="hall"), call("turn_on_light", room="attic")),
        "Okay.",
        act(call("turn_on_light", room="it")),
        "Okay.",
    )
    async with _runner(model, store if kept else None, idle_s=300) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "hall and attic")
        now += jump
        await _events(session, "turn it on")

    assert LIGHTS == ["hall", "attic", "attic"]


async def test_it_and_them_end_with_the_idle_window_though_the_wall_clock_stands(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("agent.session.time.monotonic", lambda: now)
    monkeypatch.setattr("time.time", lambda: 0.0)
    spoken = act(call("turn_on_light", room="hall"), call("turn_on_light", room="attic"))
    model = ScriptedModel(
        spoken, "Okay.", act(call("turn_on_light", room="them")), spoken, "Okay.", act(call("turn_on_light", room="it"))
    )
    async with _runner(model, store, idle_s=300) as runner:
        session = runner.get_or_create_session("a")
        for word in ("them", "it"):
            await _events(session, "hall and attic")
            now += 301

            assert await _text(session, f"turn {word} on") == "Which room?"
    assert LIGHTS == ["hall", "attic", "hall", "attic"]


async def test_them_outlast_a_restart_without_what_failed(store: SessionStore) -> None:
    def turn_on(room: str) -> dict[str, str]:
        LIGHTS.append(room)
        return {"error": "it is broken"} if room == "attic" else {}

    light = AgentTool.from_declaration(AgentTool(turn_on_light).declaration, turn_on)
    agent = Agent("hearth", tools=(light,))
    first = ScriptedModel(
        act(*(call("turn_on_light", room=room) for room in ("hall", "attic", "kitchen"))), answer("Okay.")
    )
    async with AgentRunner(agent, first, store=store) as runner:
        await _events(runner.get_or_create_session("a"), "hall, attic and kitchen")
    model = ScriptedModel(act(call("turn_on_light", room="them")), "Okay.")
    async with AgentRunner(agent, model, store=store) as runner:
        await _events(runner.get_or_create_session("a"), "turn them on")

    assert LIGHTS == ["hall", "attic", "kitchen", "hall and kitchen"]


async def test_a_room_that_was_not_said_is_it_in_the_turns_that_follow() -> None:
    model = ScriptedModel(
        act(call("turn_on_light")), "Okay.", act(call("turn_on_light", room="it")), "Okay.", act(call("turn_on_light"))
    )
    async with _runner(model) as runner:
        session = runner.get_or_create_session("a")
        await _events(session, "light", room="hall")
        await _events(session, "turn it on", room="attic")

        assert await _text(session, "light") == "Which room?"
    assert LIGHTS == ["hall", "hall"]


async def test_sessions_beyond_those_in_memory_are_read_again_and_one_that_is_held_stays_itself(
    store: SessionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.runner.SESSIONS_IN_MEMORY", 2)
    model = ScriptedModel(always="Hello.")
    async with _runner(model, store) as runner:
        held = runner.get_or_create_session("held")
        for name in ("a", "b", "c"):
            await _events(runner.get_or_create_session(name), f"I am {name}")
        assert runner.get_or_create_session("held") is held
        model.requests.clear()
        await _events(runner.get_or_create_session("a"), "who am I?")

        assert [each.text for each in model.requests[0].contents] == ["I am a", "Hello.", "who am I?"]
        assert len(runner._sessions) <= 3


async def test_sessions_without_a_store_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.runner.SESSIONS_IN_MEMORY", 1)
    async with _runner(ScriptedModel(always="Hello.")) as runner:
        for name in ("a", "b"):
            await _events(runner.get_or_create_session(name), "hello")

        assert runner.get_or_create_session("a").history


@pytest.mark.parametrize("id", ["", "x" * 201, "a\nb", "\ud800"])
async def test_id_that_cannot_be_one_is_an_invalid_request(id: str) -> None:
    async with _runner(ScriptedModel()) as runner:
        with pytest.raises(AgentError) as failure:
            runner.get_or_create_session(id)
    assert failure.value.code is ErrorCode.INVALID_REQUEST
