"""home-llm's sentences, for information: its services and our functions. Only the function is judged.

Its devices are ids that the sentences do not speak, so that places cannot be compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from training.sets import HERE, Mapped, Placed, call, case, lines

FILE: Final = "home_llm_english.jsonl"

FUNCTIONS: Final[dict[str, tuple[str, ...]]] = {
    "light.turn_on": ("turn_on_light",),
    "light.turn_off": ("turn_off_light",),
    # Lamps stand behind its switches too, and what they are called tells which function is asked for.
    "switch.turn_on": ("turn_on_switch", "turn_on_light"),
    "switch.turn_off": ("turn_off_switch", "turn_off_light"),
    "fan.turn_on": ("turn_on_switch",),
    "fan.turn_off": ("turn_off_switch",),
    "fan.increase_speed": ("change_fan_speed",),
    "fan.decrease_speed": ("change_fan_speed",),
    "lock.lock": ("lock_door",),
    "lock.unlock": ("unlock_door",),
    "blinds.open_cover": ("open_cover",),
    "blinds.close_cover": ("close_cover",),
    "blinds.stop_cover": ("stop_cover",),
    "garage_door.stop_cover": ("stop_cover",),
    "garage_door.open_cover": ("open_garage_door",),
    "garage_door.close_cover": ("close_garage_door",),
    "climate.turn_on": ("set_climate_mode",),
    "climate.turn_off": ("set_climate_mode",),
    "media_player.turn_on": ("turn_on_switch",),
    "media_player.turn_off": ("turn_off_switch",),
    "media_player.volume_up": ("raise_volume",),
    "media_player.volume_down": ("lower_volume",),
    "media_player.volume_mute": ("mute_media",),
    "media_player.media_pause": ("pause_media",),
    "media_player.media_stop": ("pause_media",),
    "media_player.media_play": ("resume_media", "play_media"),
    "media_player.media_next_track": ("next_track",),
    "media_player.media_previous_track": ("previous_track",),
    "vacuum.start": ("start_vacuum",),
    "vacuum.stop": ("stop_vacuum",),
    "vacuum.return_to_base": ("dock_vacuum",),
}
"""Which functions are right for a service. What is not here has none: nothing is toggled."""


def services(path: Path) -> Mapped:
    """Every sentence whose service has a function."""
    mapped = Mapped()
    for where, line in lines(path):
        service = line["intent"]
        if service not in FUNCTIONS:
            mapped.left[f"{service}: no function"] += 1
            continue
        right = FUNCTIONS[service]
        due = case(where, line["text"], [call(right[0])], service.split(".")[0], HERE.casefold())
        mapped.placed.append(Placed(due, functions=frozenset(right)))
    return mapped
