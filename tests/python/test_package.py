import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import numpy
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = pathlib.Path(os.environ.get("THROUGHTIME_LIBRARY", ROOT / "build" / "release" / "libthroughtime_c.so"))
sys.path.insert(0, str(ROOT / "python"))

import elf  # noqa: E402


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
    import wheel_backend

    try:
        return folder / wheel_backend.build_wheel(str(folder))
    except RuntimeError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    os.environ.setdefault("THROUGHTIME_LIBRARY", str(LIBRARY))
    return wheel_of(tmp_path_factory.mktemp("wheel"))


def test_the_wheel_needs_no_library_beyond_those_its_tag_allows(wheel, tmp_path):
    import wheel_backend

    assert wheel.stat().st_size < 10e6
    assert re.fullmatch(r"throughtime-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    libraries = sorted(tmp_path.glob("throughtime/*.so*"))
    names = {path.name for path in libraries}
    for path in libraries:
        for needed in elf.Elf(path).needed():
            assert needed in names or wheel_backend.OF_THE_SYSTEM.fullmatch(needed), (path.name, needed)
    assert elf.platform_tag(libraries) in wheel.name


def test_bundled_libraries_are_found_beside_the_library(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    folder = tmp_path / "throughtime"
    found = subprocess.run(["ldd", folder / LIBRARY.name], check=True, capture_output=True, text=True).stdout
    bundled = [path.name for path in folder.glob("*.so*") if path.name != LIBRARY.name]
    assert bundled
    for name in bundled:
        assert re.search(rf"{re.escape(name)} => {re.escape(str(folder))}/", found), (name, found)
    needed = " ".join(elf.Elf(folder / LIBRARY.name).needed())
    for name in ("libstdc++", "libgcc_s", "libmpi", "libcuda"):
        assert name not in needed


def test_the_same_files_are_the_same_wheel(wheel, tmp_path):
    assert wheel_of(tmp_path).read_bytes() == wheel.read_bytes()


def test_metadata_is_known_without_compiling(wheel, tmp_path):
    import wheel_backend

    name = wheel_backend.prepare_metadata_for_build_wheel(str(tmp_path))
    with zipfile.ZipFile(wheel) as content:
        assert content.read(f"{name}/METADATA").decode() == (tmp_path / name / "METADATA").read_text()


def pythons():
    """Every Python from 3.9 on that is installed here: this one, and those of pyenv."""
    found = [sys.executable]
    for path in sorted(pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        if tuple(map(int, path.parts[-3].split(".")[:2])) >= (3, 9):
            found.append(str(path))
    return found


@pytest.mark.parametrize("python", pythons())
def test_every_python_calls_the_library(python):
    """Without NumPy, which they may not have: the declarations, the calls, and that all files can be read."""
    done = subprocess.run([python, ROOT / "python" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    program = "import ast, sys; [ast.parse(open(path).read()) for path in sys.argv[1:]]"
    subprocess.run([python, "-c", program, *sorted((ROOT / "python" / "throughtime").glob("*.py"))], check=True)


def numpys():
    """The Pythons that find NumPy, and the folder where: their own, or that of this Python, which has the same version."""
    found = []
    for python in pythons():
        for folder in ("", str(pathlib.Path(numpy.__file__).parents[1])):
            done = subprocess.run([python, "-c", "import numpy; numpy.zeros(1)"], capture_output=True,
                                  env={"PATH": os.environ["PATH"], "PYTHONPATH": folder})
            if done.returncode == 0:
                found.append((python, folder))
                break
    return found


@pytest.mark.parametrize("python, folder", numpys())
def test_the_wheel_in_an_empty_environment(wheel, tmp_path, python, folder):
    with zipfile.ZipFile(wheel) as content:
        content.extractall(tmp_path)
    program = ("import sys; sys.path.insert(0, '.'); import numpy as np, throughtime as tt; "
               "assert tt.__file__.startswith(sys.argv[1]), tt.__file__; "
               "m = tt.Regressor(hidden=2, epochs=1).fit(np.zeros((30, 1)), np.zeros(30)); print(m.predict(np.zeros((3, 1))))")
    done = subprocess.run([python, "-c", program, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "PYTHONPATH": folder})
    assert done.returncode == 0, done.stderr


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
