"""Methods and optimizers as objects: what all of them do."""

from __future__ import annotations

import json
from typing import Any, Iterable, NamedTuple


class Field(NamedTuple):
    """One option, as the library's table describes it."""

    key: str
    type: str
    default: Any
    low: float | None
    high: float | None
    open_low: bool
    open_high: bool
    names: tuple[str, ...]


_KINDS = {"true or false": (bool,), "integer": (int,), "number": (int, float), "text": (str,)}
_LISTS = {
    "integer or list of integers": (int,),
    "number or list of numbers": (int, float),
    "text or list of texts": (str,),
}


def plain(value: Any) -> Any:
    """A value without NumPy's types."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def toml(value: Any) -> str:
    """A value as text of a configuration file."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(toml(each) for each in value) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float) or isinstance(value, int) and -2**63 <= value < 2**63:
        return repr(value)
    raise ValueError(f"it must be a number, a text, True, False or a list of them, got {value!r}")


def toml_text(assignments: Iterable[tuple[str, Any]]) -> str:
    """Options `table.name` as a configuration file."""
    tables: dict[str, list[str]] = {}
    for key, value in assignments:
        table, name = key.rsplit(".", 1)
        try:
            tables.setdefault(table, []).append(f"{name} = {toml(value)}")
        except ValueError as error:
            raise ValueError(f"[config] {key}: {error}") from None
    return "".join(f"[{table}]\n" + "\n".join(lines) + "\n" for table, lines in tables.items())


class Settings:
    """A method or an optimizer with its options. Equal ones are equal; changing one is `set_params`."""

    _table = ""
    _name = ""
    _fields: dict[str, Field] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._fields:
            raise AttributeError(f"[{self._name}] there is no option '{name}'; known: {', '.join(self._fields)}")
        super().__setattr__(name, value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def set_params(self, **params: Any) -> Settings:
        """All of them, or where one is refused, none."""
        before = self.get_params()
        try:
            for name, value in params.items():
                if name not in self._fields:
                    raise ValueError(f"[{self._name}] there is no option '{name}'; known: {', '.join(self._fields)}")
                setattr(self, name, value)
            self._check()
        except ValueError:
            vars(self).update(before)
            raise
        return self

    def _check(self) -> None:
        for name, field in self._fields.items():
            value = plain(getattr(self, name))
            self._check_type(name, field, value)
            for each in value if isinstance(value, list) else [value]:
                self._check_value(name, field, each)

    def _check_type(self, name: str, field: Field, value: Any) -> None:
        kinds = _KINDS.get(field.type) or _LISTS[field.type]
        values = value if isinstance(value, list) and field.type in _LISTS else [value]
        for each in values:
            if not isinstance(each, kinds) or (isinstance(each, bool) and bool not in kinds):
                raise ValueError(f"[{self._name}] {name} must be {field.type}, got {value!r}")

    def _check_value(self, name: str, field: Field, value: Any) -> None:
        if field.names and value not in field.names:
            raise ValueError(f"[{self._name}] {name} must be one of {', '.join(field.names)}, got {value!r}")
        if isinstance(value, (str, bool)):
            return
        low, high = field.low, field.high
        under = low is not None and (value < low or (field.open_low and value == low))
        over = high is not None and (value > high or (field.open_high and value == high))
        if under or over or value != value:
            bounds = []
            if low is not None:
                bounds.append(f"{'above' if field.open_low else 'at least'} {low:g}")
            if high is not None:
                bounds.append(f"{'below' if field.open_high else 'at most'} {high:g}")
            raise ValueError(f"[{self._name}] {name} must be {' and '.join(bounds)}, got {value!r}")

    def _assignments(self) -> list[tuple[str, Any]]:
        """The options that differ from their defaults, behind the name of the method."""
        changed = [(field.key, getattr(self, name)) for name, field in self._fields.items()
                   if plain(getattr(self, name)) != field.default]
        return [(f"{self._table}.name", self._name), *changed]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        changed = [f"{name}={plain(getattr(self, name))!r}" for name, field in self._fields.items()
                   if plain(getattr(self, name)) != field.default]
        return f"{type(self).__name__}({', '.join(changed)})"
