#!/usr/bin/env python3
"""Writes tests/fuzz/corpus/, one folder per fuzzer. Its files are committed: run this only to change them. Needs numpy."""
import gzip, io, lzma, pathlib, shutil, struct, zipfile, zlib

import numpy as np

root = pathlib.Path(__file__).parent / "corpus"
shutil.rmtree(root, ignore_errors=True)


def write(name, data):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def packed(data):
    return gzip.compress(data, mtime=0)


def huge_dictionary(data):
    """Replaces the dictionary size in the header of an xz file's only block by 1 GiB."""
    data = bytearray(data)
    size = (data[12] + 1) * 4
    block = data[12 : 12 + size]
    at = bytes(block).index(b"\x21\x01") + 2  # the LZMA2 filter and the size of its property
    block[at] = 36
    block[-4:] = struct.pack("<I", zlib.crc32(bytes(block[:-4])))
    data[12 : 12 + size] = block
    return bytes(data)


lines = b"one\ntwo\nthree\n"
write("stream/plain", lines)
write("stream/packed.gz", packed(lines))
write("stream/packed.xz", lzma.compress(lines))
write("stream/large_dictionary.xz", huge_dictionary(lzma.compress(lines)))

write("idx/small", bytes([0, 0, 8, 2]) + struct.pack(">II", 2, 3) + bytes(range(6)))
write("idx/packed", packed(bytes([0, 0, 8, 1]) + struct.pack(">I", 4) + b"abcd"))
write("idx/huge", bytes([0, 0, 8, 3]) + struct.pack(">III", 2**31 - 1, 2**31 - 1, 7))

write("cifar/packed", packed(bytes([3]) + bytes(3072) + bytes([9]) + bytes(range(256)) * 12))
write("cifar/label", packed(bytes([10]) + bytes(3072)))

write("csv/header", b"date,a,b\n2016-07-01,1,2\n2016-07-02,3.5,-4e2\n")
write("csv/quotes", b'"a, ""b""","c\nd"\r\n"1",2\r\n3,4\r\n\r\n')
write("csv/numbers", b"1;2\n3;4\n")
write("csv/missing", b"a,b\n1,\n3,NaN\n4,5\n")

events = b"time,mark,sequence\n0,buy,a\n0.25,sell,a\n1e-3,buy,b\n2,buy,b\n"
write("point_process/table", events)
write("point_process/table.gz", packed(events))
write("point_process/quotes", b'mark,"time"\r\n"a, b",1\r\n"c",1\r\n')
write("point_process/lines", b"0.5 1 2.25\n3 4\n|2 1 2\n1 1\n")
write("point_process/fewer", b"0.5 1 2\n|2 1\n")
write("point_process/falling", b"0.5 0.25\n|2 1\n")


write("sequence_rows/mixed", b"id,label,x,y\na,up,1,2\nb,down,3,-4e2\na,up,5,6\n")
write("sequence_rows/quotes", b'label,"id",when,x\r\n"up, ""up""",a,monday,1\r\n')
write("sequence_rows/table", b"file,label\na.csv,up\nb.csv,down\n")
write("sequence_rows/commas", b"id;label;x\na;up;1,5\n")


def npy(array, version=None):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=version)
    return buffer.getvalue()


cube = np.arange(24).reshape(2, 3, 4)
write("npy/fortran.npy", npy(np.asfortranarray(cube.astype("<f4"))))
for kind in ("<f4", ">f4", "<f8", ">f8", "<i4", ">i4", "<i8", ">i8", "|u1"):
    write("npy/" + kind[1:] + ("_big" if kind[0] == ">" else "") + ".npy", npy(np.arange(3).astype(kind)))
write("npy/scalar.npy", npy(np.float32(2.5)))
write("npy/version2.npy", npy(np.arange(2.0), (2, 0)))
write("npy/version3.npy", npy(np.arange(2.0), (3, 0)))


class OneWay(io.RawIOBase):
    """An output that cannot go back, so that sizes follow their members."""

    def __init__(self):
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


