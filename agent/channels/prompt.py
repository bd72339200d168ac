"""The prompt of `hearth run --prompt`: words in, answers out, and the house beside them as it changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import aclosing
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import Input, RichLog, Static

from agent.channels.cli import YES, Lines, call_line, chat, error_line
from agent.channels.local import Appliance
from agent.command import MAX_COMMAND_LENGTH, Command
from agent.errors import AgentError
from agent.events import ConfirmationRequest, FunctionCall, FunctionResponse, TextMessage
from agent.house import HouseEvent

log = logging.getLogger(__name__)

SESSION = "prompt"
PLACEHOLDER = "turn on the living room lights to 80% brightness"


async def run_prompt(appliance: Appliance, stop: asyncio.Event) -> None:
    """Serves the prompt until `stop`; a person at a terminal who leaves sets it."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        await _full_screen(PromptApp(appliance), stop)
        return
    talk = asyncio.create_task(plain_prompt(appliance, Lines()))
    await stop.wait()
    talk.cancel()
    await asyncio.gather(talk, return_exceptions=True)


async def plain_prompt(appliance: Appliance, lines: Lines) -> None:
    """The same line by line, where there is no terminal; it ends with the input."""
    watching = asyncio.create_task(_print_house(appliance))
    try:
        await chat(appliance, lines, session=SESSION)
    finally:
        watching.cancel()


async def _print_house(appliance: Appliance) -> None:
    async with aclosing(appliance.watch()) as events:
        async for event in events:
            print("  {}: {}".format(*device_line(event)), flush=True)


async def _full_screen(app: PromptApp, stop: asyncio.Event) -> None:
    async def leave() -> None:
        await stop.wait()
        app.exit()

    leaving = asyncio.create_task(leave())
    try:
        with app.log_on_screen():
            await app.run_async()
    finally:
        leaving.cancel()
        stop.set()


def device_line(event: HouseEvent) -> tuple[str, str]:
    """A device's name and its state, as a person reads them."""
    state = event.state
    name, room = str(state.get("name", event.device)), state.get("room")
    if room and room.casefold() not in name.casefold():
        name = f"{name} ({room})"
    if state.get("available") is False:
        return name, "not available"
    words = [str(state.get("state", "unknown"))]
    if words == ["off"]:
        return name, "off"  # what it would be like is of no interest now
    words += [form.format(state[key]) for key, form in _SHOWN.items() if key in state]
    if "rgb" in state:
        words.append("#{:02x}{:02x}{:02x}".format(*state["rgb"]))
    if state.get("muted"):
        words.append("muted")
    if "value" in state:
        words = [f"{state['value']:g} {state.get('unit', '')}".rstrip()]
    return name, ", ".join(words)


_SHOWN = {
    "brightness": "{} %", "speed": "{} %", "position": "{} %", "kelvin": "{} K", "effect": "{}",
    "target": "to {:g} °C", "temperature": "{:g} °C now", "humidity": "{:g} % humid", "volume": "volume {}",
}  # fmt: skip
"""What is shown of a state beside its word, and how; in this order."""


_QUIET = ("off", "closed", "locked", "docked", "paused", "clear", "known", "unknown")
"""Words of states that catch nobody's eye."""


