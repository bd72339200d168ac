"""The home that the model's functions move: its devices, their names, their drivers."""

from tools.board import controller
from tools.house import check_settings, declarations, open_house

__all__ = ["check_settings", "controller", "declarations", "open_house"]
