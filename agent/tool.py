"""Tools: typed Python functions that a model may call, and the wrappers around them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import logging
import pkgutil
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Protocol, TypeVar, cast, overload

from agent.errors import ArgumentError, DeclarationError
from agent.schema import FunctionDeclaration, Say
from agent.signature import Signature, is_receiver, signature_of, to_json
from agent.threads import run_in_thread

_log = logging.getLogger(__name__)

CANCELLED_BY_USER: Final = "CANCELLED_BY_USER"
"""The status of a call that a person did not confirm."""


class AccessLevel(IntEnum):
    """Who may list and call a tool directly: a caller of a level sees the tools of that level and above."""

    SELF = 100
    """Our own loop only."""
    SYSTEM = 200
    """Callers on this machine: the local socket, stdio."""
    TRUSTED = 300
    """Everyone who is let in, such as assistants over the network."""


@dataclass(frozen=True)
class ToolCall:
    """The call that a tool is asked to make.

    Attributes:
        id: The id that its response carries.
        name: The name of the function.
        confirm: Asks the person of this turn a question; False on "no" and on a time-out.
        level: Who asks for it.
    """

    id: str
    name: str
    confirm: Callable[[str], Awaitable[bool]]
    level: AccessLevel = AccessLevel.SELF


@dataclass(frozen=True)
class ToolMark:
    """What `tool` writes on a function, as its attribute `hearth_tool`.

    Attributes:
        declaration: What the model is told.
        access: Who may list and call it.
        signature: The function's own types; None where it takes the arguments as JSON has them.
    """

    declaration: FunctionDeclaration
    access: AccessLevel
    signature: Signature | None


_Function = TypeVar("_Function", bound=Callable[..., Any])


@overload
def tool(function: _Function, /) -> _Function: ...


@overload
def tool(
    function: None = None,
    /,
    *,
    access: AccessLevel = AccessLevel.TRUSTED,
    read_only: bool = False,
    say: Say | None = None,
) -> Callable[[_Function], _Function]: ...


def tool(
    function: _Function | None = None,
    /,
    *,
    access: AccessLevel = AccessLevel.TRUSTED,
    read_only: bool = False,
    say: Say | None = None,
) -> _Function | Callable[[_Function], _Function]:
    """Declares a typed function or method as a tool; it stays callable as itself.

    Args:
        function: The function, where the decorator is used bare.
        access: Who may list and call it directly.
        read_only: A call changes nothing, so that a question may be answered with it.
        say: How its result is put into words.

    Raises:
        DeclarationError: It cannot be declared; the text names the function and the parameter.
    """

    def mark(function: _Function) -> _Function:
        signature = signature_of(function)
        declaration = signature.declaration(read_only=read_only, say=say)
        function.hearth_tool = ToolMark(declaration, access, signature)  # type: ignore[attr-defined]
        return function

    return mark if function is None else mark(function)


class _Callable(Protocol):
    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]: ...


@dataclass(frozen=True)
class _MarkedFunction:
    """The innermost of the tools around a function: it makes the call."""

    function: Callable[..., Any]
    mark: ToolMark

    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
        given = self.mark.declaration.check(arguments)
        if self.mark.signature is not None:
            given = self.mark.signature.bind(given)
        if inspect.iscoroutinefunction(self.function):
            result = await self.function(**given)
        else:
            result = await run_in_thread(functools.partial(self.function, **given), call.name)
            # A plain function may hand out an awaitable (a partial, a wrapper around a coroutine).
            if inspect.isawaitable(result):
                result = await result
        return _as_response(result, call.name)


class AgentTool:
    """A tool that can be called.

    Attributes:
        declaration: What the model is told.
        access: Who may list and call it.
    """

    def __init__(self, delegate: Callable[..., Any] | AgentTool) -> None:
        """Wraps a function or bound method marked by `tool`, or another tool.

        Raises:
            DeclarationError: It is not marked, or is a method without its object.
        """
        if isinstance(delegate, AgentTool):
            self._delegate: _Callable = delegate
            self.declaration: FunctionDeclaration = delegate.declaration
            self.access: AccessLevel = delegate.access
            self.module: str | None = delegate.module
            return
        mark = getattr(delegate, "hearth_tool", None)
        if not isinstance(mark, ToolMark):
            raise DeclarationError(f"{_name_of(delegate)}: it is not declared; put @tool above it")
        if mark.signature is not None and _lacks_object(delegate):
            raise DeclarationError(f"{_name_of(delegate)}: it is a method; hand over that of an object")
        self._delegate = _MarkedFunction(delegate, mark)
        self.declaration = mark.declaration
        self.access = mark.access
        self.module = getattr(delegate, "__module__", None)

    @classmethod
    def from_declaration(
        cls,
        declaration: FunctionDeclaration,
        function: Callable[..., Any],
        access: AccessLevel = AccessLevel.TRUSTED,
    ) -> AgentTool:
        """A tool that is declared as data.

        Args:
            declaration: What the model is told.
            function: Sync or async; takes the checked arguments as JSON has them, by keyword.
            access: Who may list and call it.
        """
        # A partial, so that the mark is not written on a function that others may use too.
        marked = cast(Any, functools.partial(function))
        functools.update_wrapper(marked, function)
        marked.hearth_tool = ToolMark(declaration, access, None)
        return cls(marked)

    @property
    def name(self) -> str:
        """The name that the model calls it by."""
        return self.declaration.name

    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
        """Calls the function with the arguments in its own types; sync functions run in a thread.

        Returns:
            Its result as JSON: a dict or a dataclass as its fields, None as `{"status": "ok"}`, anything else
            as `{"result": value}`; `{"error": ...}` where an argument does not fit.

        Raises:
            TypeError: The result is nothing that JSON has.
            Exception: Whatever else the function raises.
        """
        try:
            return await self._delegate.call(arguments, call)
        except ArgumentError as error:
            return {"error": str(error)}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


class ConfirmationTool(AgentTool):
    """A tool that asks a person first; also a decorator above `@tool`."""

    def __init__(
        self,
        delegate: Callable[..., Any] | AgentTool,
        question: str | Callable[[dict[str, Any]], str | None] | None = None,
        access: Callable[[dict[str, Any]], AccessLevel] | None = None,
    ) -> None:
        """Wraps a tool.

        Args:
            delegate: As for `AgentTool`.
            question: What the person is asked, or a function of the checked arguments that says it, that
                returns None where nothing has to be asked, and that raises an ArgumentError where the call
                cannot be made; None makes a question of the name of the function and the arguments.
            access: Who may have a call made with these checked arguments, where not all who see the tool may:
                whoever calls from outside says yes to its own question.
        """
        super().__init__(delegate)
        self._question = question
        self._access_of = access

    async def call(self, arguments: Mapping[str, Any], call: ToolCall) -> dict[str, Any]:
        """Calls the tool after a "yes"; else returns `{"status": "CANCELLED_BY_USER", "message"}`."""
        try:
            checked = self.declaration.check(arguments)
            if self._access_of is not None and self._access_of(checked) < call.level:
                return {"error": "Only somebody who is at home can ask for that."}
            question = self.question(checked)
        except ArgumentError as error:
            return {"error": str(error)}  # nobody is asked about a call that cannot be made
        if question is None or await call.confirm(question):
            return await super().call(checked, call)
        return {"status": CANCELLED_BY_USER, "message": "It was not confirmed, so nothing was done."}

    def question(self, arguments: dict[str, Any]) -> str | None:
        """What the person is asked about these arguments; None is nothing.

        Raises:
            ArgumentError: The call cannot be made.
        """
        if isinstance(self._question, str):
            return self._question
        if self._question is not None:
            return self._question(arguments)
        details = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in arguments.items())
        return f"Really {self.name.replace('_', ' ')}{f' ({details})' if details else ''}?"


def visible(tools: Iterable[AgentTool], level: AccessLevel) -> tuple[AgentTool, ...]:
    """The tools that a caller of a level may list and call."""
    return tuple(tool for tool in tools if tool.access >= level)


def discover(package: str, ids: Iterable[str] | None = None) -> tuple[AgentTool, ...]:
    """The tools that a package declares at the top of its modules: those of the package, then module by module.

    Sub-packages are not looked into: a driver is loaded by whoever needs its hardware.

    Args:
        package: The name of a package or module that can be imported.
        ids: The names of the functions that are wanted; None is all.

    Raises:
        DeclarationError: A module cannot be imported, two tools have one name, or an id is unknown.
    """
    root = _imported(package)
    submodules = sorted(
        module.name
        for module in pkgutil.iter_modules(getattr(root, "__path__", ()), f"{package}.")
        if not module.ispkg and not module.name.endswith(".__main__")
    )
    found = _declared_in([root, *map(_imported, submodules)])
    if ids is None:
        return tuple(found.values())
    wanted = (ids,) if isinstance(ids, str) else tuple(ids)
    for name in wanted:
        if name not in found:
            names = ", ".join(found) or "none"
            raise DeclarationError(f"{package}: there is no tool {name!r} (there are: {names})")
    return tuple(tool for name, tool in found.items() if name in wanted)


def load_folder(path: Path | str) -> tuple[AgentTool, ...]:
    """A user's own tools: what each `*.py` file of a folder declares. Names with `_` in front are left out.

    Raises:
        DeclarationError: There is no such folder, a file is broken (the text names the file, the line and
            the cause), or two tools have one name.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise DeclarationError(f"{folder}: there is no such folder of tools")
    modules = [_loaded(file) for file in sorted(folder.glob("*.py")) if not file.name.startswith("_")]
    return tuple(_declared_in(modules).values())


