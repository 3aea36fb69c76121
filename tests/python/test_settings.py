import pathlib
import subprocess
import sys

import numpy as np
import pytest
import throughtime as tt

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_declarations_and_methods_are_those_of_the_library():
    done = subprocess.run([sys.executable, ROOT / "python" / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_methods_know_their_options():
    method = tt.FPTT(window_length=20, alpha=0.5)
    assert repr(method) == "FPTT(window_length=20, alpha=0.5)"
    assert method == tt.FPTT(window_length=20, alpha=0.5) != tt.FPTT()
    assert method.get_params()["windows"] == 0
    method.set_params(alpha=0.25)
    assert method.alpha == 0.25
    assert "alpha" in tt.FPTT.__doc__


@pytest.mark.parametrize("make, line", [
    (lambda: tt.FPTT(alpha=-1), "[fptt] alpha must be at least 0, got -1"),
    (lambda: tt.FPTT(form="lamda"), "[fptt] form must be one of lambda, gradient, ogd, got 'lamda'"),
    (lambda: tt.FPTT(windows=2.5), "[fptt] windows must be integer, got 2.5"),
    (lambda: tt.FPTT(windows=True), "[fptt] windows must be integer, got True"),
    (lambda: tt.Adam(beta1=1.0), "[adam] beta1 must be at least 0 and below 1, got 1.0"),
    (lambda: tt.SGD(rate=float("nan")), "[sgd] rate must be at least 0, got nan"),
    (lambda: tt.FPTT().set_params(lr=1), "[fptt] there is no option 'lr'; known: windows"),
])
def test_wrong_options_are_refused(make, line):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value).startswith(line)


def test_an_option_that_is_none_cannot_be_set():
    method = tt.FPTT(windows=2)
    with pytest.raises(AttributeError, match="there is no option 'alhpa'; known: windows"):
        method.alhpa = 1
    method.alpha = 0.25
    assert method.get_params()["alpha"] == 0.25


def test_an_optimizer_has_what_it_reads():
    assert "beta2" in tt.Adam().get_params() and "momentum" not in tt.Adam().get_params()
    with pytest.raises(TypeError):
        tt.SGD(beta1=0.5)


def test_parameters_are_nested():
    model = tt.Regressor(learner=tt.FPTT(window_length=5), hidden=4)
    assert model.get_params()["learner__window_length"] == 5
    model.set_params(learner__alpha=0.5, epochs=2)
    assert model.learner.alpha == 0.5 and model.epochs == 2
    with pytest.raises(ValueError, match="Invalid parameter 'hiden'"):
        model.set_params(hiden=3)
    with pytest.raises(ValueError, match="there is no optimizer whose rate could be set"):
        model.set_params(optimizer__rate=1)
    with pytest.raises(ValueError, match="there is no epochs whose rate could be set"):
        model.set_params(epochs__rate=1)
    assert repr(tt.Regressor(hidden=np.int64(4), learner=tt.FPTT(windows=np.int64(2)))) == (
        "Regressor(hidden=4, learner=FPTT(windows=2))")
    assert repr(tt.Regressor(hidden=4)) == "Regressor(hidden=4)"
