"""JSON and text of random messages, by Python's protobuf and by this library.

formats.py write folder [seed [count]]    writes formats.txt
formats.py compare folder name...         reads the answers that formats.lua wrote for each name

Each side reads what the other wrote, and text with a character changed is read by both: where both accept it, they
must mean the same. Whether they accept it is not compared, for Python takes more than the specifications have (NaN
without quotes, lone surrogates, fields given twice).
"""

import collections
import random
import sys

from google.protobuf import json_format, text_format
from oracle import dump_message, fill, load_types, parsed, same

COUNT = 400
FORMS = ["json", "text"]


def changed(rng, text):
    at = rng.randrange(len(text) + 1)
    piece = rng.choice(['"', "'", "{", "}", "[", "]", ":", ",", "0", "9", "-", ".", "e", " ", "\\", "a", "null", "<", "#"])
    return rng.choice([text[:at] + piece + text[at:], text[:at] + text[at + 1 :], text[:at] + piece + text[at + 1 :]])


def hexed(text):
    return text.encode("utf-8", "surrogatepass").hex() + "_"


def written(rng, value, form):
    if form == "text":
        return text_format.MessageToString(value, as_one_line=rng.random() < 0.5)
    try:
        text = json_format.MessageToJson(value, indent=rng.choice([None, 1]))
    except (TypeError, ValueError, json_format.SerializeToJsonError):
        return None  # Well-known types with contents that they cannot have.
    again = read(type(value), form, text)
    # Some of these change on the way.
    return text if again is not None and dump_message(again, False) == dump_message(value, False) else None


def write(folder, seed=1, count=COUNT):
    rng = random.Random(int(seed))
    with open(folder + "/formats.txt", "w") as out:
        for name, cls in load_types().items():
            for _ in range(int(count)):
                value = cls()
                fill(rng, value, 2)
                data = value.SerializePartialToString(deterministic=True)
                for form in FORMS:
                    text = written(rng, value, form)
                    if text is None:
                        continue
                    out.write("%s %s_ %s %s\n" % (name, data.hex(), form, hexed(text)))
                    for _ in range(3):
                        out.write("%s - %s %s\n" % (name, form, hexed(changed(rng, text))))


def read(cls, form, text):
    value = cls()
    try:
        if form == "json":
            json_format.Parse(text, value, descriptor_pool=cls.DESCRIPTOR.file.pool)
        else:
            text_format.Parse(text, value, descriptor_pool=cls.DESCRIPTOR.file.pool)
        return value
    except (json_format.ParseError, text_format.ParseError, ValueError, RecursionError):
        return None


def unhexed(digits):
    return bytes.fromhex(digits.rstrip("_"))


def compare(folder, *names):
    types = load_types()
    faults = 0
    for lua in names:
        counts = collections.Counter()
        with open(folder + "/formats.txt") as cases, open("%s/%s-formats.txt" % (folder, lua)) as answers:
            for case, answer in zip(cases, answers, strict=True):
                name, digits, form, text = case.split()
                took, wrote = answer.rstrip("\n").split("\t")
                cls, problem = types[name], None
                if digits == "-":
                    theirs = read(cls, form, unhexed(text).decode("utf-8", "surrogatepass"))
                    ours = not took.startswith("no ")
                    counts["%s read by %s" % (form, ["none", "us", "Python", "both"][ours + 2 * (theirs is not None)])] += 1
                    # Python does not know the escape of a question mark.
                    if ours and theirs is not None and "5c3f" not in text and not same(theirs, took):
                        problem = "means something else: %s" % took
                else:
                    value = parsed(cls, unhexed(digits))
                    counts[form + " both ways"] += 1
                    if took.startswith("no ") or not same(value, took):
                        problem = "reads what Python wrote as %s" % took
                    elif wrote.startswith("no "):
                        problem = "does not write it: %s" % wrote
                    else:
                        again = read(cls, form, unhexed(wrote).decode())
                        if again is None or not same(again, digits):
                            problem = "writes %s" % unhexed(wrote)
                if problem:
                    faults += 1
                    if faults <= 20:
                        print("%s, %s, %s: %s\n  of %r %s" % (lua, name, form, problem[:300], unhexed(text)[:300], digits[:300]))
        print("%s: %s" % (lua, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
        if min(counts["json both ways"], counts["text both ways"]) < 1000 or counts["json read by both"] < 100:
            sys.exit("too few cases were compared")
    if faults:
        sys.exit("%d disagreements with Python's protobuf" % faults)


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
