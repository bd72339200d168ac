"""Voice, thin: a recording goes in, the same command as on every channel runs, the answer is spoken.

What hears and speaks is the extra `voice`, imported only here and only when it is used.
"""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agent.channels.cli import ask, one_shot_lines
from agent.channels.local import Appliance
from agent.command import Command
from agent.config import VoiceSettings
from agent.errors import AgentError
from agent.tool import AccessLevel

NOTHING_HEARD = "I didn't hear anything."


async def listen(
    appliance: Appliance,
    recording: Path,
    spoken: Path | None = None,
    *,
    names: Iterable[str],
    voice: VoiceSettings,
) -> None:
    """Hears one command, runs it, prints its answer and speaks it.

    What was understood goes to standard error. A recording in which nothing is said calls nothing.

    Args:
        appliance: What runs the command.
        recording: A WAV with a person's words.
        spoken: The WAV to write the spoken answer to; None keeps it unspoken.
        names: What the house and its parts are called.
        voice: How the answer sounds.

    Raises:
        AgentError: The command ended without an answer; what there is to say of it is spoken too.
        HearthError: The recording cannot be used, or what hears or speaks is not installed.
        OSError: A file cannot be read or written.
    """
    tools = await appliance.tools(AccessLevel.SYSTEM)
    text = await asyncio.to_thread(_heard, recording, tools, tuple(names))
    said = NOTHING_HEARD
    if text:
        print(f"heard: {text}", file=sys.stderr, flush=True)
        try:
            said = await _answered(appliance, Command(text, "voice"))
        except AgentError as error:
            await _speak(error.message, spoken, voice)
            raise
    print(said, flush=True)
    await _speak(said, spoken, voice)


async def _answered(appliance: Appliance, command: Command) -> str:
    answer = io.StringIO()
    await ask(appliance, command, one_shot_lines(), out=answer)
    return answer.getvalue().strip()


def _heard(recording: Path, tools: Iterable[Mapping[str, Any]], names: Iterable[str]) -> str:
    from agent.channels.voice.recording import read_recording
    from agent.channels.voice.sentences import sentences
    from agent.channels.voice.transcribe import Recognizer

    samples = read_recording(recording)
    return Recognizer(sentences(tools, names)).transcribe(samples)


async def _speak(text: str, path: Path | None, voice: VoiceSettings) -> None:
    if path is not None:
        from agent.channels.voice.speak import speak

        await asyncio.to_thread(speak, text, path, voice)
