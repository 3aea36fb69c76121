import pathlib
import sys
import types

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


@pytest.fixture
def sine():
    """A recording whose next value is the target."""
    t = np.arange(601)
    series = np.sin(0.2 * t).astype(np.float32)
    return series[:-1, None].copy(), series[1:].copy()


@pytest.fixture
def sequences():
    """Forty sequences of twelve steps; the class says whether their mean is above 0."""
    random = np.random.default_rng(3)
    x = (random.normal(size=(40, 12, 2)) + random.choice([-0.7, 0.7], size=(40, 1, 1))).astype(np.float32)
    return x, np.where(x.mean(axis=(1, 2)) > 0, "high", "low")


class Axes:
    """What a picture is drawn on."""

    def __init__(self):
        self.drawn, self.label = [], None

    def plot(self, x, y, label):
        assert len(x) == len(y) > 0
        self.drawn.append(label)

    semilogy = plot

    def set_xlabel(self, text):
        self.label = text

    def legend(self):
        pass


@pytest.fixture
def pyplot(monkeypatch):
    """A stand-in for matplotlib, of which only subplots is there."""
    module = types.ModuleType("matplotlib.pyplot")
    module.subplots = lambda: (None, Axes())
    package = types.ModuleType("matplotlib")
    package.pyplot = module
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", module)
