"""Modules of PyTorch for the tests, and safetensors files by somebody else's hand."""

import json

import numpy as np
import pytest
import throughtime as tt

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/setup --peer)")

KINDS = ["LSTM", "GRU", "RNN", "RNN_relu"]


def modules(kind, layers, features, hidden, outputs, seed=0, **more):
    torch.manual_seed(seed)
    name, extra = (kind, {}) if kind != "RNN_relu" else ("RNN", {"nonlinearity": "relu"})
    rnn = getattr(torch.nn, name)(features, hidden, layers, batch_first=True, **extra, **more)
    return rnn, torch.nn.Linear(hidden, outputs)


class Net(torch.nn.Module):
    """Modules under the library's names, so that its state_dict is the library's."""

    def __init__(self, rnn, head, embedding=None):
        super().__init__()
        self.rnn, self.head = rnn, head
        if embedding is not None:
            self.embedding = embedding

    def forward(self, x):
        x = self.embedding(x) if hasattr(self, "embedding") else x
        return self.head(self.rnn(x)[0])


def words(tied, seed=0, vocabulary=7, width=4):
    """A model of tokens, which reads them by an embedding and says how likely each is next."""
    torch.manual_seed(seed)
    embedding, rnn = torch.nn.Embedding(vocabulary, width), torch.nn.LSTM(width, width, batch_first=True)
    net = Net(rnn, torch.nn.Linear(width, vocabulary), embedding)
    if tied:
        net.head.weight = embedding.weight
    return net


def of_words(net, **more):
    return tt.from_torch(net.rnn, head=net.head, embedding=net.embedding, loss="classification", targets="step", **more)


def numbers_of(module):
    return {name: value.clone() for name, value in module.state_dict().items()}


def same_numbers(module, numbers):
    found = module.state_dict()
    return found.keys() == numbers.keys() and all(torch.equal(value, numbers[name]) for name, value in found.items())


KINDS_OF_FILES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
                  "I64": torch.int64}


def write_tensors(path, tensors):
    """A safetensors file of tensors, from the page that describes the format: a length, a header, the numbers."""
    names = {kind: name for name, kind in KINDS_OF_FILES.items()}
    header, content = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        data = bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()) if tensor.numel() else b""
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(content), len(content) + len(data)]}
        content += data
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + content)


def read_tensors(path):
    """The tensors of a safetensors file: every byte of the data belongs to one of them, in this order."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8:8 + size]), content[8 + size:]
    assert all(isinstance(text, str) for text in header.pop("__metadata__", {}).values())
    tensors, end = {}, 0
    for name, entry in header.items():
        begin, end_before = entry["data_offsets"][0], end
        assert begin == end_before
        end = entry["data_offsets"][1]
        part = np.frombuffer(data[begin:end], np.uint8).copy()
        tensors[name] = torch.from_numpy(part).view(KINDS_OF_FILES[entry["dtype"]]).reshape(entry["shape"])
    assert end == len(data)
    return tensors
