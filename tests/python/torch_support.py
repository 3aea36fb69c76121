"""Modules of PyTorch for the tests."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/setup --peer)")

KINDS = ["LSTM", "GRU", "RNN", "RNN_relu"]


def modules(kind, layers, features, hidden, outputs, seed=0, **more):
    torch.manual_seed(seed)
    name, extra = (kind, {}) if kind != "RNN_relu" else ("RNN", {"nonlinearity": "relu"})
    rnn = getattr(torch.nn, name)(features, hidden, layers, batch_first=True, **extra, **more)
    return rnn, torch.nn.Linear(hidden, outputs)
