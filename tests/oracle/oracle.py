"""Random messages with Python's protobuf, and what it thinks of the answers.

oracle.py write folder [seed [count]]    writes cases.txt
oracle.py compare folder name...         reads the answers that oracle.lua wrote for each name

Where Python's protobuf, which is upb, differs from this library, the answers are not compared (see Wire):
- varint: the 10th byte of a varint may hold bits beyond the 64th, which upb drops; here it is malformed.
- tag: a tag of more than 5 bytes, though padded with zeros, is malformed to upb; here it is read.
- length: likewise the length of a string, message or packed list.
- group: a field that is a group makes upb refuse a length-delimited value; here, as the specification has it for
  every wire type that does not fit, that is an unknown field.
- entry: when an entry of a map holds an unknown field, or a key or value of another wire type, upb takes the whole
  entry for unknown; here, as in C++ and Java, only that field is dropped.
- zero: Python does not tell whether a zero of implicit presence was on the wire; a decoded table holds it.
- unreadable: Python cannot show a key of a proto2 map that is not UTF-8.
- set: in a message set, upb takes the last of several items of one type, and a plain field with the number of an
  extension for unknown; here, as in C++, items merge and plain fields are read.
- enum: of a number that a closed enum has no name for, upb keeps the lower 32 bits where it is in a packed list; here, as
  everywhere else, the unknown field has the whole varint.
- item: upb takes type id 0 in an item, and fields with number 0; here, as in C++, both are malformed.
"""

import collections
import math
import random
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory, unknown_fields

TYPES = ["every2.All", "every3.All", "ext.Base", "ext.Holder"]
COUNT = 600
LIMIT = 1 << 53


def load_types(names=TYPES):
    pool = descriptor_pool.DescriptorPool()
    done = set()
    for name in ["every2", "every3", "bare", "edition2023_all"]:
        files = descriptor_pb2.FileDescriptorSet()
        with open("descriptors/%s.pb" % name, "rb") as file:
            files.ParseFromString(file.read())
        for file in files.file:
            if file.name in done:
                continue
            done.add(file.name)
            pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(name)) for name in names}


def is_map(field):
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def fields_of(descriptor):
    extensions = descriptor.file.pool.FindAllExtensions(descriptor)
    return list(descriptor.fields) + sorted(extensions, key=lambda field: field.number)


def is_set(descriptor):
    return descriptor is not None and descriptor.GetOptions().message_set_wire_format


def key(field):
    """Its key in tables."""
    if not field.is_extension:
        return field.name
    name = field.full_name
    return "[%s]" % name if name in field.containing_type.fields_by_name else name


def get(target, field):
    return target.Extensions[field] if field.is_extension else getattr(target, field.name)


# Random messages ------------------------------------------------------------------------------------------------------

LETTERS = ["a", "Z", "0", " ", "\0", "\n", '"', "\\", "\u00e4", "\u20ac", "\u754c", "\U0001f389"]


def number(rng):
    power = 1 << rng.randrange(64)
    return rng.choice([0, 1, power, power - 1, power + 1, -power, rng.getrandbits(rng.randrange(1, 65))])


