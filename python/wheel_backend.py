"""Builds the wheel: `pip install .` calls this. Needs CMake, a C++ compiler and the libraries of scripts/setup --build.

The shared library is built in build/wheel, without MPI, and without CUDA also where CUDA is installed: cuBLAS alone takes 600
MB. THROUGHTIME_LIBRARY names one that is built already. What it needs beyond the C and C++ runtime is put beside it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from typing import Any

import elf

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "throughtime"
LIBRARY = "libthroughtime_c.so"
OPTIONS = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON", "-DTHROUGHTIME_MPI=OFF", "-DTHROUGHTIME_CUDA=OFF",
           "-DTHROUGHTIME_BUILD_TESTS=OFF", "-DTHROUGHTIME_BUILD_BENCH=OFF"]
OF_A_GPU_OR_RANKS = re.compile(r"libcu(da|blas|dart).*|libmpi.*")
# Every system that a manylinux tag names has these.
OF_THE_SYSTEM = re.compile(r"(ld-linux.*|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so.*")


def version() -> str:
    found = re.search(r"project\(throughtime VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())
    assert found is not None
    return found.group(1)


def metadata() -> str:
    return (f"Metadata-Version: 2.1\nName: throughtime\nVersion: {version()}\n"
            "Summary: Train recurrent networks on sequences of any length, in the memory you choose\n"
            "License: Apache-2.0\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\n")


# ---------------------------------------------------------------- the library


def run(*command: Any) -> None:
    """Ends with one line, not with a traceback, where that does not succeed: pip shows it below what the command said."""
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise SystemExit(f"[wheel] {command[0]} is not installed; scripts/setup --build installs what building needs") from None
    except subprocess.CalledProcessError:
        raise SystemExit(f"[wheel] {command[0]} failed, and said why above; scripts/setup --build installs what "
                         "building needs") from None


def configure(build: pathlib.Path) -> None:
    options = list(OPTIONS)
    if shutil.which("ninja"):
        options += ["-G", "Ninja"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    run("cmake", "-S", ROOT, "-B", build, "--log-level=WARNING", *options)


def built_library() -> pathlib.Path:
    named = os.environ.get("THROUGHTIME_LIBRARY")
    if named:
        return pathlib.Path(named)
    build = ROOT / "build" / "wheel"
    configure(build)
    run("cmake", "--build", build, "--target", "throughtime_c", "--parallel", str(os.cpu_count() or 1))
    return build / LIBRARY


def found_libraries(library: pathlib.Path) -> dict[str, pathlib.Path]:
    """Where the loader finds what the library needs."""
    lines = subprocess.run(["ldd", library], check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for line in lines:
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            found[match.group(1)] = pathlib.Path(match.group(2))
    return found


def gather(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Copies the library, and those that it brings along, into a folder; returns where each came from."""
    library = built_library()
    found = found_libraries(library)
    origins: dict[str, pathlib.Path] = {}
    wanted = [(LIBRARY, library)]
    while wanted:
        name, path = wanted.pop()
        if name in origins:
            continue
        if OF_A_GPU_OR_RANKS.fullmatch(name):
            raise SystemExit(f"[wheel] {library} needs {name}, which a wheel cannot bring along; THROUGHTIME_LIBRARY must name "
                             "one that is built with -DTHROUGHTIME_CUDA=OFF -DTHROUGHTIME_MPI=OFF")
        origins[name] = path
        copy = folder / name
        shutil.copyfile(path, copy)
        if shutil.which("strip"):
            run("strip", "--strip-unneeded", copy)
        for needed in elf.Elf(copy).needed():
            if not OF_THE_SYSTEM.fullmatch(needed):
                if needed not in found:
                    raise SystemExit(f"[wheel] {name} needs {needed}, which is not installed")
                wanted.append((needed, found[needed]))
    return origins


def notice_of(library: pathlib.Path) -> bytes | None:
    """What Debian says about the copyright of one of its libraries, which must come along with it."""
    if not shutil.which("dpkg-query"):
        return None
    done = subprocess.run(["dpkg-query", "--search", f"*/{library.name}"], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        package, _, path = line.partition(": ")
        notice = pathlib.Path("/usr/share/doc") / package.partition(":")[0] / "copyright"
        if os.path.realpath(path) == os.path.realpath(library) and notice.exists():
            return notice.read_bytes()
    return None


# ---------------------------------------------------------------- the wheel


class Wheel:
    """A wheel file that is being written."""

    def __init__(self, folder: str, tag: str) -> None:
        self.tag = tag
        self.info = f"throughtime-{version()}.dist-info"
        self.name = f"throughtime-{version()}-{tag}.whl"
        self.file = zipfile.ZipFile(pathlib.Path(folder) / self.name, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record: list[str] = []

    def _write(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """At no time, so that the same files are the same wheel."""
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.file.writestr(entry, content)

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        self._write(name, content, mode)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def close(self) -> str:
        pure = "true" if self.tag.endswith("-any") else "false"
        self.add(f"{self.info}/METADATA", metadata().encode())
        self.add(f"{self.info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: throughtime\nRoot-Is-Purelib: {pure}\n"
                 f"Tag: {self.tag}\n".encode())
        self.record.append(f"{self.info}/RECORD,,")
        self._write(f"{self.info}/RECORD", ("\n".join(self.record) + "\n").encode())
        self.file.close()
        return self.name


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: Any = None) -> str:
    """So that nothing is compiled before the wheel itself is asked for."""
    info = pathlib.Path(metadata_directory) / f"throughtime-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    return info.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        origins = gather(pathlib.Path(folder))
        libraries = [pathlib.Path(folder) / name for name in origins]
        wheel = Wheel(wheel_directory, f"py3-none-{elf.platform_tag(libraries)}")
        for path in sorted(PACKAGE.iterdir()):
            if path.suffix == ".py" or path.name == "py.typed":
                wheel.add(f"throughtime/{path.name}", path.read_bytes())
        for path in libraries:
            wheel.add(f"throughtime/{path.name}", path.read_bytes(), 0o755)
        wheel.add(f"{wheel.info}/LICENSE", (ROOT / "LICENSE").read_bytes())
        for name, origin in origins.items():
            notice = notice_of(origin)
            if notice is not None:
                wheel.add(f"{wheel.info}/licenses/{name}.txt", notice)
        return wheel.close()


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """The package of the clone, with the library of build/release; where there is none yet, that of build/wheel."""
    if not (ROOT / "build" / "release" / LIBRARY).exists():
        built_library()
    wheel = Wheel(wheel_directory, "py3-none-any")
    wheel.add("throughtime.pth", f"{ROOT / 'python'}\n".encode())
    return wheel.close()


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """The files of the last commit."""
    name = f"throughtime-{version()}"
    path = pathlib.Path(sdist_directory) / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        about = pathlib.Path(folder) / "PKG-INFO"
        about.write_text(metadata())
        run("git", "-C", ROOT, "archive", "--format=tar.gz", f"--prefix={name}/", f"--add-file={about}", "-o", path, "HEAD")
    return path.name


if __name__ == "__main__":
    print(build_wheel(sys.argv[1] if len(sys.argv) > 1 else "."))
