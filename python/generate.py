"""Makes the parts of the package that follow from the library: the declarations of its C interface out of
include/throughtime/c.h, and the methods and optimizers out of its option table.

    python3 python/generate.py            writes them
    python3 python/generate.py --check    writes nothing, and fails where they are not what it would write
"""

from __future__ import annotations

import importlib
import json
import keyword
import pathlib
import re
import sys
import textwrap
import types
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
HEADER = HERE.parent / "include" / "throughtime" / "c.h"
PACKAGE = HERE / "throughtime"

# ---------------------------------------------------------------- declarations

TYPES = {
    "int": "c_int",
    "int32_t": "c_int32",
    "int64_t": "c_int64",
    "size_t": "c_size_t",
    "double": "c_double",
    "const char*": "c_char_p",
    "tt_progress": "Progress",
}
NUMBERS = {"int64_t*": "POINTER(c_int64)", "int32_t*": "POINTER(c_int32)", "size_t*": "POINTER(c_size_t)"}


def ctype_of(text: str) -> str:
    if text in TYPES:
        return TYPES[text]
    if text in NUMBERS:
        return NUMBERS[text]
    if text.endswith("*"):
        return "c_void_p"  # arrays: the address of their first number
    raise SystemExit(f"[generate] {HEADER.name}: no type of ctypes is known for '{text}'")


def declarations() -> str:
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    lines = [
        '"""Made by generate.py out of include/throughtime/c.h: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from ctypes import CDLL, CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p",
        "",
        "Progress = CFUNCTYPE(c_int, c_void_p, c_char_p)",
        "",
    ]
    for name, value in re.findall(r"(TT_[A-Z]+) = (\d+)", text):
        lines.append(f"{name} = {value}")
    lines += ["", "", "def declare(library: CDLL) -> None:"]
    for returned, name, arguments in re.findall(r"TT_API ([\w ]+\*?) ?(tt_\w+)\(([^)]*)\);", text):
        types = []
        for argument in re.sub(r"\s+", " ", arguments).split(", "):
            if argument != "void":
                types.append(ctype_of(re.sub(r"^(.*?)\s*\w+$", r"\1", argument)))
        lines.append(f"    library.{name}.restype = {ctype_of(returned.strip())}")
        arguments_text = f"    library.{name}.argtypes = [{', '.join(types)}]"
        lines += wrap_list(arguments_text)
    return "\n".join(lines) + "\n"


def wrap_list(line: str) -> list[str]:
    if len(line) <= 120:
        return [line]
    begin, inside = line.split("[", 1)
    body = textwrap.wrap(inside[:-1] + ",", 108)
    return [begin + "[", *("        " + part for part in body), "    ]"]


# ---------------------------------------------------------------- methods and optimizers

CLASSES = {
    "bptt": "BPTT",
    "tbptt": "TBPTT",
    "adaptive_tbptt": "AdaptiveTBPTT",
    "fptt": "FPTT",
    "fpp": "FPP",
    "sliding_tbptt": "SlidingTBPTT",
    "target_propagation": "TargetPropagation",
    "sgd": "SGD",
    "momentum": "Momentum",
    "adam": "Adam",
    "rmsprop": "RMSProp",
    "rmsprop_tf1": "RMSPropTF1",
    "adagrad": "Adagrad",
    "adadelta": "Adadelta",
    "asgd": "ASGD",
}
ANNOTATIONS = {
    "true or false": "bool",
    "integer": "int",
    "number": "float",
    "text": "str",
    "integer or list of integers": "int | Sequence[int]",
    "number or list of numbers": "float | Sequence[float]",
    "text or list of texts": "str | Sequence[str]",
}


def python_value(text: str) -> Any:
    return {"true": True, "false": False}[text] if text in ("true", "false") else json.loads(text)


def readers(option: dict[str, Any], kind: str) -> list[str] | None:
    for users in option["users"]:
        if users["kind"] == kind:
            return list(users["names"])
    return None


def settings_class(name: str, table: str, title: str, options: list[dict[str, Any]]) -> str:
    signature, assignments, documentation, fields = [], [], [], []
    for option in options:
        field = option["key"].rsplit(".", 1)[1]
        field += "_" if keyword.iskeyword(field) else ""
        value = python_value(option["default"])
        signature.append(f"        {field}: {ANNOTATIONS[option['type']]} = {value!r},")
        assignments.append(f"        self.{field} = {field}")
        allowed = f" ({option['allowed']})" if option["allowed"] else ""
        text = f"{field}: {option['help']}{allowed}"
        documentation += textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="        ")
        fields.append(
            f"        {field!r}: Field({option['key']!r}, {option['type']!r}, {value!r}, {option['low']!r}, "
            f"{option['high']!r}, {option['open_low']!r}, {option['open_high']!r}, {tuple(option['names'])!r}),"
        )
    return "\n".join(
        [
            f"class {CLASSES[name]}(Settings):",
            f'    """{title}',
            "",
            *documentation,
            '    """',
            "",
            f"    _table = {table!r}",
            f"    _name = {name!r}",
            "    _fields = {",
            *fields,
            "    }",
            "",
            "    def __init__(",
            "        self,",
            "        *,",
            *signature,
            "    ) -> None:",
            *assignments,
            "        self._check()",
            "",
        ]
    )


def methods(options: list[dict[str, Any]]) -> str:
    by_key = {option["key"]: option for option in options}
    parts = []
    for name in by_key["learner.name"]["names"]:
        own = [option for option in options if option["key"].rsplit(".", 1)[0] == f"learner.{name}"]
        parts.append(settings_class(name, "learner", f"The training method `{name}` (docs/options.md).", own))
    for name in by_key["optimizer.name"]["names"]:
        own = [
            option
            for option in options
            if option["key"].startswith("optimizer.")
            and option["key"] != "optimizer.name"
            and name in (readers(option, "optimizer") or [name])
        ]
        parts.append(settings_class(name, "optimizer", f"The update rule `{name}` (docs/optimizers.md).", own))
    names = ", ".join(repr(CLASSES[name]) for name in CLASSES)
    head = [
        '"""Made by generate.py out of the option table: do not edit."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Sequence",
        "",
        "from ._settings import Field, Settings",
        "",
        *textwrap.wrap(f"__all__ = [{names}]", 118, subsequent_indent="    "),
        "",
        "",
    ]
    return "\n".join(head) + "\n\n".join(parts)


def library_module() -> Any:
    """throughtime._library without the package around it, which needs what is made here."""
    package = types.ModuleType("throughtime")
    package.__path__ = [str(PACKAGE)]
    sys.modules["throughtime"] = package
    return importlib.import_module("throughtime._library")


def main() -> int:
    wanted = {"_declarations.py": declarations()}
    check = sys.argv[1:] == ["--check"]
    if not check:
        (PACKAGE / "_declarations.py").write_text(wanted["_declarations.py"])
    library = library_module()
    wanted["_methods.py"] = methods(json.loads(library.text(library.library().tt_options)))
    stale = [name for name, text in wanted.items()
             if not (PACKAGE / name).exists() or (PACKAGE / name).read_text() != text]
    if check and stale:
        print(f"[generate] stale: {', '.join(stale)}; run python3 python/generate.py", file=sys.stderr)
        return 1
    if not check:
        (PACKAGE / "_methods.py").write_text(wanted["_methods.py"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