def wrapped(value, bits, signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def real(rng):
    bits = struct.unpack("<d", rng.getrandbits(64).to_bytes(8, "little"))[0]
    value = rng.choice([0.0, -0.0, math.inf, -math.inf, math.nan, 0.1, float(rng.randrange(1000)), bits])
    return math.nan if math.isnan(value) else value


def scalar(rng, field):
    kind = field.type
    if kind in (field.TYPE_INT32, field.TYPE_SINT32, field.TYPE_SFIXED32):
        return wrapped(number(rng), 32, True)
    if kind in (field.TYPE_UINT32, field.TYPE_FIXED32):
        return wrapped(number(rng), 32, False)
    if kind in (field.TYPE_INT64, field.TYPE_SINT64, field.TYPE_SFIXED64):
        return wrapped(number(rng), 64, True)
    if kind in (field.TYPE_UINT64, field.TYPE_FIXED64):
        return wrapped(number(rng), 64, False)
    if kind == field.TYPE_DOUBLE:
        return real(rng)
    if kind == field.TYPE_FLOAT:
        value = struct.unpack("<f", rng.getrandbits(32).to_bytes(4, "little"))[0]
        return rng.choice([0.0, -0.0, math.inf, math.nan, 1.5, 0.0 if math.isnan(value) else value])
    if kind == field.TYPE_BOOL:
        return rng.random() < 0.5
    if kind == field.TYPE_STRING:
        return "".join(rng.choices(LETTERS, k=rng.randrange(rng.choice([1, 8, 8, 100]))))
    if kind == field.TYPE_BYTES:
        return rng.randbytes(rng.randrange(rng.choice([1, 8, 8, 100])))
    if field.enum_type.is_closed or rng.random() < 0.8:
        return rng.choice(field.enum_type.values).number
    return wrapped(number(rng), 32, True)


def fill(rng, target, levels):
    fields = fields_of(target.DESCRIPTOR)
    if not fields:
        return
    for _ in range(rng.choice([1, 3, 3, 6, 6, 6, 50])):
        field = rng.choice(fields)
        if is_map(field):
            key_field, value = field.message_type.fields
            for _ in range(rng.randrange(4)):
                entry = scalar(rng, key_field)
                if value.message_type is None:
                    get(target, field)[entry] = scalar(rng, value)
                elif levels > 0:
                    fill(rng, get(target, field)[entry], levels - 1)
        elif field.message_type is not None:
            if levels == 0:
                continue
            if field.is_repeated:
                for _ in range(rng.randrange(4)):
                    fill(rng, get(target, field).add(), levels - 1)
            else:
                inner = get(target, field)
                inner.SetInParent()
                fill(rng, inner, levels - 1)
        elif field.is_repeated:
            get(target, field).extend(scalar(rng, field) for _ in range(rng.randrange(5)))
        else:
            if field.is_extension:
                target.Extensions[field] = scalar(rng, field)
            else:
                setattr(target, field.name, scalar(rng, field))


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data))
        change = rng.randrange(6)
        if change == 0:
            data[at] = rng.randrange(256)
        elif change == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 2:
            data.insert(at, rng.randrange(256))
        elif change == 3:
            del data[at]
        elif change == 4:
            del data[at:]
        else:
            data += data[at:]
    return bytes(data)


# Values as text -------------------------------------------------------------------------------------------------------


def text(number):
    """Exactly, as a fraction: decimal digits of many Luas and Pythons differ in the last place."""
    if number != number or math.isinf(number):
        return str(number)
    if number == 0:
        return "%.0f" % number
    above, below = number.as_integer_ratio()
    return "%d/2^%d" % (above, below.bit_length() - 1) if below > 1 else str(above)


def dump(field, value, jit, unknown=False):
    """What oracle.lua's dump gives for the value of a field."""
    if isinstance(value, message.Message):
        return dump_message(value, jit, unknown)
    if field.enum_type is not None:
        names = [v.name for v in field.enum_type.values if v.number == value]
        return quoted(names[0].encode()) if names else str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return text(value)
    if isinstance(value, int):
        return str(value) if jit else str(wrapped(value, 64, True))
    return quoted(value if isinstance(value, bytes) else value.encode())


def dump_key(field, key, jit):
    if jit and type(key) is int and abs(key) > LIMIT:
        return quoted(str(key).encode())
    return dump(field, key, jit)


def quoted(data):
    return '"%s"' % data.hex()


def braces(parts):
    return "{%s}" % ",".join(sorted(parts))


def dump_unknown(fields):
    """Those of equal number stay in their order."""
    parts = []
    for field in sorted(fields, key=lambda field: field.field_number):
        data = field.data
        if field.wire_type == 3:
            data = dump_unknown(data)
        parts.append("%d:%d:%s" % (field.field_number, field.wire_type, data))
    return "?(%s)" % " ".join(parts)


def dump_message(value, jit, unknown=False):
    """The text of a whole message; with unknown, that too."""
    parts = []
    for field, inner in value.ListFields():
        if field.is_repeated and not inner:
            continue  # Python lists an extension that has got no element.
        if is_map(field):
            key_field, element = field.message_type.fields
            inner = braces("%s=%s" % (dump_key(key_field, k, jit), dump(element, inner[k], jit, unknown)) for k in inner)
        elif field.is_repeated:
            inner = braces("%d=%s" % (i, dump(field, v, jit, unknown)) for i, v in enumerate(inner, 1))
        else:
            inner = dump(field, inner, jit, unknown)
        parts.append("%s=%s" % (quoted(key(field).encode()), inner))
    if unknown:
        parts.append(dump_unknown(unknown_fields.UnknownFieldSet(value)))
    return braces(parts)


# Values as Lua constructors -------------------------------------------------------------------------------------------


