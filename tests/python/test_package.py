import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ.get("THROUGHTIME_LIBRARY", ROOT / "build" / "release" / "libthroughtime_c.so"))
sys.path.insert(0, str(ROOT / "python"))

import elf  # noqa: E402
import wheel_backend  # noqa: E402


def test_the_library_exports_the_functions_of_its_header_alone():
    names = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    exported = {line.split()[-1] for line in names.splitlines()}
    header = (ROOT / "include" / "throughtime" / "c.h").read_text()
    assert exported == set(re.findall(r"\b(tt_\w+)\(", header)) - {"tt_progress"}


def test_annotations_are_strict():
    if shutil.which("mypy") is None:
        pytest.skip("mypy is not installed")
    done = subprocess.run(["mypy", "--python-executable", sys.executable, "--cache-dir", os.devnull, "python/throughtime",
                           "python/generate.py", "python/wheel_backend.py", "python/elf.py"],
                          cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_a_wheel_is_tagged_by_what_its_symbols_need(tmp_path):
    small = tmp_path / "small.c"
    small.write_text("#include <math.h>\ndouble f(double x) { return exp(x); }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", small, "-o", tmp_path / "small.so", "-lm"], check=True)
    found = elf.Elf(tmp_path / "small.so")
    listed = subprocess.run(["objdump", "-p", tmp_path / "small.so"], check=True, capture_output=True, text=True).stdout
    assert found.needed() == re.findall(r"NEEDED\s+(\S+)", listed)
    assert found.versions() == set(re.findall(r"0x\w+ 0x\w+ \d+ (\S+)", listed))
    newest = max(int(version.split(".")[1]) for version in found.versions() if version.startswith("GLIBC_2"))
    assert elf.platform_tag([tmp_path / "small.so"]) == f"manylinux_2_{max(17, newest)}_x86_64"
    with pytest.raises(ValueError, match="is no 64-bit"):
        elf.Elf(small)