arrays = {"x": np.arange(6, dtype="<f4").reshape(2, 3), "y": np.array([-1.5])}
for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
    buffer = io.BytesIO()
    save(buffer, **arrays)
    write(f"npz/{name}.npz", buffer.getvalue())

# Names and several numbers as targets, with and without lengths.
steps = np.arange(6, dtype="<f4").reshape(2, 3, 1)
buffer = io.BytesIO()
np.savez(buffer, x=steps, y=np.array(["up", "down"]))
write("sequence_archive/words.npz", buffer.getvalue())
buffer = io.BytesIO()
np.savez_compressed(buffer, x=steps, y=np.array([[0.5, 1], [-1, 2]]), lengths=np.array([1, 3]))
write("sequence_archive/lengths.npz", buffer.getvalue())

out = OneWay()
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, array in arrays.items():
        archive.writestr(name + ".npy", npy(array))
write("npz/streamed.npz", out.data)


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def wav(encoding, channels, bits, samples, more=b""):
    frame = channels * bits // 8
    form = struct.pack("<HHIIHH", encoding, channels, 8000, 8000 * frame, frame, bits) + more
    chunks = chunk(b"LIST", b"odd") + chunk(b"fmt ", form) + chunk(b"data", samples)
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


write("wav/pcm16.wav", wav(1, 2, 16, struct.pack("<4h", 1, -2, 32767, -32768)))
write("wav/pcm24.wav", wav(1, 1, 24, b"\0\0\x40\xff\xff\xff"))
write("wav/float.wav", wav(3, 1, 32, struct.pack("<2f", 0.5, -1)))
family = bytes.fromhex("000000001000800000aa00389b71")
write("wav/extensible.wav", wav(0xFFFE, 1, 16, b"\0\x40", struct.pack("<HHIH", 22, 16, 0, 1) + family))

write("raw/numbers", struct.pack("<4f", 0, 1.5, -2, 1e30))
write("raw/part", b"\0\0\x80")

# The first byte chooses the options.
write("text/words", b"\0 the cat \r\n\n sat <unk>\n on")
write("text/characters", b"\1a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\r\nb\n")
write("text/invalid", b"\3abc \xed\xa0\x80 d")
write("text/frequent", b"\x1eb a b c a b\n\nd\n")

write("vocabulary/escapes", b"a\n \n\\n\n\\\\n\n\\r\n\\\\\n\xc3\xa4\n")
write("vocabulary/twice", b"a\nb\na\n")

write("rows/csv", b'id,x,y\na,1.5,2\n"b,c", 2 ,\t-3e1\na,,\na,1,\n')
write("rows/jsonl", b'{"id":"a","x":1,"y":2}\n{"id":2,"x":null}\n{"id":"a","x":1}\n{"id":"a","end":true}\n')
write("rows/raw", struct.pack("<6f", 1, 2, 0, 3, 4, 1) + b"ab")

# labels.csv, then files: byte 28 and the number of the next one (1: a.csv, 3: a.npy, 4: c.npy, 5: d.wav, 6: e.tsv).
column = npy(np.arange(4.0).reshape(4, 1))
folders = {
    "tables": [b"file,label\na,up\nb.csv,down\n", b"\1x,y\n1,2\n3,4\n", b"\2y,x\n5,6\n"],
    "mixed": [b"file,label\na.csv,up\nc,down\nd.wav,up\n", b"\x010\n1\n2\n", b"\4" + column,
              b"\5" + wav(1, 1, 16, struct.pack("<2h", 1, -2))],
    "twice": [b"file,label\na,1\n", b"\1x\n1\n", b"\3" + column],
    "missing": [b"file,label\nnone,1\n", b"\1x\n1\n"],
    "widths": [b"file,label\na.csv,1\ne,2\n", b"\1x,y\n1,2\n", b"\6x\ty\tz\n1\t2\t3\n"],
}
for name, parts in folders.items():
    write("sequence_folder/" + name, b"\x1c".join(parts))
