import copy
import gc
import importlib.util
import pathlib
import pickle

import numpy as np
import pytest
import throughtime as tt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def example(name="own_method"):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "python" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("rows, steps", [(4, 100), (3, 60), (1, 20)])
def test_the_example_is_the_learner_of_the_library(rows, steps):
    X, y, method, losses = example().train(passes=5, rows=rows, steps=steps)
    assert losses[-1] < losses[0]
    # One recording is cut into these rows, in their order: the library makes the same calls on the same numbers.
    model = tt.Regressor(cell="lstm", hidden=16, learner=tt.TBPTT(preset="plain", truncation=20), batch=rows, window=steps,
                         optimizer=tt.Adam(rate=0.01, clip=1.0), epochs=5, threads=1).fit(X.reshape(-1, 1), y.ravel())
    library = np.concatenate([value.ravel() for value in model.state_dict().values()])
    assert (method.engine.parameters.value == library).all()
    first = tt.Engine(tt.Model(features=1, outputs=1, cell="lstm", hidden=16)).parameters.value
    assert np.abs(library - first).max() > 0.01


def small(rows=2, steps=4):
    model = tt.Model(features=2, outputs=1, hidden=3)
    engine = tt.Engine(model)
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, steps, 2)).astype(np.float32)
    return model, engine, X, X[:, :, :1]


def test_a_gradient_is_that_of_differences():
    model = tt.Model(features=2, outputs=1, hidden=3, engine="reference")
    engine = tt.Engine(model)
    X = np.random.default_rng(0).normal(size=(2, 4, 2)).astype(np.float32)
    window = tt.Window(X, X[:, :, :1], 4, start=[0, 0], sequence=[0, 1])
    loss = engine.buffer(1)
    engine.unroll(window, loss_sum=loss)
    engine.pull_back()
    gradient, weights = engine.gradient.value, engine.parameters.value
    for place in range(0, model.parameters, 7):
        sums = []
        for sign in (1, -1):
            moved = weights.copy()
            moved[place] += sign * 1e-5
            engine.parameters.value = moved
            loss.value = 0
            engine.unroll(window, loss_sum=loss)
            sums.append(loss.value[0])
        assert (sums[0] - sums[1]) / 2e-5 == pytest.approx(gradient[place], abs=1e-6)


def test_two_windows_with_a_cotangent_between_them_are_one():
    model, engine, X, y = small()
    states = engine.buffer(2, model.state)
    engine.unroll(tt.Window(X, y, 4, start=[0, 0], sequence=[0, 1]))
    engine.pull_back()
    whole = engine.gradient.value
    engine.unroll(tt.Window(X, y, 2, start=[0, 0], sequence=[0, 1]), final_state=states)
    cotangent = engine.buffer(2, model.state)
    engine.unroll(tt.Window(X, y, 2, start=[2, 2], sequence=[0, 1]), initial_state=states)
    engine.pull_back(initial_cotangent=cotangent)
    engine.unroll(tt.Window(X, y, 2, start=[0, 0], sequence=[0, 1]))
    engine.pull_back(add=True, end_cotangent=cotangent)
    assert np.allclose(engine.gradient.value, whole, atol=1e-6)


def test_weights_and_resets():
    model, engine, X, y = small(rows=1, steps=2)
    losses = engine.buffer(2, 1)
    engine.unroll(tt.Window(X, y, 2, start=[0], weight=[[0], [1]]), losses=losses)
    assert losses.value[0, 0] == 0 and losses.value[1, 0] > 0
    predictions = engine.buffer(2, 1, 1)
    same = np.repeat(X[:, :1], 2, axis=1)
    engine.unroll(tt.Window(same, y, 2, start=[0], reset=[[1], [1]]), predictions=predictions)
    assert predictions.value[0, 0, 0] == predictions.value[1, 0, 0]


