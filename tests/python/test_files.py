"""Fitted models as files, and the runs that the command goes on with."""

import json
import os
import pathlib
import pickle
import subprocess

import numpy as np
import pytest
import throughtime as tt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def small(**more):
    return tt.Regressor(**{"hidden": 8, "epochs": 3, "batch": 4, "window": 25, "optimizer": tt.Adam(rate=0.01), "threads": 1,
                           **more})


def test_fit_begins_with_given_weights(sine, tmp_path):
    x, y = sine
    first = small().fit(x, y).state_dict()
    model = small(weights=first, epochs=1, optimizer=tt.SGD(rate=0.0))
    for _ in range(2):
        model.fit(x, y)
        assert all((value == first[name]).all() for name, value in model.state_dict().items())
    assert repr(small(weights=first)).endswith("weights={6 arrays})")
    model.save(tmp_path / "model")
    loaded = tt.Regressor.load(tmp_path / "model")
    assert loaded.weights is None and (loaded.predict(x) == model.predict(x)).all()
    assert (pickle.loads(pickle.dumps(model)).fit(x, y).predict(x) == model.predict(x)).all()
    stream = small(weights=first)
    guess = stream.learn_one(x[0], float(y[0])).reset().predict_one(x[0])
    assert guess == pytest.approx(small(weights=first, optimizer=tt.SGD(rate=0.0)).fit(x, y).predict(x[:1])[0], abs=0.05)
    with pytest.raises(ValueError, match=r"'rnn.weight_ih_l0' must have the shape \[36, 1\], got \[32, 1\]"):
        small(hidden=9, weights=first).fit(x, y)
    broken = small(hidden=9, weights=first)
    for _ in range(2):
        with pytest.raises(ValueError, match="must have the shape"):
            broken.learn_one(x[0], 1.0)
    with pytest.raises(ValueError, match="not fitted yet"):
        broken.predict(x)


def test_pickle_save_and_load(sine, tmp_path):
    x, y = sine
    model = small().fit(x, y)
    for other in (pickle.loads(pickle.dumps(model)), saved(model, tmp_path)):
        assert (other.predict(x) == model.predict(x)).all()
        assert other.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert (pickle.loads(pickle.dumps(model)).partial_fit(x, y).predict(x)
            == pickle.loads(pickle.dumps(model)).partial_fit(x, y).predict(x)).all()
    with pytest.raises(ValueError, match="holds a Regressor"):
        tt.Classifier.load(tmp_path / "model.safetensors")
    assert pickle.loads(pickle.dumps(small())).hidden == 8


def saved(model, folder):
    model.save(folder / "model.safetensors")
    weights = tt.read_safetensors(folder / "model.safetensors")
    assert all((weights[name] == value).all() for name, value in model.state_dict().items())
    return tt.Regressor.load(folder / "model.safetensors")


def test_state_dict_both_ways(sine):
    x, y = sine
    model, other = small().fit(x, y), small(seed=2).fit(x, y)
    other.load_state_dict(model.state_dict())
    assert (other.predict(x) == model.predict(x)).all()
    with pytest.raises(ValueError, match="unknown: none"):
        other.load_state_dict({})
    state = model.state_dict()
    state["head.bias"] = np.zeros(2)
    with pytest.raises(ValueError, match=r"'head.bias' must have the shape \[1\], got \[2\]"):
        other.load_state_dict(state)


def safetensors(arrays, names):
    """A file as other programs write it."""
    header, content = {"__metadata__": {"format": "pt"}}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": names[array.dtype.str], "shape": list(array.shape),
                        "data_offsets": [len(content), len(content) + array.nbytes]}
        content += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content


def test_weights_of_other_programs(sine, tmp_path):
    x, y = sine
    model, other = small().fit(x, y), small(seed=2).fit(x, y)
    path = tmp_path / "weights.safetensors"
    for kind in ("<f4", "<f8", "<f2"):
        wanted = {name: value.astype(kind) for name, value in model.state_dict().items()}
        path.write_bytes(safetensors(wanted, {"<f4": "F32", "<f8": "F64", "<f2": "F16"}))
        other.load_state_dict(tt.read_safetensors(path))
        assert all((other.state_dict()[name] == value).all() for name, value in wanted.items())
    whole = path.read_bytes()
    for broken in (b"", whole[:7], whole[:-1], b"\xff" * 16, whole.replace(b"F16", b"F99"), whole.replace(b"[1, 8]", b"[8, 8]"),
                   (9).to_bytes(8, "little") + b"[1, 2, 3]"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"\[safetensors\] .* cannot be read: "):
            tt.read_safetensors(path)


def command():
    return pathlib.Path(os.environ.get("THROUGHTIME_COMMAND", ROOT / "build" / "release" / "throughtime"))


def test_a_run_directory_is_what_the_command_resumes(sine, tmp_path):
    if not command().exists():
        pytest.skip("the command is not built")
    x, y = sine
    whole = small(keep_best=False).fit(x, y, directory=tmp_path / "whole")

    def stop(event):
        return event["event"] == "progress"

    part = small(keep_best=False).fit(x, y, directory=tmp_path / "part", callbacks=[stop])
    assert part.n_iter_ < whole.n_iter_
    done = subprocess.run([command(), "train", "--resume", tmp_path / "part"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    a = tt.read_safetensors(tmp_path / "whole" / "checkpoints" / "last.safetensors")
    b = tt.read_safetensors(tmp_path / "part" / "checkpoints" / "last.safetensors")
    for name, value in whole.state_dict().items():
        assert (a[name] == value).all() and (b[name] == value).all()
    assert tt.Run(tmp_path / "whole").metrics["train_loss"].size > 0
    assert tt.Run(tmp_path / "whole").result is not None
    with pytest.raises(ValueError, match="whole"):
        small().fit(x, y, directory=tmp_path / "whole")


def test_the_command_gives_the_same_bits(sine, tmp_path):
    if not command().exists():
        pytest.skip("the command is not built")
    x, y = sine
    data = tmp_path / "arrays"
    data.mkdir()
    np.save(data / "train_inputs.npy", x)
    np.save(data / "train_targets.npy", y)
    (tmp_path / "run.toml").write_text(f"""
[task]
name = "arrays"
[task.arrays]
path = "{data}"
length = 25
[model]
hidden = 8
[learner]
name = "fptt"
[learner.fptt]
window_length = 5
[train]
epochs = 3.0
batch = 4
[run]
threads = 1
""")
    run = tt.train(tmp_path / "run.toml", run__directory=str(tmp_path / "of-python"))
    done = subprocess.run([command(), "train", tmp_path / "run.toml", "--set", f"run.directory={tmp_path / 'of-command'}"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    model = small(learner=tt.FPTT(window_length=5), optimizer=None).fit(x, y)
    for where in (run.path, tmp_path / "of-command"):
        weights = tt.read_safetensors(where / "checkpoints" / "last.safetensors")
        for name, value in model.state_dict().items():
            assert (weights[name] == value).all(), (where, name)