def _declared_in(modules: Iterable[ModuleType]) -> dict[str, AgentTool]:
    found: dict[str, AgentTool] = {}
    for module in modules:
        for name, declared in _tools_of(module).items():
            if name in found:
                modules_of_both = f"{found[name].module} and in {declared.module}"
                raise DeclarationError(f"{name}: it is declared in {modules_of_both}")
            found[name] = declared
    return found


def _tools_of(module: ModuleType) -> dict[str, AgentTool]:
    """The tools that a module declares itself, without those that it imports.

    A function that is also there as a tool around it (`@ConfirmationTool` above `@tool`, or under a name of
    its own) is that tool only: it must not be reached around its wrapper.
    """
    tools: dict[str, AgentTool] = {}
    for value in vars(module).values():
        if isinstance(value, AgentTool) and value.module == module.__name__:
            tools[value.name] = value
        elif hasattr(value, "hearth_tool") and getattr(value, "__module__", None) == module.__name__:
            bare = AgentTool(value)
            tools.setdefault(bare.name, bare)
    return tools


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except DeclarationError:
        raise
    except Exception as error:
        raise DeclarationError(f"{name}: it cannot be imported: {type(error).__name__}: {error}") from error


def _loaded(file: Path) -> ModuleType:
    name = f"hearth_user_tools.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None  # it ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look their annotations up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        cause = str(error) if isinstance(error, DeclarationError) else f"{type(error).__name__}: {error}"
        raise DeclarationError(f"{_place_of(error, file)}: {cause}") from error
    if not _tools_of(module):
        _log.warning("%s: it declares no tool; put @tool above a function", file)
    return module


def _place_of(error: BaseException, file: Path) -> str:
    """The file, and the line of it that failed."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    return f"{file}:{lines[-1]}" if lines else str(file)


def _as_response(result: Any, name: str) -> dict[str, Any]:
    if result is None:
        return {"status": "ok"}
    try:
        value = to_json(result)
    except TypeError as error:
        raise TypeError(f"{name}: a tool returns primitives, lists, dicts or dataclasses: {error}") from error
    return value if isinstance(value, dict) else {"result": value}


def _name_of(delegate: Any) -> str:
    return getattr(delegate, "__qualname__", None) or repr(delegate)


def _lacks_object(delegate: Callable[..., Any]) -> bool:
    """A method taken from its class: it would take the first argument for its object."""
    first = next(iter(inspect.signature(delegate).parameters.values()), None)
    return first is not None and is_receiver(first)
