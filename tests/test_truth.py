"""F14 and F18: nothing is said that was not done, and no raw call is spoken."""

from __future__ import annotations

import pytest

from agent.truth import NOTHING, Answer, Facts, claims_action, claims_state, is_raw


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        "All done!",
        "Okay, done.",
        "Done, the light is on",
        "I've turned on the kitchen light.",
        "I\u2019ve just turned it off",
        "I have successfully set the brightness to 80%.",
        "No problem, I turned off everything.",
        "Sure! Turning on the lights now.",
        "Turned off the fan.",
        "I'll turn that on for you.",
        "I'm opening the garage door.",
        "I am going to lock the door",
        "Let me dim it for you.",
        "The lights have been turned off.",
        "Kitchen light turned on.",
        "I turned on the light, OK?",
        "Consider it done.",
        "I vacuumed the kitchen.",
        "I'm mowing the lawn now.",
        "Okay, I have announced it everywhere.",
        "I'll remind you at five.",
        "I will wake you at 7.",
        "Skipped that track.",
        "The blinds have been lowered.",
        "The volume has been raised.",
        "Milk has been added.",
        "Warming up the living room.",
        "I ran the script.",
        "I've snoozed the alarm.",
    ],
)
def test_claim_of_an_action_is_recognised(text: str) -> None:
    assert claims_action(text)


@pytest.mark.parametrize(
    "text",
    [
        "In San Francisco it's currently 25 degrees Celsius.",
        "I did nothing.",
        "I have not turned on anything.",
        "I couldn't turn on the light.",
        "I can't open the garage door.",
        "Which light do you mean?",
        "Shall I turn on the kitchen light?",
        "There are 3 lights: hall, kitchen, attic.",
        "It is 5 o'clock.",
        "The hall light is on.",
        "The garage door was opened at 8 o'clock.",
        "Opening hours are 9 to 5.",
        "No lamp has been turned on.",
        "It was raining.",
        "Your alarm is at 7.",
        "You asked me to remind you of the bins.",
        "Hello! How can I help?",
        "Closed.",
    ],
)
def test_honest_words_claim_no_action(text: str) -> None:
    assert not claims_action(text)


@pytest.mark.parametrize(
    "text",
    [
        "The light is on.",
        "The lights are now off",
        "It's at 80 percent.",
        "The door is opening.",
        "Lights on.",
        "The vacuum is docked.",
        "The mower is mowing the lawn.",
        "The radio is paused.",
        "The blinds are lowered.",
    ],
)
def test_claim_of_a_state_is_recognised(text: str) -> None:
    assert claims_state(text)


@pytest.mark.parametrize("text", ["It is on page 7.", "Is the light on?", "The light is not on.", "It is warm."])
def test_other_words_claim_no_state(text: str) -> None:
    assert not claims_state(text)


RAW = [
    '```json\n{"name": "turn_on_light"}\n```',
    "```",
    '{"name": "turn_on_light", "arguments": {"room": "kitchen"}}',
    "{'name': 'turn_on_light', 'arguments': {'room': 'kitchen'},}",
    'Sure, here is the call: {"name": "turn_on_light"}',
    '[{"name": "turn_on_light"}, {"name": "turn_off_light"}]',
    '{"name": "turn_on_li',
    '{name: turn_on_light, brightness: "50%"}',
    "<tool_call>turn_on_light</tool_call>",
    "<|tool_call|>",
    'turn_on_light(room="k\\u00fcche")',
    "turn_on_light()",
    "[]",
]


@pytest.mark.parametrize("text", RAW)
def test_raw_call_json_or_code_block_is_recognised(text: str) -> None:
    assert is_raw(text)


@pytest.mark.parametrize("text", ["The lamp (in the hall) is on.", "It's 25 degrees (Celsius).", "3 < 4", "[hall]"])
def test_words_with_brackets_are_no_raw_call(text: str) -> None:
    assert not is_raw(text)


def _whole(*pieces: str, acted: bool = False, told: bool = False, words: str = "") -> tuple[list[str], str]:
    answer, facts = Answer(), Facts(acted, told, words)
    early = [ready for piece in pieces if (ready := answer.hear(piece, facts))]
    rest = answer.finish(facts)
    assert "".join([*early, rest]) == answer.text
    return early, answer.text


@pytest.mark.parametrize("raw", RAW)
def test_raw_call_is_never_spoken_even_after_an_action(raw: str) -> None:
    assert _whole(raw, acted=True, told=True, words="The lamp is on.") == ([], "The lamp is on.")


def test_claim_without_an_action_is_replaced() -> None:
    assert _whole("Done, the light is on") == ([], NOTHING)
    assert _whole("Done, the light is on", told=True) == ([], NOTHING)
    assert _whole("Done, the light is on", acted=True) == ([], "Done, the light is on")


def test_state_that_a_tool_told_is_spoken_and_one_that_none_told_is_not() -> None:
    assert _whole("The light is on.", told=True) == ([], "The light is on.")
    assert _whole("The light is on.") == ([], NOTHING)


def test_answer_in_one_piece_stays_in_one_piece() -> None:
    assert _whole("It is 5. It is late.") == ([], "It is 5. It is late.")


def test_sentences_of_a_stream_are_let_out_when_more_follows() -> None:
    early, text = _whole("It is", " 5.3", " degrees.", " It", " is late. Bye", ".")

    assert early == ["It is 5.3 degrees.", " It is late."]
    assert text == "It is 5.3 degrees. It is late. Bye."


def test_everything_from_a_claim_on_is_held_back_in_a_stream() -> None:
    early, text = _whole("Hello.", " I turned on the light.", " It is warm now.", " Bye.")

    assert early == ["Hello."]
    assert text == f"Hello. {NOTHING}"


def test_raw_call_at_the_end_of_a_stream_is_held_back() -> None:
    early, text = _whole("Sure.", ' {"name": ', '"turn. on"}', " Bye.", words="It is 5.")

    assert early == ["Sure."]
    assert text == "Sure. It is 5."


def test_empty_answer_says_what_stands_in_for_it() -> None:
    assert _whole("", words="It is 5.") == ([], "It is 5.")
    assert _whole("  \n", words="It is 5.") == ([], "It is 5.")


def test_words_that_are_dropped_are_never_said() -> None:
    answer = Answer()
    answer.hear("Let me see", Facts())
    answer.drop()

    assert answer.finish(Facts(words="It is 5.")) == "It is 5."


def test_words_of_a_result_are_spoken_whatever_they_say() -> None:
    assert _whole("The door is open already.", words="The door is open already.") == (
        [],
        "The door is open already.",
    )


def test_words_of_a_result_that_look_like_a_call_are_spoken_once() -> None:
    words = "The hall light is on. Bus_1 (hall) is slow."

    assert _whole("The hall light is on.", " Bus_1 (hall) is slow.", acted=True, words=words)[1] == words