def test_what_cannot_be_is_refused():
    model, engine, X, y = small()
    window = tt.Window(X, y, 4, start=[0, 0], sequence=[0, 1])
    with pytest.raises(ValueError, match="there is no window to go back through"):
        engine.pull_back()
    with pytest.raises(ValueError, match="initial_state must be a buffer of 12 numbers, buffer 0 has"):
        engine.unroll(window, initial_state=engine.parameters)
    engine.unroll(window)
    engine.apply_update(0.1)
    with pytest.raises(ValueError, match="there is no window to go back through"):
        engine.pull_back()
    with pytest.raises(ValueError, match="reads 1 numbers at each step, the data has 2"):
        tt.Engine(tt.Model(features=1, outputs=1)).unroll(window)
    with pytest.raises(ValueError, match=r"weight must be \[steps, rows\] = \[4, 2\]"):
        tt.Window(X, y, 4, start=[0, 0], sequence=[0, 1], weight=np.ones((2, 4)))
    with pytest.raises(ValueError, match="sequence and start must have as many rows"):
        tt.Window(X, y, 4, start=[0, 0], sequence=[0])
    with pytest.raises(ValueError):
        tt.Window(X, y, 5, start=[0, 0], sequence=[0, 1])
    with pytest.raises(ValueError):
        tt.Window(X, y, 4, start=[0, 0], sequence=[0, 2])


@pytest.mark.parametrize("work, line", [
    (lambda e, w: tt.Engine(3), "[engine] the model must be a Model, got 3"),
    (lambda e, w: tt.Engine(tt.Regressor()), "[engine] the model must be a Model, got Regressor()"),
    (lambda e, w: e.unroll(None), "[engine] the window must be a Window, got None"),
    (lambda e, w: e.unroll(w, loss_sum=2), "[engine] a buffer must be a Buffer, got 2"),
    (lambda e, w: e.apply_update("a"), "[engine] rate must be a number, got 'a'"),
    (lambda e, w: e.apply_update(0.1, scale=None), "[engine] scale must be a number, got None"),
    (lambda e, w: setattr(e.parameters, "value", "a"), "[engine] the numbers of <Buffer 0: "),
    (lambda e, w: setattr(e.parameters, "value", [1.0, 2.0]), "[engine] the numbers of <Buffer 0: "),
    (lambda e, w: tt.Model(1, 1, optimizer=3), "[model] optimizer must be an optimizer such as Adam(), got 3"),
    (lambda e, w: tt.Model(1, 1, optimizer=tt.FPTT(windows=2)), "[model] optimizer must be an optimizer such as Adam()"),
    (lambda e, w: tt.Window(None, None, 1, [0]), "[window] X and y must be lists or arrays of sequences"),
    (lambda e, w: tt.Window("ab", "ab", 1, [0]), "[window] X and y must be lists or arrays of sequences"),
    (lambda e, w: tt.Window([[[1.0]]], [[1.0]], 1, 0), "[window] start must be a list with an entry for each row, got 0"),
    (lambda e, w: tt.Window([[[1.0]]], [[1.0]], 1, [0], sequence=0), "[window] sequence must be a list with an entry"),
    (lambda e, w: tt.Window([[[1.0]]], [[1.0]], 1, [0], weight="a"), "[window] weight must be numbers, got texts"),
    (lambda e, w: tt.Window([[[1.0]]], [[1.0]], 1, [0], reset="a"), "[window] reset must be numbers, got texts"),
])
def test_what_is_of_another_kind_is_refused_by_name(work, line):
    _, engine, X, y = small()
    window = tt.Window(X, y, 4, start=[0, 0], sequence=[0, 1])
    with pytest.raises(ValueError) as error:
        work(engine, window)
    assert str(error.value).startswith(line)


def test_a_model_is_no_number_to_copy():
    """A copy with the same handle would end what the first one stands for."""
    _, engine, X, y = small()
    window = tt.Window(X, y, 4, start=[0, 0], sequence=[0, 1])
    for each in (engine, engine.model, window, engine.parameters):
        for work in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match=r"^\[throughtime\] models, engines and windows of own methods cannot be pickled"):
                work(each)
    other = copy.copy(engine)  # the same one by another name
    del engine
    gc.collect()
    other.unroll(window)
    other.pull_back()
    assert np.isfinite(other.gradient.value).all()


def test_the_example_of_a_stream_of_rows(tmp_path, capsys, monkeypatch):
    random = np.random.default_rng(0)
    lines = ["date,a,b,c,d,e,f,OT"]
    lines += [f"{row}," + ",".join(f"{value:.3f}" for value in random.normal(size=7)) for row in range(40)]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr("sys.argv", ["etth1.py", str(tmp_path / "rows.csv")])
    example("etth1").main()
    assert "| throughtime |" in capsys.readouterr().out
