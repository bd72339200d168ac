"""Devices at Zigbee2MQTT, which are found by themselves.

`bridge` reads what it tells of its devices and groups, `exposes` makes parts of the house of what they can do,
`payloads` is what they are sent and tell, `driver` moves them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from agent.errors import SettingsError
from tools.device import Device
from tools.drivers import Driver, DriverType, Report, beside
from tools.drivers.bridges import BridgedOptions, check
from tools.drivers.zigbee2mqtt.driver import Zigbee2MqttDriver, Zigbee2MqttSettings


@asynccontextmanager
async def _open(devices: Sequence[Device], settings: Zigbee2MqttSettings, report: Report) -> AsyncIterator[Driver]:
    driver = Zigbee2MqttDriver(devices, settings, report)
    async with beside(driver.run(), "zigbee2mqtt"):
        yield driver


def _check_settings(settings: Zigbee2MqttSettings) -> None:
    for base in settings.base_topics:
        if f"{base}/".startswith("hearth/"):
            text = f"[tools.zigbee2mqtt]: base_topics has {base!r}; below hearth/ are our own topics"
            raise SettingsError(text, ("tools", "zigbee2mqtt", "base_topics"))
        if set(base) & set("+#\0") or base.startswith("/") or base.endswith("/"):
            text = f'[tools.zigbee2mqtt]: base_topics has {base!r}; "+", "#" and a "/" at an end are not allowed'
            raise SettingsError(text, ("tools", "zigbee2mqtt", "base_topics"))
    if not settings.base_topics:
        text = "[tools.zigbee2mqtt]: base_topics is empty; leave it out, or name what Zigbee2MQTT has as base_topic"
        raise SettingsError(text, ("tools", "zigbee2mqtt", "base_topics"))
    settings.password()


ZIGBEE2MQTT = DriverType(
    options=BridgedOptions,
    settings=Zigbee2MqttSettings,
    check=check,
    open=_open,
    check_settings=_check_settings,
    address=lambda device: f"{device.options.device} {device.options.part or ''}",
    wanted=lambda settings: settings is not None,
    like="mqtt",
)