def wheel_of(folder):
    """Of the library without the GPU, which stands in a folder of its own where there is one with it."""
    alone = LIBRARY.parent / "wheel" / LIBRARY.name
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THROUGHTIME_LIBRARY", str(alone if alone.exists() else LIBRARY))
        return folder / wheel_backend.build_wheel(str(folder))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return wheel_of(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_needs_no_library_beyond_those_its_tag_allows(wheel, tmp_path):
    assert wheel.stat().st_size < 10e6
    assert re.fullmatch(r"throughtime-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    libraries = sorted(tmp_path.glob("throughtime/*.so*"))
    names = {path.name for path in libraries}
    for path in libraries:
        for needed in elf.Elf(path).needed():
            assert needed in names or wheel_backend.OF_THE_SYSTEM.fullmatch(needed), (path.name, needed)
        for version in elf.Elf(path).versions():
            if version.startswith("GLIBC_"):
                assert version == "GLIBC_ABI_DT_RELR" or number_of(version) <= number_of(wheel.name), (path.name, version)
    assert elf.platform_tag(libraries) in wheel.name


def number_of(text):
    """34 of GLIBC_2.34 and of manylinux_2_34."""
    return int(re.search(r"(?:GLIBC|manylinux)_2[._](\d+)", text).group(1))


def test_bundled_libraries_are_found_beside_the_library(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    folder = tmp_path / "throughtime"
    found = subprocess.run(["ldd", folder / LIBRARY.name], check=True, capture_output=True, text=True).stdout
    bundled = [path.name for path in folder.glob("*.so*") if path.name != LIBRARY.name]
    assert bundled
    for name in bundled:
        assert re.search(rf"{re.escape(name)} => {re.escape(str(folder))}/", found), (name, found)
        if shutil.which("dpkg-query"):  # what its copyright asks for
            assert (next(tmp_path.glob("*.dist-info")) / "licenses" / f"{name}.txt").stat().st_size > 100
    needed = " ".join(elf.Elf(folder / LIBRARY.name).needed())
    for name in ("libstdc++", "libgcc_s", "libmpi", "libcuda"):
        assert name not in needed


def test_the_same_files_are_the_same_wheel(wheel, tmp_path):
    assert wheel_of(tmp_path).read_bytes() == wheel.read_bytes()


def test_metadata_is_known_without_compiling(wheel, tmp_path):
    name = wheel_backend.prepare_metadata_for_build_wheel(str(tmp_path))
    with zipfile.ZipFile(wheel) as content:
        assert content.read(f"{name}/METADATA").decode() == (tmp_path / name / "METADATA").read_text()


def test_a_source_distribution_has_what_building_needs(tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("these sources are no clone")
    name = wheel_backend.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as content:
        folder = name.removesuffix(".tar.gz")
        names = {each.name.removeprefix(folder + "/") for each in content}
        assert {"PKG-INFO", "pyproject.toml", "CMakeLists.txt", "python/wheel_backend.py", "src/c/fit.cpp"} <= names
        about = content.extractfile(f"{folder}/PKG-INFO").read().decode()
    assert "Name: throughtime\n" in about and "Requires-Python: >=3.9\n" in about


def test_a_library_with_a_gpu_is_refused(tmp_path, monkeypatch):
    (tmp_path / "gpu.c").write_text("int cublas(void) { return 0; }\n")
    for name, more in (("libcublas.so.13", ["gpu.c"]), ("libuser.so", ["-Wl,--no-as-needed", "libcublas.so.13"])):
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", name, *more, "-Wl,-rpath,$ORIGIN"], check=True, cwd=tmp_path)
    monkeypatch.setenv("THROUGHTIME_LIBRARY", str(tmp_path / "libuser.so"))
    with pytest.raises(SystemExit, match=r"^\[wheel\] .*libuser.so needs libcublas.so.13, .*-DTHROUGHTIME_CUDA=OFF"):
        wheel_backend.build_wheel(str(tmp_path))


def test_the_configuration_of_the_wheel_has_no_gpu_and_no_ranks(tmp_path):
    wheel_backend.configure(tmp_path)
    cache = (tmp_path / "CMakeCache.txt").read_text()
    assert "THROUGHTIME_CUDA:STRING=OFF" in cache and "THROUGHTIME_MPI:STRING=OFF" in cache
    for name in ("CUBLAS", "NVCC", "MPI_CXX", "GTest", "DNNL"):
        assert not re.search(rf"^{name}\w*:\w+=/", cache, re.M), name
    commands = (tmp_path / "compile_commands.json").read_text()
    assert "no_mpi" in commands and "openmpi" not in commands


def test_what_building_lacks_is_said_in_a_line(monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match=r"^\[wheel\] no-such-program is not installed; scripts/setup --build"):
        wheel_backend.run("no-such-program", "-S")
    with pytest.raises(SystemExit, match=r"^\[wheel\] cmake failed, and said why above"):
        wheel_backend.run("cmake", "--build", tmp_path / "none")


# ---------------------------------------------------------------- every Python that is here


def pythons():
    """Every Python from 3.9 on that is installed here: this one, the system's, and those of pyenv."""
    found = [sys.executable, "/usr/bin/python3"]
    for path in sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        if tuple(map(int, path.parts[-3].split(".")[:2])) >= (3, 9):
            found.append(str(path))
    return list({os.path.realpath(path): path for path in found if os.path.exists(path)}.values())


@pytest.mark.parametrize("python", pythons())
def test_every_python_calls_the_library(python):
    """Without NumPy, which they may not have: the declarations, the calls, and that all files can be read."""
    done = subprocess.run([python, ROOT / "python" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    program = "import ast, sys; [ast.parse(open(path).read()) for path in sys.argv[1:]]"
    subprocess.run([python, "-c", program, *sorted((ROOT / "python" / "throughtime").glob("*.py"))], check=True)


class Environment:
    """A virtual environment of its own, which sees nothing of what is around."""

    def __init__(self, python, folder):
        self.folder, self.python = folder, folder / "bin" / "python"
        self.work = folder / "work"
        self.variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = self.call([python, "-m", "venv", folder], cwd=folder.parent)
        if done.returncode and "ensurepip" in done.stdout + done.stderr:
            pytest.skip(f"{python} makes no environments (Debian: python3-venv)")
        assert done.returncode == 0, done.stderr
        self.work.mkdir()

    def call(self, command, cwd=None, **variables):
        return subprocess.run(command, cwd=cwd or self.work, env={**self.variables, **variables}, capture_output=True,
                              text=True)

    def run(self, *arguments, **variables):
        done = self.call([self.python, *arguments], **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def pip(self, *arguments, **variables):
        return self.run("-m", "pip", "--disable-pip-version-check", *arguments, **variables)

    def packages(self):
        return next(self.folder.glob("lib/python3.*/site-packages"))

    def link_numpy(self):
        """That of this Python, which has the same version, and nothing else of its packages."""
        for path in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
            if not (self.packages() / path.name).exists():
                (self.packages() / path.name).symlink_to(path)


@pytest.fixture(scope="module")
def environment(request, wheel, tmp_path_factory):
    """An environment of a Python with the wheel and nothing else."""
    made = Environment(request.param, tmp_path_factory.mktemp("environment"))
    made.pip("install", "--no-index", "--no-deps", wheel)
    return made


@pytest.mark.parametrize("environment", pythons(), indirect=True)
def test_every_python_installs_the_wheel(environment):
    """Without NumPy the import says what is missing. With it, where this Python's fits the other, a model learns."""
    done = environment.call([environment.python, "-c", "import throughtime"])
    assert done.returncode == 1
    assert re.match(r"ImportError: \[throughtime\] NumPy is needed, .*No module named 'numpy'", done.stderr.splitlines()[-1])
    version = "import sys; print(*sys.version_info[:2])"
    if environment.run("-c", version).split() == list(map(str, sys.version_info[:2])):
        environment.link_numpy()
        assert environment.run("-c", FIRST, str(environment.packages())).split() == ["0.1.0", "(3,)"]
    environment.pip("uninstall", "--yes", "throughtime")
    assert list(environment.packages().glob("*throughtime*")) == []


FIRST = """
import sys, numpy as np, throughtime as tt
assert tt.__file__.startswith(sys.argv[1]), tt.__file__
model = tt.Regressor(hidden=2, epochs=1).fit(np.zeros((30, 1)), np.zeros(30))
print(tt.__version__, model.predict(np.zeros((3, 1))).shape)
"""


def test_pip_builds_from_the_clone_without_an_index(tmp_path):
    """As a user installs it, but for the compilation; then the clone itself, to work on it."""
    environment = Environment(sys.executable, tmp_path / "environment")
    environment.link_numpy()
    alone = LIBRARY.parent / "wheel" / LIBRARY.name
    built = {"THROUGHTIME_LIBRARY": str(alone if alone.exists() else LIBRARY)}
    assert "Successfully installed throughtime" in environment.pip("install", "--no-index", str(ROOT), **built)
    assert environment.run("-c", FIRST, str(environment.packages())).split()[0] == "0.1.0"
    shown = environment.pip("show", "--files", "throughtime")
    for line in ("License: Apache-2.0", "Requires: numpy", "throughtime/py.typed", "dist-info/LICENSE"):
        assert line in shown
    environment.pip("install", "--no-index", "--editable", str(ROOT), **built)
    assert environment.run("-c", FIRST, str(ROOT / "python"), **built).split()[0] == "0.1.0"
    environment.pip("uninstall", "--yes", "throughtime")
    assert environment.call([environment.python, "-c", "import throughtime"]).returncode == 1


ALONE = """
import sys
for name in ("sklearn", "pandas", "torch", "tqdm", "matplotlib", "joblib", "scipy"):
    sys.modules[name] = None
import pickle, numpy as np, throughtime as tt
x = np.random.default_rng(0).normal(size=(60, 2))
model = tt.Regressor(hidden=2, epochs=1, learner=tt.FPTT(window_length=5), standardise=True)
try:
    model.predict(x)
except ValueError as error:
    assert type(error) is ValueError and "not fitted yet" in str(error)
model.set_params(learner__alpha=0.5).fit(x, x[:, 0], validation=(x, x[:, 0]), verbose=1)
assert model.get_params()["learner__alpha"] == 0.5
classifier = tt.Classifier(hidden=2, epochs=1).fit(x, np.where(x[:, :1] > 0, "a", "b"))
assert classifier.predict_proba(x).shape == (60, 2)
print(model.score(x, x[:, 0]), classifier.score(x, classifier.predict(x)), pickle.loads(pickle.dumps(model)).observe(x[0], 1.0))
"""


def test_numpy_alone_is_enough():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ALONE], env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 3


def test_importing_takes_little_beyond_numpy():
    program = "import time, numpy; a = time.perf_counter(); import throughtime; print(time.perf_counter() - a)"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 0  # docs/python.md has the time: no test fails on one
    heavy = subprocess.run([sys.executable, "-c", "import sys, throughtime; print([m for m in "
                            "('sklearn', 'torch', 'pandas', 'matplotlib', 'tqdm') if m in sys.modules])"],
                           env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True)
    assert heavy.stdout.strip() == "[]"