def literal(field, value):
    if isinstance(value, message.Message):
        return construct(value)
    if field.enum_type is not None:
        names = [v.name for v in field.enum_type.values if v.number == value]
        return '"%s"' % names[-1] if names else str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if value != value:
            return "0/0"
        if math.isinf(value):
            return "-1/0" if value < 0 else "1/0"
        return repr(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= LIMIT else '"%d"' % value
    data = value if isinstance(value, bytes) else value.encode()
    return '"%s"' % "".join("\\%03d" % byte for byte in data)


def construct(value):
    parts = []
    for field, inner in value.ListFields():
        if is_map(field):
            key_field, element = field.message_type.fields
            inner = "{%s}" % ",".join("[%s]=%s" % (literal(key_field, k), literal(element, inner[k])) for k in inner)
        elif field.is_repeated:
            inner = "{%s}" % ",".join(literal(field, v) for v in inner)
        else:
            inner = literal(field, inner)
        name = key(field)
        if field.is_extension and field.number % 2 and not name.startswith("["):
            name = "[%s]" % name
        parts.append('["%s"]=%s' % (name, inner))
    return "{%s}" % ",".join(parts)


# Known differences ----------------------------------------------------------------------------------------------------


class Malformed(Exception):
    pass


class Wire:
    """Walks over bytes as far as they are well-formed, and notes the known differences that it meets."""

    def __init__(self, descriptor, data):
        self.data = data
        self.notes = set()
        try:
            self.fields(descriptor, 0, len(data), None)
        except Malformed:
            pass

    def varint(self, at, end):
        value = 0
        for i in range(10):
            if at + i >= end:
                raise Malformed
            byte = self.data[at + i]
            value |= (byte & 127) << 7 * i
            if byte < 128:
                if value >> 64:
                    self.notes.add("varint")
                return value & (1 << 64) - 1, at + i + 1
        raise Malformed

    def short(self, at, end, note):
        value, after = self.varint(at, end)
        if after - at > 5:
            self.notes.add(note)
        return value, after

    def fields(self, descriptor, at, end, group):
        known = {field.number: field for field in fields_of(descriptor)} if descriptor else {}
        met = set()
        in_entry = descriptor is not None and descriptor.GetOptions().map_entry
        while at < end:
            tag, at = self.short(at, end, "tag")
            number, wire = tag >> 3, tag & 7
            if wire == 4:
                if number != group:
                    raise Malformed
                return at
            if is_set(descriptor) and tag == 11:
                type_id, at = self.item(known, at, end)
                if type_id in met:
                    self.notes.add("set")
                met.add(type_id)
                continue
            field = known.get(number)
            if is_set(descriptor) and field is not None:
                self.notes.add("set")
            fits = field is not None and wire in self.wires(field)
            if in_entry and not fits:
                self.notes.add("entry")
            if field is not None and field.type == field.TYPE_GROUP and wire == 2:
                self.notes.add("group")
            inner = field.message_type if fits else None
            implicit = fits and not in_entry and not field.is_repeated and not field.has_presence
            if wire == 0:
                value, at = self.varint(at, end)
                zero = value & 0xFFFFFFFF == 0
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
                zero = not any(self.data[at : at + size])
                at += size
            elif wire == 2:
                size, at = self.short(at, end, "length")
                if size > end - at:
                    raise Malformed
                zero = size == 0
                if inner is not None:
                    self.fields(inner, at, at + size, None)
                elif fits and 0 in self.wires(field):
                    element = at
                    while element < at + size:
                        value, element = self.varint(element, at + size)
                        plan = field.enum_type
                        if value >> 32 and plan is not None and plan.is_closed:
                            if wrapped(value, 32, True) not in plan.values_by_number:
                                self.notes.add("enum")
                at += size
            elif wire == 3:
                at = self.fields(inner, at, end, number)
            else:
                raise Malformed
            if implicit and zero:
                self.notes.add("zero")
        if at > end or group is not None:
            raise Malformed
        return at

    def item(self, known, at, end):
        """An item of a message set: its type id and where it ends."""
        type_id, content = None, None
        while at < end:
            tag, at = self.short(at, end, "tag")
            if tag == 12:
                if content is not None and type_id in known:
                    self.fields(known[type_id].message_type, *content, None)
                return type_id, at
            if tag >> 3 == 0:
                self.notes.add("item")
            if tag == 16:
                value, at = self.varint(at, end)
                value &= 0xFFFFFFFF
                if value == 0:
                    self.notes.add("item")
                type_id = type_id or value
            elif tag & 7 == 0:
                _, at = self.varint(at, end)
            elif tag & 7 in (1, 5):
                at += 8 if tag & 7 == 1 else 4
            elif tag & 7 == 2:
                size, at = self.short(at, end, "length")
                if tag == 26 and content is None:
                    content = (at, at + size)
                at += size
            elif tag & 7 == 3:
                at = self.fields(None, at, end, tag >> 3)
            else:
                raise Malformed
            if at > end:
                raise Malformed
        raise Malformed

    def wires(self, field):
        if field.type in (field.TYPE_FIXED32, field.TYPE_SFIXED32, field.TYPE_FLOAT):
            own = 5
        elif field.type in (field.TYPE_FIXED64, field.TYPE_SFIXED64, field.TYPE_DOUBLE):
            own = 1
        elif field.type == field.TYPE_GROUP:
            own = 3
        elif field.type in (field.TYPE_STRING, field.TYPE_BYTES, field.TYPE_MESSAGE):
            own = 2
        else:
            own = 0
        return (own, 2) if field.is_repeated and own not in (2, 3) else (own,)


# The two halves -------------------------------------------------------------------------------------------------------


def write(folder, seed=1, count=COUNT):
    rng = random.Random(int(seed))
    types = load_types()
    with open(folder + "/cases.txt", "w") as out:
        for name, cls in types.items():
            for _ in range(int(count)):
                value, other = cls(), cls()
                fill(rng, value, 3)
                data = value.SerializePartialToString(deterministic=True)
                # Unknown fields take no part in the constructor.
                out.write("%s %s_ %s\n" % (name, data.hex(), construct(value)))
                fill(rng, other, 1)
                # Two messages in a row merge.
                out.write("%s %s_\n" % (name, (data + other.SerializePartialToString(deterministic=True)).hex()))
                for _ in range(3):
                    out.write("%s %s_\n" % (name, mutate(rng, other.SerializePartialToString(deterministic=True)).hex()))


def parsed(cls, data):
    value = cls()
    try:
        value.ParseFromString(data)
        return value
    except message.DecodeError:
        return None


def same(value, encoded):
    """Whether the hex digits, closed by _, encode a message like the value."""
    again = parsed(type(value), bytes.fromhex(encoded.rstrip("_")))
    return again is not None and dump_message(again, False, True) == dump_message(value, False, True)


def disagreements(value, answer, jit):
    if answer.startswith("no ") != (value is None):
        yield "Python %s it, Lua: %s" % ("refuses" if value is None else "accepts", answer)
    elif value is not None:
        _, encoded, dumped = answer.split(" ", 2)
        if not same(value, encoded):
            yield "encoded again as %s" % encoded
        if dumped != dump_message(value, jit):
            yield "values\n    %s, should be\n    %s" % (dumped, dump_message(value, jit))


def compare(folder, *names):
    types = load_types()
    with open(folder + "/cases.txt") as file:
        cases = [line.rstrip("\n") for line in file]
    faults = 0
    for lua in names:
        counts = collections.Counter()
        with open("%s/%s.txt" % (folder, lua)) as file:
            answers = iter([line.rstrip("\n") for line in file])
        for case in cases:
            name, digits, *constructor = case.split(" ", 2)
            data = bytes.fromhex(digits.rstrip("_"))
            value = parsed(types[name], data)
            answer = next(answers)
            problems = []
            if notes := Wire(types[name].DESCRIPTOR, data).notes:
                counts.update(notes)
            else:
                try:
                    problems += disagreements(value, answer, lua == "jit")
                    counts["refused" if value is None else "accepted"] += 1
                except UnicodeDecodeError:
                    counts["unreadable"] += 1
            if constructor:
                answer = next(answers)
                counts["built"] += 1
                if answer.startswith("no ") or not same(value, answer[3:]):
                    problems.append("built: %s\n    %s" % (constructor[0], answer))
            for problem in problems:
                faults += 1
                if faults <= 20:
                    print("%s, %s: %s\n  of %s" % (lua, name, problem[:2000], digits))
        print("%s: %s" % (lua, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
        if min(counts["refused"], counts["accepted"], counts["built"]) < 1000:
            sys.exit("too few cases were compared")
    if faults:
        sys.exit("%d disagreements with Python's protobuf" % faults)


if __name__ == "__main__":
    {"write": write, "compare": compare}[sys.argv[1]](*sys.argv[2:])
