"""The inputs of the fuzzer's target decode, by Python's protobuf and by this library.

corpus.py write folder inputs...      writes cases.txt from the files in the folders of inputs
corpus.py compare folder name...      reads the answers that oracle.lua wrote for each name

What is not compared is listed in oracle.py.
"""

import collections
import os
import sys

from oracle import Wire, disagreements, load_types, parsed

# As fuzz/src/schemas.rs has them: the first byte of an input picks one.
TYPES = ["every2.All", "every3.All", "edition2023_all.All"]


def write(folder, *inputs):
    seen = set()
    with open(folder + "/cases.txt", "w") as out:
        for path in (os.path.join(place, name) for place in inputs for name in sorted(os.listdir(place))):
            with open(path, "rb") as file:
                data = file.read()
            if data and data not in seen:
                seen.add(data)
                out.write("%s %s_\n" % (TYPES[data[0] % len(TYPES)], data[1:].hex()))


def compare(folder, *names):
    types = load_types(TYPES)
    with open(folder + "/cases.txt") as file:
        cases = [line.split() for line in file]
    faults = 0
    for lua in names:
        counts = collections.Counter()
        with open("%s/%s.txt" % (folder, lua)) as file:
            answers = [line.rstrip("\n") for line in file]
        for (name, digits), answer in zip(cases, answers, strict=True):
            data = bytes.fromhex(digits.rstrip("_"))
            value = parsed(types[name], data)
            if notes := Wire(types[name].DESCRIPTOR, data).notes:
                counts.update(notes)
                continue
            try:
                problems = list(disagreements(value, answer, lua == "jit"))
                counts["refused" if value is None else "accepted"] += 1
            except UnicodeDecodeError:
                counts["unreadable"] += 1
                continue
            for problem in problems:
                faults += 1
                if faults <= 20:
                    print("%s, %s: %s\n  of %s" % (lua, name, problem[:2000], digits))
        print("%s: %s" % (lua, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
    if faults:
        sys.exit("%d disagreements with Python's protobuf" % faults)


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