class HouseView(VerticalScroll, can_focus=False):
    """One line a device, with its state; the last one that changed is marked, and in sight."""

    def __init__(self) -> None:
        super().__init__()
        self._events: dict[str, HouseEvent] = {}
        self._lines = Static()

    def compose(self) -> ComposeResult:
        yield self._lines

    def show(self, event: HouseEvent) -> None:
        """Takes in one device: as it is when it is first told of, and each change from then on."""
        is_change = event.device in self._events
        self._events[event.device] = event
        if not event.state:  # it has left the house
            del self._events[event.device]
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)  # where it is narrow, names are cut, not states
        table.add_column(no_wrap=True)
        for row, each in enumerate(self._events.values()):
            changed = is_change and each is event
            name, line = device_line(each)
            table.add_row(Text(name, style="reverse" if changed else ""), Text(line, style=self._style(each)))
            if changed and not self.scroll_y <= row < self.scroll_y + self.size.height:
                self.scroll_to(y=max(0, row - self.size.height // 2), animate=False)
        self._lines.update(table)

    @staticmethod
    def _style(event: HouseEvent) -> str:
        if "rgb" in event.state and event.state.get("state") == "on":
            return "bold #{:02x}{:02x}{:02x}".format(*event.state["rgb"])
        return "dim" if event.state.get("state") in _QUIET else "bold"


class PromptApp(App[None]):
    """The full-screen prompt."""

    CSS = """
    #about { color: $text-muted; padding: 0 1; }
    #talk { width: 1fr; padding: 0 1; }
    HouseView { width: 1fr; padding: 0 1; border-left: solid $primary; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("ctrl+c", "quit", "Leave"), ("ctrl+d", "quit", "Leave")]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, appliance: Appliance) -> None:
        super().__init__()
        self._appliance = appliance
        self._question: ConfirmationRequest | None = None
        # Held here, since a turn that is cancelled by leaving finds the screen empty already.
        self._about = Static(id="about")
        self._talk = RichLog(id="talk", wrap=True, min_width=1)
        self._view = HouseView()
        self._input = Input(placeholder=PLACEHOLDER, max_length=MAX_COMMAND_LENGTH)

    def compose(self) -> ComposeResult:
        yield self._about
        with Horizontal():
            yield self._talk
            yield self._view
        yield self._input

    async def on_mount(self) -> None:
        self._talk.can_focus = False
        self._input.focus()
        self.run_worker(self._follow_house())
        self.run_worker(self._follow_announcements())
        status = await self._appliance.status()
        broker = status["broker"]
        where = f"MQTT {broker['host']}:{broker['port']}" if broker else "no MQTT"
        self._about.update(Text(f"{status['node']} · {where} · ctrl+c leaves"))
        if status["model"] != "ready":
            self.say(status["model"], "yellow")

    def on_input_submitted(self, submitted: Input.Submitted) -> None:
        words = submitted.value.strip()
        submitted.input.clear()
        if self._question:
            self.say(f"> {words}", "bold")
            self.run_worker(self._appliance.confirm(self._question.id, words.lower() in YES))
            self._ask(None)
        elif words:
            self.say(f"> {words}", "bold")
            self.run_worker(self._turn(words))

    def say(self, text: str, style: str = "") -> None:
        """Adds a line to what was said."""
        self._talk.write(Text(text, style=style))

    async def _turn(self, words: str) -> None:
        asked: ConfirmationRequest | None = None
        try:
            async with aclosing(self._appliance.handle(Command(words, "prompt", session=SESSION))) as events:
                async for event in events:
                    if isinstance(event, ConfirmationRequest):
                        asked = event
                        self._ask(asked)
                    elif isinstance(event, FunctionCall):
                        self.say(call_line(event), "dim")
                    elif isinstance(event, FunctionResponse) and self._question is asked:
                        self._ask(None)
                    elif isinstance(event, TextMessage) and not event.is_partial:
                        self.say(event.text)
        except AgentError as error:
            self.say(error_line(error), "red")
        except Exception:
            # A fault of ours ends this command; the prompt and the house go on.
            log.exception("the command %r failed", words)
        finally:
            if self._question is asked:
                self._ask(None)

    def _ask(self, question: ConfirmationRequest | None) -> None:
        self._question = question
        self._input.placeholder = "y or n" if question else PLACEHOLDER
        if question:
            self.say(f"{question.question} (y/n)", "yellow")

    async def _follow_house(self) -> None:
        async with aclosing(self._appliance.watch()) as events:
            async for event in events:
                self._view.show(event)

    async def _follow_announcements(self) -> None:
        async for announcement in self._appliance.announcements():
            self.say(announcement.text, "bold")

    @contextlib.contextmanager
    def log_on_screen(self) -> Iterator[None]:
        """Shows warnings among what is said: written to the terminal they would tear the picture."""
        root = logging.getLogger()
        kept, root.handlers = root.handlers, [_ScreenLog(self, asyncio.get_running_loop())]
        try:
            yield
        finally:
            root.handlers = kept


class _ScreenLog(logging.Handler):
    def __init__(self, app: PromptApp, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(logging.WARNING)
        self._app = app
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if record.exc_info:
            line += ": " + traceback.format_exception_only(record.exc_info[1])[-1].strip()
        # A record may come from any thread, the screen belongs to one.
        self._loop.call_soon_threadsafe(self._show, line)

    def _show(self, line: str) -> None:
        if self._app.is_running:
            self._app.say(line, "yellow")
