"""What a shared library of Linux needs: other libraries, and versions of their symbols. Reads 64-bit little-endian ELF."""

from __future__ import annotations

import pathlib
import struct
from typing import Any, Iterator

DYNAMIC, VERSION_NEEDS = 6, 0x6FFFFFFE
NEEDED = 1


class Elf:
    def __init__(self, path: Any) -> None:
        self.data = pathlib.Path(path).read_bytes()
        if self.data[:6] != b"\x7fELF\x02\x01":
            raise ValueError(f"[elf] {path} is no 64-bit little-endian ELF file")
        self.machine = struct.unpack_from("<H", self.data, 18)[0]
        offset, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.data, offset + i * size) for i in range(count)]

    def _text(self, table: int, offset: int) -> str:
        begin = self.sections[table][4] + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def _sections(self, kind: int) -> Iterator[tuple[int, int, int]]:
        for section in self.sections:
            if section[1] == kind:
                yield section[4], section[5], section[6]  # offset, size, number of its table of texts

    def needed(self) -> list[str]:
        """Names of the libraries that it needs."""
        names = []
        for offset, size, texts in self._sections(DYNAMIC):
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<qQ", self.data, at)
                if tag == NEEDED:
                    names.append(self._text(texts, value))
        return names

    def versions(self) -> set[str]:
        """Versions of symbols that it needs, such as GLIBC_2.34."""
        found = set()
        for offset, size, texts in self._sections(VERSION_NEEDS):
            at = offset
            while size:
                _, count, _, first, following = struct.unpack_from("<HHIII", self.data, at)
                entry = at + first
                for _ in range(count):
                    _, _, _, name, further = struct.unpack_from("<IHHII", self.data, entry)
                    found.add(self._text(texts, name))
                    entry += further
                if following == 0:
                    break
                at += following
        return found


MACHINES = {62: "x86_64", 183: "aarch64"}
# The C library of the distributions that brought a version of the C++ library.
OF_CXX = {(3, 4, 19): 17, (3, 4, 24): 24, (3, 4, 25): 28, (3, 4, 28): 31, (3, 4, 29): 34, (3, 4, 30): 35, (3, 4, 31): 37,
          (3, 4, 32): 38, (3, 4, 33): 39}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("_", 1)[1].split("."))


def platform_tag(paths: list[Any]) -> str:
    """The tag of a wheel that brings these libraries along: the oldest C library that has all they need."""
    minor, machine = 17, ""  # no older one is tagged
    for path in paths:
        elf = Elf(path)
        machine = MACHINES[elf.machine]
        for version in elf.versions():
            if version.startswith("GLIBC_2."):
                minor = max(minor, _numbers(version)[1])
            elif version.startswith("GLIBCXX_"):
                known = [of for cxx, of in OF_CXX.items() if cxx >= _numbers(version)]
                minor = max(minor, min(known) if known else max(OF_CXX.values()) + 1)
    return f"manylinux_2_{minor}_{machine}"
