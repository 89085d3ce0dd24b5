"""Fits the weights of `lesson_signs.txt`, by which a sentence of a report reads like a lesson.

  python3 -B fit.py             writes the weights, from the three hands for fitting
  python3 -B fit.py FILE ...    prints what the weights that stand there find in files of the form of those beside this
                                script, and what the simplest rule finds

A sentence is a lesson where it holds one of the parts that its author marked. The weights are those of a logistic
regression with a ridge, found by Newton's method and rounded to a tenth. Needs numpy.
"""

import json
import re
import sys
from pathlib import Path

import numpy

HERE = Path(__file__).parent
SIGNS = HERE / "../../../commonbook/src/model/learning/lesson_signs.txt"
FITTING = ["climate.json", "logistics.json", "studio.json"]
RIDGE, STEPS = 3.0, 50
# As the program has them.
WORDS_MIN, LESSONS_MAX = 5, 3
# The beginning of a marked part, by which it is found in a sentence.
PART_CHARS = 60
SIMPLEST = re.compile(r"\b(because|otherwise|unless|never|always|must|only|so)\b", re.IGNORECASE)
# The signs that are no words.
SHAPES = {
    "constant": lambda sentence: True,
    "in a list": lambda sentence: sentence.is_item,
    "above fourteen words": lambda sentence: sentence.length > 14,
    "above twenty-five words": lambda sentence: sentence.length > 25,
    "with a quotation": lambda sentence: re.search(r"[„“\"«]", sentence.text),
    "with an aside": lambda sentence: re.search(r"[;(]", sentence.text),
    "with numbers": lambda sentence: len(re.findall(r"\d+", sentence.text)) > 2,
    "at the beginning": lambda sentence: sentence.is_first,
}


class Sentence:
    def __init__(self, text, is_item, is_first):
        self.text, self.is_item, self.is_first = text, is_item, is_first
        self.length = len(text.split())
        self.words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", text.lower().replace("’", "'"))


class Sign:
    """A row of the file: its name, its weights as texts, and its words and phrases."""

    def __init__(self, line):
        columns = line.split("\t")
        self.name, self.weight, self.again = columns[0], columns[1], columns[2] if len(columns) > 2 else ""
        self.phrases = columns[3] if len(columns) > 3 else ""

    def features(self, sentence):
        """One number for each of its weights."""
        if not self.phrases:
            return [float(bool(SHAPES[self.name](sentence)))]
        found = sum(occurrences(phrase, sentence.words) for phrase in self.phrases.split(", "))
        return [float(found > 0)] + [float(found > 1)] * bool(self.again)

    def line(self):
        return "\t".join([self.name, self.weight] + ([self.again, self.phrases] if self.phrases else []))


def occurrences(phrase, words):
    parts = phrase.removeprefix("^").split()
    if phrase.startswith("^"):
        return words[: len(parts)] == parts
    return sum(words[at : at + len(parts)] == parts for at in range(len(words)))


def plain(text):
    return re.sub(r"\W+", " ", text).strip().lower()


def sentences(message):
    """The sentences of a message without headings, tables, quotations, code and questions."""
    is_code = False
    for line in message.split("\n"):
        if line.strip().startswith("```"):
            is_code = not is_code
            continue
        is_heading = re.match(r"\s*(#|\*\*[^*]+\*\*:?\s*$|[^.|]{2,60}:$)", line)
        if is_code or is_heading or line.strip().startswith(("|", ">")):
            continue
        body = re.sub(r"^\s*([-*•+]|\d+[.)])\s+", "", line)
        for index, part in enumerate(re.split(r"(?<=[.!?])[\"”)]*\s+", body)):
            sentence = Sentence(part.strip(), body != line, index == 0)
            if sentence.length >= WORDS_MIN and not part.rstrip("*_ )").endswith("?"):
                yield sentence


class Example:
    """A sentence of a report, and the parts that its author marked in it."""

    def __init__(self, sentence, number, report):
        text = plain(sentence.text)

        def marked(key):
            return {(number, part) for part in report[key] if plain(part)[:PART_CHARS] in text}

        self.sentence, self.number, self.wanted, self.unwanted = sentence, number, marked("want"), marked("unwanted")
        self.is_lesson = bool(self.wanted) or any(text in plain(part) for part in report["want"])


def examples(reports):
    return [Example(sentence, number, report) for number, report in enumerate(reports) for sentence in sentences(report["message"])]


def read(path):
    return json.loads(Path(path).read_text())["learnings"]


def features(example, signs):
    return [value for sign in signs for value in sign.features(example.sentence)]


def fit(fitting, signs):
    x = numpy.array([features(example, signs) for example in fitting])
    y = numpy.array([float(example.is_lesson) for example in fitting])
    weights, penalty = numpy.zeros(x.shape[1]), RIDGE * numpy.eye(x.shape[1])
    penalty[0, 0] = 0
    for _ in range(STEPS):
        chances = 1 / (1 + numpy.exp(-x @ weights))
        curvature = (x * (chances * (1 - chances))[:, None]).T @ x + penalty
        weights -= numpy.linalg.solve(curvature, x.T @ (chances - y) + penalty @ weights)
    return weights


def write():
    lines = SIGNS.read_text().splitlines()
    signs = [Sign(line) for line in lines if not line.startswith("# ")]
    weights = iter(fit([example for name in FITTING for example in examples(read(HERE / name))], signs))
    for sign in signs:
        sign.weight = f"{next(weights):.1f}"
        sign.again = f"{next(weights):.1f}" if sign.again else ""
    comments = [line for line in lines if line.startswith("# ")]
    SIGNS.write_text("\n".join(comments + [sign.line() for sign in signs]) + "\n")


def judge(path):
    reports, signs = read(path), [Sign(line) for line in SIGNS.read_text().splitlines() if not line.startswith("# ")]
    weights = numpy.array([float(weight) for sign in signs for weight in (sign.weight, sign.again) if weight])

    def score(example):
        return float(numpy.dot(features(example, signs), weights))

    def simplest(example):
        return example.sentence.length > 14 and len(SIMPLEST.findall(example.sentence.text))

    for name, rule in (("the signs", score), ("a long sentence with one of eight words", simplest)):
        kept = []
        for number in range(len(reports)):
            found = [(rule(example), example) for example in examples(reports) if example.number == number]
            kept += [example for points, example in sorted(found, key=lambda it: -it[0])[:LESSONS_MAX] if points > 0]
        found, bad = ({part for example in kept for part in getattr(example, key)} for key in ("wanted", "unwanted"))
        wanted, unwanted = (sum(len(report[key]) for report in reports) for key in ("want", "unwanted"))
        right = sum(example.is_lesson for example in kept)
        print(f"{Path(path).name}, {name}: found {len(found)} of {wanted}, unwanted {len(bad)} of {unwanted}, right {right} of {len(kept)} kept")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        write()
    for path in sys.argv[1:]:
        judge(path)
