import pathlib
import sys

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


@pytest.fixture
def pyplot():
    """matplotlib, drawing into memory; what a test draws is closed after it."""
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")
