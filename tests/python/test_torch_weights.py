"""Weights on their way from PyTorch and back: by files, in every kind of number."""

import re

import numpy as np
import pytest
import throughtime as tt
from torch_support import torch, write_tensors


def file(header, data=b""):
    return len(header).to_bytes(8, "little") + header + data


@pytest.mark.parametrize("content, line", [
    (file(b'{"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}', b"1"), "'a' has the dtype 'F8_E4M3'; known: F64, F32"),
    (file(b'{"a":{"dtype":["F32"],"shape":[1],"data_offsets":[0,4]}}', b"1234"), r"'a' has the dtype \['F32'\]; known: "),
    (file(b'{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0.0,1]}}', b"1"), "'a' needs dtype, shape and data_offsets"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}', b"1"), "'a' lies at bytes"),
    (file(b'{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}', b"1"), "'a' lies at bytes"),
    (file(b'{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', b"1"), r"'a' lies at bytes \[0, 2\], the data has 1"),
    (file(b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":[]}', b"1"), "a name occurs twice"),
    (file(b'{"a":7}'), "'a' needs dtype"),
    (file(b"[" * 100000), "cannot be read: "),
    ((1 << 62).to_bytes(8, "little") + b"{}", "its header claims 4611686018427387904 bytes, the file has 10 in all"),
], ids=lambda value: value if isinstance(value, str) else "file")
def test_a_broken_file_is_refused(content, line, tmp_path):
    (tmp_path / "broken").write_bytes(content)
    with pytest.raises(ValueError, match=r"\[safetensors\] .*broken cannot be read: ") as error:
        tt.read_safetensors(tmp_path / "broken")
    assert re.search(line, str(error.value))


def test_the_smallest_files(tmp_path):
    (tmp_path / "empty").write_bytes(file(b"{}"))
    assert tt.read_safetensors(tmp_path / "empty") == {}
    write_tensors(tmp_path / "small", {"one": torch.tensor(2.5, dtype=torch.bfloat16).reshape(1)[0], "none": torch.ones(0, 3)})
    found = tt.read_safetensors(tmp_path / "small")
    assert found["one"].shape == () and found["one"] == 2.5 and found["none"].shape == (0, 3)
    special = torch.tensor([float("inf"), -float("inf"), -0.0, 1e-40, 3e38], dtype=torch.bfloat16)
    write_tensors(tmp_path / "special", {"a": special})
    assert tt.read_safetensors(tmp_path / "special")["a"].tobytes() == special.float().numpy().tobytes()
