"""The table of figures: what becomes of the labels of a set, what is counted, and how it is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.content import FunctionCallPart
from agent.evaluation import Case, Step
from agent.grounding import fill_places
from agent.model.generative import Outcome
from agent.model.prompt import Segment, SegmentRole
from tests.fakes import ScriptedModel, act, call, decline, query
from tools.house import declarations, open_house
from training import evaluate
from training.sets import Mapped, Placed, clinc, home_assistant, home_llm, snips, thingpedia

Write = Callable[..., Path]
TOOLS = {each.name: each for each in declarations()}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file of lines in the form of a set."""

    def write(name: str, *lines: dict[str, Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    return write


@pytest.fixture
def tests_of(write: Write) -> Callable[..., Mapped]:
    """Home Assistant's tests, with a common home of a shed with a lamp."""

    def tests_of(*lines: dict[str, Any]) -> Mapped:
        common = {
            "floors": [{"name": "Ground", "id": "g"}],
            "areas": [{"name": "Shed", "id": "shed", "floor": "g"}],
            "entities": [{"name": "Shed Lamp", "id": "light.shed", "area": "shed"}],
        }
        path = write(home_assistant.FILE, *({"combination": "", **line} for line in lines))
        (path.parent / home_assistant.FIXTURES).write_text(json.dumps(common))
        return home_assistant.intents(path)

    return tests_of


@pytest.fixture
def commands(write: Write) -> Callable[..., Mapped]:
    """Thingpedia's commands: pairs of a sentence and a program."""

    def commands(*pairs: tuple[str, str], **more: Any) -> Mapped:
        plain = {"turn": 0, "agent_before": None, "has_placeholder": False, **more}
        start = "$dialogue @org.thingpedia.dialogue.transaction.execute; "
        lines = [{"text": text, "thingtalk": start + program, **plain} for text, program in pairs]
        return thingpedia.plain(write(thingpedia.FILE, *lines))

    return commands


def due(placed: Placed) -> list[tuple[str, dict[str, Any]]]:
    """The calls that are due."""
    return [(each.name, each.arguments) for step in placed.case.steps for each in step.calls]


def moved(placed: Placed) -> set[str]:
    """The names of the devices that the calls due are about; what is no device as it is."""

    async def about() -> set[str]:
        assert placed.home is not None
        names = {each["id"]: each["name"] for each in placed.home["device"]}
        async with open_house(placed.home) as house:
            found: set[str] = set()
            for step in placed.case.steps:
                for each in step.calls:
                    filled = fill_places(TOOLS[each.name], each.arguments, placed.case.room, ())
                    assert filled is not None
                    found |= house.targets(each.name, filled)
            return {names.get(each, each) for each in found}

    return asyncio.run(about())


# Home Assistant


def test_a_room_of_a_label_has_a_device_of_its_kind(tests_of: Callable[..., Mapped]) -> None:
    """A test whose home has only the area presumes that something is in it."""
    line = {"text": "attic lamps on", "intent": "HassTurnOn", "slots": {"domain": "light", "area": "Attic"}}
    (placed,) = tests_of({**line, "home": {"areas": [{"name": "Attic"}]}}).placed

    assert due(placed) == [("turn_on_light", {"room": "Attic"})]
    assert moved(placed) == {"Attic light"}
    assert placed.case.room is None


def test_a_label_without_a_place_is_said_in_a_room(tests_of: Callable[..., Mapped]) -> None:
    """The lamp of the other room is not meant."""
    (placed,) = tests_of({"text": "lamps out", "intent": "HassTurnOff", "slots": {"domain": "light"}}).placed

    assert placed.case.room == "Living Room"
    assert moved(placed) == {"Living Room light"}


def test_all_is_the_whole_home(tests_of: Callable[..., Mapped]) -> None:
    """Without "here" it reaches every lamp of the common home, and that of the other room."""
    line = {"text": "all lamps out", "intent": "HassTurnOff", "slots": {"domain": "light"}}
    (placed,) = tests_of(line).placed

    assert placed.case.room is None
    assert moved(placed) == {"Shed Lamp", "Conservatory light", "Living Room light"}


def test_a_named_device_stands_where_the_label_has_it(tests_of: Callable[..., Mapped]) -> None:
    """Its entity has no area of its own, and what it is comes from its domain."""
    line = {"text": "unlock the hatch", "intent": "HassTurnOff", "slots": {"name": "Hatch", "area": "Attic"}}
    home = {"entities": [{"name": "Hatch", "domain": "lock"}], "areas": [{"name": "Attic"}]}
    (placed,) = tests_of({**line, "home": home}).placed

    assert due(placed) == [("unlock_door", {"door": "Hatch"})]
    assert moved(placed) == {"Hatch"}
    assert placed.home is not None
    assert {"Attic"} == {each.get("room") for each in placed.home["device"] if each["name"] == "Hatch"}


def test_covers_scenes_lengths_and_steps(tests_of: Callable[..., Mapped]) -> None:
    """Each kind of value has its own way to ours."""
    home = {"entities": [{"name": "Party", "domain": "scene"}]}
    curtain = {"domain": "cover", "device_class": "curtain", "area": "Attic"}
    mapped = tests_of(
        {"text": "party", "intent": "HassTurnOn", "slots": {"name": "Party"}, "home": home},
        {"text": "shut the attic curtains", "intent": "HassTurnOff", "slots": curtain},
        {"text": "90 minutes more", "intent": "HassIncreaseTimer", "slots": {"hours": 1, "minutes": 30, "name": "jam"}},
        {"text": "softer by 5", "intent": "HassSetVolumeRelative", "slots": {"volume_step": -5}},
        {"text": "which doors are locked", "intent": "HassGetState", "slots": {"state": "locked"}},
    )

    assert [due(each)[0] for each in mapped.placed] == [
        ("activate_scene", {"scene": "Party"}),
        ("close_cover", {"cover": "Attic curtains"}),
        ("extend_timer", {"duration": "1 hours 30 minutes", "timer": "jam"}),
        ("lower_volume", {"player": "Living Room", "amount": 5}),
        ("list_devices", {"kind": "door", "state": "locked"}),
    ]
    assert moved(mapped.placed[1]) == {"Attic curtain"}


def test_where_there_is_no_function_nothing_is_to_be_called(tests_of: Callable[..., Mapped]) -> None:
    """Small talk is no wish, and Hearth does not follow people."""
    people = {"entities": [{"name": "Otto", "domain": "person"}]}
    mapped = tests_of(
        {"text": "how do you do", "intent": "HassRespond", "slots": {}},
        {"text": "forget about it", "intent": "HassNevermind", "slots": {}},
        {"text": "has otto left", "intent": "HassGetState", "slots": {"name": "Otto"}, "home": people},
        {"text": "has everybody left", "intent": "HassGetState", "slots": {"state": "not_home"}},
    )

    assert [due(each) for each in mapped.placed] == [[], [], [], []]
    assert not mapped.left


def test_for_a_device_that_is_not_there_a_call_that_moves_nothing_is_right_too(tests_of: Callable[..., Mapped]) -> None:
    """A valve is no device of ours, and the model knows no devices."""
    valve = {"entities": [{"name": "Tap", "domain": "valve"}]}
    mapped = tests_of(
        {"text": "open the tap", "intent": "HassTurnOn", "slots": {"name": "Tap"}, "home": valve},
        {"text": "tap at 20", "intent": "HassSetPosition", "slots": {"name": "Tap", "position": 20}, "home": valve},
    )

    assert [due(each) for each in mapped.placed] == [[], []]
    first, second = ([(each.steps[0].calls[0].name) for each in placed.also] for placed in mapped.placed)
    assert first == ["open_cover", "turn_on_switch"]
    assert second == ["set_cover_position"]


def test_a_lamp_may_be_switched_and_a_fan_lit_as_both_do_the_same(tests_of: Callable[..., Mapped]) -> None:
    """Which of two functions turns on a device makes no difference to it."""
    home = {"entities": [{"name": "Breeze", "domain": "fan"}]}
    mapped = tests_of(
        {"text": "shed lamp on", "intent": "HassTurnOn", "slots": {"name": "Shed Lamp"}},
        {"text": "breeze off", "intent": "HassTurnOff", "slots": {"name": "Breeze"}, "home": home},
    )

    assert [due(replace(each, case=each.also[0])) for each in mapped.placed] == [
        [("turn_on_switch", {"device": "Shed Lamp"})],
        [("turn_off_light", {"room": "Breeze"})],
    ]
    assert [moved(replace(each, case=each.also[0])) for each in mapped.placed] == [{"Shed Lamp"}, {"Breeze"}]


def test_the_class_of_what_is_played_may_be_among_the_words(tests_of: Callable[..., Mapped]) -> None:
    slots = {"search_query": "Mogwai", "media_class": "artist"}
    (placed,) = tests_of({"text": "the artist Mogwai", "intent": "HassMediaSearchAndPlay", "slots": slots}).placed

    assert [each.steps[0].calls[0].arguments["query"] for each in placed.also] == ["artist Mogwai", "Mogwai artist"]


def test_a_temperature_out_of_range_is_asked_about(tests_of: Callable[..., Mapped]) -> None:
    """Nothing is called."""
    line = {"text": "heat to 2 degrees", "intent": "HassClimateSetTemperature", "slots": {"temperature": 2}}
    (placed,) = tests_of(line).placed

    assert due(placed) == []


def test_a_label_that_takes_stop_for_dock_allows_both(tests_of: Callable[..., Mapped]) -> None:
    """Home Assistant cannot stop a mower."""
    (placed,) = tests_of({"text": "stop cutting", "intent": "HassLawnMowerDock", "slots": {}}).placed

    assert due(placed) == [("dock_mower", {})]
    assert [each.steps[0].calls[0].name for each in placed.also] == ["stop_mower"]


# Thingpedia


def test_the_name_of_a_program_is_a_room_or_a_device(commands: Callable[..., Mapped]) -> None:
    """A name that ends in the kind is the device's own."""
    mapped = commands(
        ("porch lamps on", '@org.thingpedia.iot.light-bulb(name="porch").set_power(power=enum on);'),
        ("desk lamp to 20", '@org.thingpedia.iot.light-bulb(name="desk lamp").set_brightness(pct=20);'),
    )

    assert due(mapped.placed[1]) == [("turn_on_light", {"room": "desk lamp", "brightness": 20})]
    assert [moved(each) for each in mapped.placed] == [{"porch light"}, {"desk lamp"}]


def test_a_unit_is_due_only_where_it_was_said(commands: Callable[..., Mapped]) -> None:
    """Every label has one."""
    mapped = commands(
        ("make it 66", "@org.thingpedia.iot.climate.set_target_temperature(value=66F);"),
        ("make it 66F", "@org.thingpedia.iot.climate.set_target_temperature(value=66F);"),
    )

    assert [due(each)[0][1].get("unit") for each in mapped.placed] == [None, "fahrenheit"]


def test_a_question_is_about_one_or_about_several(commands: Callable[..., Mapped]) -> None:
    """A program does not tell them apart, so that both are right; a name is about one."""
    mapped = commands(
        ("is a lock open", "@org.thingpedia.iot.lock.state();"),
        ("is the gate lock open", '@org.thingpedia.iot.lock(name="gate").state();'),
    )

    assert [due(each)[0][0] for each in mapped.placed] == ["get_state", "get_state"]
    assert {each.steps[0].calls[0].name for each in mapped.placed[0].also} == {"list_devices"}
    assert mapped.placed[1].also == ()


@pytest.mark.parametrize(
    ("text", "program", "reason"),
    [
        ("tell me when it opens", "monitor(@org.thingpedia.iot.cover.state());", "a monitor, or something to be done"),
        (
            "at noon",
            "attimer(time=[new Time(12, 0)]) => @org.thingpedia.iot.fan.set_power(power=enum on);",
            "a monitor",
        ),
        ("set the bulb", "@org.thingpedia.iot.light-bulb.set_power(power=$?);", "a value that the program leaves open"),
        ("how is the gas", "@org.thingpedia.iot.gas.state();", "another kind of device"),
        ("swing", "@org.thingpedia.iot.fan.set_oscillation(oscillation=enum on);", "no function"),
        (
            "both",
            "@org.thingpedia.iot.fan.set_power(power=enum on); @org.thingpedia.iot.lock.state();",
            "several calls",
        ),
        ("raise the flap", "@org.thingpedia.iot.cover.set_openclose(state=enum open);", "a cover that Hearth has not"),
        ("dusk?", "@org.thingpedia.weather.sunrise();", "no function: the weather tells no sunrise"),
    ],
)
def test_what_is_not_plain_is_left_out(commands: Callable[..., Mapped], text: str, program: str, reason: str) -> None:
    """Each with its reason."""
    mapped = commands((text, program))

    assert not mapped.placed
    assert [each.startswith(reason) for each in mapped.left] == [True]


def test_the_day_of_a_forecast_is_the_one_that_was_said(commands: Callable[..., Mapped]) -> None:
    """The label has none; "today" may be told either way."""
    mapped = commands(
        ("rain on saturday?", "@org.thingpedia.weather.current();"),
        ("forecast for today", "@org.thingpedia.weather.forecast();"),
    )

    assert due(mapped.placed[0]) == [("get_weather_forecast", {"day": "saturday"})]
    assert due(mapped.placed[1]) == [("get_current_weather", {})]
    assert {"day": "today"} in [each.steps[0].calls[0].arguments for each in mapped.placed[1].also]


def test_of_an_effect_only_the_function_counts_and_a_setpoint_is_a_state(commands: Callable[..., Mapped]) -> None:
    """The words for the effect are not in the label."""
    effect, setpoint = commands(
        ("lamps, party!", "@org.thingpedia.iot.light-bulb.color_loop();"),
        ("where is the dial", "@org.thingpedia.iot.climate.target_temperature();"),
    ).placed

    assert effect.functions == frozenset({"set_light_effect"})
    assert due(setpoint) == [("get_state", {"device": "thermostat in Living Room"})]


def test_a_sentence_counts_once_and_only_in_a_first_turn(commands: Callable[..., Mapped]) -> None:
    """Many stand there several times."""
    fan = "@org.thingpedia.iot.fan.set_power(power=enum on);"

    assert len(commands(("Fan on!", fan), ("fan on", fan)).placed) == 1
    assert not commands(("fan on", fan), turn=1).placed
    assert not commands(("fan on", fan), has_placeholder=True).placed


# The sets that are about functions


def test_clinc_has_functions_and_things_to_ask(write: Write) -> None:
    """Without a length a timer is asked about; another town's time has no function."""
    path = write(
        clinc.FILE,
        {"text": "timer, 3 minutes", "intent": "timer"},
        {"text": "begin my timer", "intent": "timer"},
        {"text": "the hour in oslo", "intent": "time"},
        {"text": "why is grass green", "intent": "oos"},
    )
    mapped = clinc.counted(path)

    assert [each.functions for each in mapped.placed] == [frozenset({"set_timer"}), frozenset()]
    assert sum(mapped.left.values()) == 1
    assert [each.case.text for each in clinc.without_function(path).placed] == ["the hour in oslo"]
    assert [due(each) for each in clinc.out_of_scope(path).placed] == [[]]


def test_snips_and_home_llm(write: Write) -> None:
    """What has a function is not of another domain; what has none is left out."""
    path = write(snips.FILE, {"text": "three stars", "intent": "RateBook"}, {"text": "play", "intent": "PlayMusic"})
    services = write(
        home_llm.FILE, {"text": "bolt it", "intent": "lock.lock"}, {"text": "flip it", "intent": "fan.toggle"}
    )

    assert [each.case.text for each in snips.other_domains(path).placed] == ["three stars"]
    assert [each.functions for each in home_llm.services(services).placed] == [frozenset({"lock_door"})]


# Meaning


@pytest.mark.parametrize(
    ("function", "said", "label"),
    [
        ("set_timer", {"duration": "half an hour"}, {"duration": "30 minutes"}),
        ("cancel_timer", {"timer": "the 5 minute timer"}, {"timer": "5 minutes"}),
        ("cancel_timer", {"timer": "all my timers"}, {"timer": "all"}),
        ("get_timers", {"timer": "my timers"}, {}),
        ("turn_on_light", {"color": "2700 K"}, {"color": "warm white"}),
        ("add_to_list", {"item": "tea", "list": "the shopping list"}, {"item": "tea"}),
        ("get_current_weather", {"location": "outside"}, {}),
        ("list_devices", {"kind": "door", "state": "locked"}, {"kind": "lock", "state": "locked"}),
    ],
)
def test_values_that_mean_the_same_are_the_same(function: str, said: dict[str, Any], label: dict[str, Any]) -> None:
    """The house reads both alike."""
    calls = [FunctionCallPart("", function, arguments) for arguments in (said, label)]

    assert len({str(evaluate.in_meaning(each).arguments) for each in calls}) == 1


def test_a_value_that_cannot_be_read_stays(tests_of: Callable[..., Mapped]) -> None:
    """Then it is not the same as a label."""
    told = evaluate.in_meaning(FunctionCallPart("", "set_timer", {"duration": "a while"}))

    assert told.arguments == {"duration": "a while"}


# Judging


def row(kind: evaluate.Kind, mapped: Mapped, **more: Any) -> evaluate.Row:
    return evaluate.Row("a set", kind, lambda _: mapped, **more)


def judged(told: evaluate.Row, model: ScriptedModel) -> evaluate.Judged:
    return asyncio.run(evaluate.judge(told, model))


def said(text: str, *calls: FunctionCallPart) -> Case:
    return Case("", text, (Step(calls),), room="kitchen")


def test_the_devices_of_the_cases_own_home_are_compared() -> None:
    """A room and its only lamp are the same; another room's is not."""
    home = {
        "room": [{"name": "attic"}, {"name": "cellar"}],
        "device": [
            {"name": "north lamp", "kind": "light", "room": "attic"},
            {"name": "south lamp", "kind": "light", "room": "cellar"},
        ],
    }
    cases = [Placed(said("attic on", call("turn_on_light", room="attic")), home)] * 2
    model = ScriptedModel(act(call("turn_on_light", room="north lamp")), act(call("turn_on_light", room="cellar")))

    assert judged(row("exact", Mapped(cases)), model).right == [True, False]


def test_another_call_that_the_label_allows_is_right() -> None:
    """It is asked again with what is due then."""
    case = said("stop", call("dock_mower"))
    placed = Placed(case, also=(said("stop", call("stop_mower")),))
    model = ScriptedModel(always=act(call("stop_mower")))

    assert judged(row("exact", Mapped([placed])), model).figure == 1.0


def test_of_several_functions_any_is_right_and_none_is_right_for_none() -> None:
    """The arguments do not count."""
    forecast = frozenset({"get_current_weather", "get_weather_forecast"})
    weather = Placed(said("rain?", call("get_current_weather")), functions=forecast)
    timer = Placed(said("a timer"), functions=frozenset())
    model = ScriptedModel(
        query(call("get_weather_forecast", day="tomorrow")), decline("No."), decline("No."), decline("No.")
    )

    assert judged(row("function", Mapped([weather, timer, weather, timer])), model).right == [True, True, False, True]


def test_wrongful_calls_and_aims() -> None:
    """The figure may be reached and the wrongful be too many."""
    placed = [Placed(said("hm"))] * 4
    told = judged(
        row("nothing called", Mapped(placed), aim=0.7, most_wrongful=0.01),
        ScriptedModel(decline("No."), decline("No."), decline("No."), act(call("turn_on_light", room="kitchen"))),
    )

    assert (told.figure, told.wrongful, told.met) == (0.75, 0.25, False)
    (failure,) = evaluate.failures([told])
    assert failure["set"] == "a set"
    assert failure["predicted"][0]["name"] == "turn_on_light"
    assert "75.0%     25.0%  70%, 1%" in evaluate.as_table([told], [])
    assert evaluate.as_data([told], [])["rows"][0]["reached"] is False


def test_an_example_of_the_recipe_is_a_case() -> None:
    """What was said before is its history, and what was done in this turn follows its words."""
    from training.generate import Example, LabelledCall, Span

    segments = (
        Segment(SegmentRole.NOW, "the hall one off"),
        Segment(SegmentRole.CALL, "get state: device hall"),
        Segment(SegmentRole.RESULT, "get state: state on"),
        Segment(SegmentRole.MODEL, "Good morning."),
        Segment(SegmentRole.USER, "good morning"),
    )
    example = Example(segments, Outcome.ACT, (LabelledCall("turn_off_light", {("room",): (Span(0, 4, 8),)}),))
    drawn = evaluate.as_drawn(example, tuple(TOOLS.values()))

    assert drawn.case.steps[0].calls[0].arguments == {"room": "hall"}
    assert [each.text for each in drawn.case.history] == ["good morning", "Good morning."]
    assert [[part.name for part in each.parts] for each in drawn.so_far] == [["get state"], ["get state"]]  # type: ignore[union-attr]


# The command


def test_an_absent_set_is_told_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no error, and what is there is measured."""
    (tmp_path / clinc.FILE).write_text(json.dumps({"text": "why is grass green", "intent": "oos"}) + "\n")
    monkeypatch.setattr(evaluate, "load_model", lambda config: ScriptedModel(always=decline("No.")))
    wrong = tmp_path / "wrong.jsonl"
    status = evaluate.main([str(tmp_path), "--only", "scope", "--failures", str(wrong)])
    table = capsys.readouterr().out

    assert status == 0
    assert "CLINC150 out of scope      1  nothing called  100.0%      0.0%  97%, 1%          yes" in table
    assert wrong.read_text() == ""
    assert evaluate.main([str(tmp_path), "--only", "snips"]) == 0
    assert "absent: Snips other domains (snips_2017_validate.jsonl)" in capsys.readouterr().out
