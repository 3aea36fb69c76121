"""Train recurrent networks on sequences of any length: arrays, streams and PyTorch modules (docs/python.md)."""

from __future__ import annotations

try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(f"[throughtime] NumPy is needed, and this Python cannot import it ({_error}); install it with: "
                      "python -m pip install numpy") from _error

from ._forecaster import Forecaster
from ._history import History
from ._library import version as _version
from ._methods import *  # noqa: F401,F403
from ._methods import __all__ as _methods
from ._models import Classifier, Regressor
from ._own import Buffer, Engine, Model, Window
from ._runs import Diagnosis, Run, diagnose, train
from ._safetensors import read_safetensors
from ._torch import from_torch

__all__ = ["Buffer", "Classifier", "Diagnosis", "Engine", "Forecaster", "History", "Model", "Regressor", "Run", "Window",
           "diagnose", "from_torch", "read_safetensors", "train", *_methods]
__version__ = _version()
