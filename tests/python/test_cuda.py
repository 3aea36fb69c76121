"""engine="cuda" from Python, where it is built and a GPU is there. No test here compares times."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import throughtime as tt

X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
Y = (X[:, 0] - 0.5 * X[:, 1]).astype(np.float32)


def why_not():
    try:
        tt.Engine(tt.Model(features=1, outputs=1, hidden=2, engine="cuda"))
    except ValueError as error:
        return str(error)
    return ""


REASON = why_not()
on_gpu = pytest.mark.skipif(bool(REASON), reason=f"no GPU for the library: {REASON}")


def model(engine, **more):
    return tt.Regressor(**{"hidden": 16, "epochs": 3, "batch": 4, "window": 50, "optimizer": tt.Adam(rate=0.01),
                           "threads": 1, "engine": engine, **more})


def weights_of(fitted):
    return np.concatenate([value.ravel() for value in fitted.state_dict().values()])


@pytest.mark.skipif(not REASON, reason="there is a GPU")
def test_without_a_gpu_one_line_says_so():
    assert REASON.startswith("[cuda] ")
    for work in (lambda: model("cuda").fit(X, Y), lambda: model("cuda").learn_one(X[0], Y[0])):
        with pytest.raises(ValueError, match=r"^\[cuda\] "):
            work()


@on_gpu
@pytest.mark.parametrize("learner", [tt.BPTT(), tt.TBPTT(preset="plain", truncation=10), tt.FPTT(window_length=10)],
                         ids=["bptt", "tbptt", "fptt"])
def test_it_learns_what_the_processor_learns(learner):
    there, here = (model(engine, learner=learner).fit(X, Y) for engine in ("cuda", "cpu"))
    assert np.allclose(weights_of(there), weights_of(here), atol=2e-3)
    assert np.allclose(there.predict(X), here.predict(X), atol=5e-3)
    assert (weights_of(model("cuda", learner=learner).fit(X, Y)) == weights_of(there)).all()


@on_gpu
def test_classes_sequences_and_validation():
    x = X.reshape(40, 10, 3)
    labels = np.where(x.mean(axis=(1, 2)) > 0, "up", "down")
    classifier = tt.Classifier(hidden=8, epochs=5, batch=8, engine="cuda", patience=2)
    classifier.fit(x[:30], labels[:30], validation=(x[30:], labels[30:]))
    assert classifier.predict_proba(x).shape == (40, 2) and set(classifier.predict(x)) <= {"up", "down"}


@on_gpu
def test_a_stream_goes_on_and_a_pickle_too():
    fitted = model("cuda", learner=tt.FPTT(window_length=5)).fit(X, Y)
    for x, y in zip(X[:20], Y[:20]):
        fitted.learn_one(x, y)
    other = pickle.loads(pickle.dumps(fitted))
    for x, y in zip(X[20:40], Y[20:40]):
        assert fitted.observe(x, y) == other.observe(x, y)


@on_gpu
def test_own_methods_compute_there():
    answers = []
    for engine in ("cuda", "reference"):
        made = tt.Engine(tt.Model(features=3, outputs=1, hidden=8, engine=engine))
        loss = made.buffer(1)
        made.unroll(tt.Window(X[None], Y[None], 30, start=[0, 100]), loss_sum=loss)
        made.pull_back()
        answers.append((loss.value, made.gradient.value))
    assert np.allclose(answers[0][0], answers[1][0], rtol=1e-4)
    assert np.allclose(answers[0][1], answers[1][1], atol=1e-3)


@on_gpu
def test_diagnosis_and_files(tmp_path):
    fitted = model("cuda").fit(X, Y, directory=tmp_path / "run")
    assert tt.diagnose(fitted, X, Y, positions=4, lags=5).phi.shape == (6,)
    fitted.save(tmp_path / "model")
    assert (tt.Regressor.load(tmp_path / "model").predict(X) == fitted.predict(X)).all()
    assert tt.Run(tmp_path / "run").result["engine"] == "cuda"


@on_gpu
def test_a_gpu_that_fails_is_a_runtime_error():
    program = ("import sys; sys.path.insert(0, sys.argv[1]); import numpy as np, throughtime as tt\n"
               "try:\n    tt.Regressor(hidden=8, epochs=50, engine='cuda').fit(np.ones((400, 1)), np.ones(400))\n"
               "except RuntimeError as error:\n    print(error)")
    done = subprocess.run([sys.executable, "-c", program, os.path.dirname(os.path.dirname(tt.__file__))], capture_output=True,
                          text=True, env={**os.environ, "THROUGHTIME_CUDA_FAULT": "5"})
    assert done.returncode == 0 and done.stdout.startswith("["), done.stderr
