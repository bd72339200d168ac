"""Scenes and scripts: what the owner has put together under one name."""

from __future__ import annotations

from typing import Any

from agent.schema import Name
from agent.tool import AgentTool, tool
from tools.devices import Devices


class Scenes:
    """The functions of scenes and scripts."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self.tools = (AgentTool(self.activate_scene), AgentTool(self.run_script))

    @tool
    async def activate_scene(self, scene: Name) -> dict[str, Any]:
        """Activates a scene or a mode of the home, such as movie night.

        Args:
            scene: What it is called.
        """
        raise NotImplementedError

    @tool
    async def run_script(self, script: Name) -> dict[str, Any]:
        """Runs a script or a routine of the home.

        Args:
            script: What it is called.
        """
        raise NotImplementedError
