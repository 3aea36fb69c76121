"""Memory that is shared with the library: arrays that go away, that nobody may write to, that are large; handles that are
dead; and every function of the C interface with nothing."""

import collections
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import throughtime as tt
from throughtime import _declarations, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def window_of(X, y):
    return tt.Window(X, y, 5, start=[0, 3], sequence=[0, 1])


def losses_of(window):
    engine = tt.Engine(tt.Model(features=2, outputs=1, hidden=3))
    losses = engine.buffer(5, 2)
    engine.unroll(window, losses=losses)
    return losses.value


def test_a_window_keeps_its_arrays():
    X = np.random.default_rng(0).normal(size=(2, 10, 2)).astype(np.float32)
    wanted = losses_of(window_of(X, X[:, :, :1].copy()))
    copy, targets = X.copy(), X[:, :, :1].copy()
    window = window_of(copy, targets)
    del copy, targets
    gc.collect()
    filler = [np.full((2, 10, 2), 9, np.float32) for _ in range(100)]  # takes the place of whatever was freed
    assert (losses_of(window) == wanted).all() and len(filler) == 100


def test_an_array_in_use_cannot_be_resized():
    X = np.random.default_rng(0).normal(size=(2, 10, 2)).astype(np.float32)
    targets = X[:, :, 0].copy()
    window = window_of(X, targets)
    for array in (X, targets):
        with pytest.raises(ValueError, match="resize"):
            array.resize((1, 1, 1))
    memory = bytearray(X.tobytes())
    window = window_of(np.frombuffer(memory, np.float32).reshape(X.shape), targets)
    with pytest.raises(BufferError):
        memory.clear()
    assert np.isfinite(losses_of(window)).all()


def test_a_callback_may_throw_arrays_away(sine):
    """What the library reads during fit belongs to the fit."""
    kept = {"x": sine[0].copy(), "y": sine[1].copy()}

    def forget(event):
        kept.clear()
        gc.collect()
        return False

    shape = dict(hidden=4, epochs=3, batch=4, window=50, threads=1)
    found = tt.Regressor(**shape).fit(kept["x"], kept["y"], callbacks=[forget])
    assert (found.predict(sine[0]) == tt.Regressor(**shape).fit(*sine).predict(sine[0])).all() and not kept


def test_read_only_arrays_are_read_everywhere(sine):
    x, y = (each.copy() for each in sine)
    for each in (x, y):
        each.flags.writeable = False
    model = tt.Regressor(hidden=3, epochs=1, window=50).fit(x, y, validation=(x, y), sample_weight=np.broadcast_to(1.0, y.shape))
    model.learn_one(x[0], y[0])
    model.learn_many(x, y)
    model.load_state_dict({name: np.broadcast_to(value, value.shape) for name, value in model.state_dict().items()})
    assert np.isfinite(model.score(x, y))


PEAK = """
import resource, numpy as np, throughtime as tt
steps = 1 << 24
X = np.zeros((steps, 1), np.float32)
X[::3] = 1
y = np.zeros(steps, np.float32)
tt.Regressor(hidden=1, threads=1).fit(X[:4000], y[:4000], callbacks=[lambda event: True])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tt.Regressor(hidden=1, threads=1).fit(X, y, callbacks=[lambda event: True])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
"""


def test_fit_makes_no_copy_of_large_arrays():
    done = subprocess.run([sys.executable, "-c", PEAK], env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.1


EVERY = """
import ctypes, sys
import throughtime as tt
from throughtime import _declarations, _library
library = _library.library()
model = tt.Model(features=1, outputs=1, hidden=2)
freed = tt.Model(features=1, outputs=1, hidden=2)
handles = {"none": -7, "dead": freed._handle.number, "live": model._handle.number}
del freed
for name in sys.stdin.read().split():
    function = getattr(library, name)
    for kind, handle in handles.items():
        if kind == "live" and name == "tt_free":
            continue
        arguments = [handle if i == 0 and each is ctypes.c_int64 else _declarations.Progress() if each is _declarations.Progress
                     else 1 if each in (ctypes.c_int64, ctypes.c_int32, ctypes.c_size_t) else 0.0 if each is ctypes.c_double
                     else None for i, each in enumerate(function.argtypes)]
        status = function(*arguments)
        print(name, kind, status, library.tt_last_error().decode() if status else "", sep="\\t")
"""

# Calls that need no pointer: with a live model they do their work.
COMPLETE = {"tt_stream_reset", "tt_stream_end", "tt_scales_begin"}


def test_every_function_with_a_dead_handle_and_with_nothing():
    functions = declared()
    names = [name for name in functions if functions[name].restype is ctypes.c_int]
    assert len(names) > 35
    done = subprocess.run([sys.executable, "-c", EVERY], input="\n".join(names), capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stderr
    seen = set()
    for line in done.stdout.splitlines():
        name, kind, status, text = line.split("\t")
        takes_handle = functions[name].argtypes[:1] == [ctypes.c_int64]
        if kind != "live" and takes_handle:
            assert int(status) in (_declarations.TT_HANDLE, _declarations.TT_INVALID), line
        elif name not in COMPLETE:
            assert int(status) != _declarations.TT_OK, line
        assert not int(status) or text.startswith("["), line
        seen.add(name)
    assert seen == set(names)


def declared():
    """The functions of the header, by their names."""
    functions = collections.defaultdict(types.SimpleNamespace)

    class Library:
        def __getattr__(self, name):
            return functions[name]

    _declarations.declare(Library())
    return functions


def test_a_handle_ends_with_its_object():
    model = tt.Model(features=1, outputs=1, hidden=2)
    number = model._handle.number
    described = json.loads(_library.text(_library.library().tt_model_describe, number))
    assert described["parameters"] == model.parameters
    del model
    gc.collect()
    with pytest.raises(ValueError, match=rf"\[c\] there is no handle {number}"):
        _library.text(_library.library().tt_model_describe, number)
