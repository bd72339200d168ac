"""Which mode "on" stands for: the last one of a device that was not off."""

from __future__ import annotations

from dataclasses import replace

from tools.device import Change, Device, Mode, State


class LastModes:
    """Remembers the modes of thermostats and air conditioners while they are off."""

    def __init__(self) -> None:
        self._modes: dict[str, Mode] = {}

    def hear(self, device_id: str, state: State) -> None:
        """Takes in how a device is."""
        if state.mode is not None and state.mode != "off":
            self._modes[device_id] = state.mode

    def resolve(self, device: Device, change: Change) -> Change:
        """The change with a mode that the device has; of one never heard of, the first that is not off."""
        if change.mode != "on" or "on" in device.modes:
            return change
        first = next((mode for mode in device.modes if mode != "off"), None)
        return replace(change, mode=self._modes.get(device.id, first))
