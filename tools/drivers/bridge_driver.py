"""What a driver of devices that are found by themselves does, whatever finds them."""

from __future__ import annotations

from collections.abc import Sequence

from agent.config.tables import choice
from tools.device import Device, State
from tools.drivers import Found, Report
from tools.drivers.bridges import Part
from tools.drivers.broker import BrokerDriver, MqttBroker


class BridgeDriver(BrokerDriver):
    """Tells of what it finds; knows at first only the devices of the settings."""

    maker = ""
    """Who the devices are from, as a sentence calls it."""

    def __init__(self, devices: Sequence[Device], settings: MqttBroker, report: Report) -> None:
        """A driver that has found nothing yet; the rest is as for `BrokerDriver`."""
        super().__init__(settings, report)
        self._declared = tuple(devices)
        self._found: Found = lambda devices, groups: None
        for device in devices:
            self._set(device.id, State(available=False))

    def follow(self, found: Found) -> None:
        """Tells of what is found from now on."""
        self._found = found

    def _missing(self, declared: Device, there: Sequence[tuple[tuple[str, ...], Sequence[Part]]]) -> str:
        """Why a device of the settings is none that was found.

        Args:
            declared: The device.
            there: The names and the parts of all that was found.
        """
        wanted = declared.options.device
        parts = next((parts for names, parts in there if wanted in names), None)
        if parts is None:
            known = choice([names[0] for names, _ in there], wanted)
            why = f"{self.maker} has no device {wanted!r}; there are: {known}"
        else:
            kinds = [f"{part.device.kind.value.replace('_', ' ')} {part.name}".strip() for part in parts]
            kind = declared.kind.value.replace("_", " ")
            why = f"{wanted!r} is no {kind} at {self.maker}; it has: {', '.join(kinds) or 'nothing to use'}"
        return f'[[tools.device]] "{declared.name}": {why}'
