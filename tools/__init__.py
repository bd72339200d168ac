"""The home that the model's functions move: its devices, their names, their drivers."""

from tools.house import declarations, open_house

__all__ = ["declarations", "open_house"]
