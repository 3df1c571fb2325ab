//! Descriptors by choice: each byte of an input decides one thing, so most are nearly valid.

use crate::input::Input;

const NAMES: [&str; 14] = ["A", "B", "C", "a", "b", "c", "key", "value", "x_y", "xY", "AEntry", "O", "M", "a_b_c"];
const FILES: [&str; 6] = ["a.proto", "b.proto", "c.proto", "d.proto", "google/protobuf/any.proto", "x/../a.proto"];
const PACKAGES: [&str; 5] = ["p", "", "p.q", "A", "p.A"];
const TYPES: [&str; 16] = [
    ".p.A",
    ".p.B",
    ".p.A.B",
    "A",
    "B",
    "A.B",
    ".A",
    ".p.C",
    "p.A",
    ".p.q.A",
    ".google.protobuf.Any",
    ".p.A.AEntry",
    "AEntry",
    ".google.protobuf.FieldOptions",
    ".p",
    "a",
];
const NUMBERS: [i64; 16] = [1, 2, 3, 4, 5, 15, 16, 100, 101, 0, -1, 19_000, 536_870_911, 536_870_912, 1000, 2_047];
const DEFAULTS: [&str; 14] =
    ["", "1", "-1", "true", "a", "A", "inf", "nan", "1e400", "\\x00", "\\", "0x10", "1.5", "\u{e9}"];

/// A message that is being written.
#[derive(Default)]
struct Part(Vec<u8>);

impl Part {
    fn varint(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.0.push(v as u8 | 0x80);
            v >>= 7;
        }
        self.0.push(v as u8);
    }

    fn number(&mut self, field: u64, v: i64) {
        self.varint(field << 3);
        self.varint(v as u64);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn part(&mut self, field: u64, part: Part) {
        self.bytes(field, &part.0);
    }

    /// Up to `n` parts that `make` makes.
    fn parts(&mut self, field: u64, input: &mut Input, n: u8, mut make: impl FnMut(&mut Input) -> Part) {
        for _ in 0..input.byte() % (n + 1) {
            if !input.is_empty() {
                let part = make(input);
                self.part(field, part);
            }
        }
    }
}

/// A `FileDescriptorSet`.
pub fn set(input: &mut Input) -> Vec<u8> {
    let mut set = Part::default();
    for _ in 0..=input.byte() % 3 {
        let file = file(input);
        set.part(1, file);
    }
    set.0
}

fn file(input: &mut Input) -> Part {
    let mut file = Part::default();
    file.text(1, input.pick(&FILES));
    file.text(2, input.pick(&PACKAGES));
    for _ in 0..input.byte() % 3 {
        file.text(3, input.pick(&FILES));
    }
    file.parts(4, input, 3, |input| message(input, 0));
    file.parts(5, input, 2, enumeration);
    file.parts(6, input, 1, service);
    file.parts(7, input, 2, |input| field(input, true));
    if input.one_in(2) {
        file.part(8, options(input, &[(50, features), (10, flag), (20, flag)]));
    }
    if input.one_in(4) {
        file.part(9, source_info(input));
    }
    file.numbers(10, input);
    match input.byte() % 4 {
        0 => file.text(12, "proto3"),
        1 => {}
        2 => {
            file.text(12, "editions");
            file.number(14, input.pick(&[1000, 998, 999, 1001, 0, 99_999]));
        }
        _ => file.text(12, "proto2"),
    }
    file
}

impl Part {
    fn numbers(&mut self, field: u64, input: &mut Input) {
        for _ in 0..input.byte() % 2 {
            self.number(field, input.pick(&[0, 1, 2, -1]));
        }
    }
}

fn message(input: &mut Input, depth: u8) -> Part {
    let mut message = Part::default();
    message.text(1, input.pick(&NAMES));
    message.parts(2, input, 5, |input| field(input, false));
    if depth < 3 {
        message.parts(3, input, 2, |input| message_or_entry(input, depth + 1));
    }
    message.parts(4, input, 1, enumeration);
    message.parts(5, input, 2, range);
    message.parts(6, input, 1, |input| field(input, true));
    if input.one_in(3) {
        message.part(7, options(input, &[(12, features), (1, flag), (7, flag), (11, flag), (3, flag)]));
    }
    message.parts(8, input, 2, |input| {
        let mut oneof = Part::default();
        oneof.text(1, input.pick(&NAMES));
        if input.one_in(4) {
            oneof.part(2, options(input, &[(1, features)]));
        }
        oneof
    });
    message.parts(9, input, 1, range);
    for _ in 0..input.byte() % 2 {
        message.text(10, input.pick(&NAMES));
    }
    message
}

fn message_or_entry(input: &mut Input, depth: u8) -> Part {
    if !input.one_in(2) {
        return message(input, depth);
    }
    let mut entry = Part::default();
    entry.text(1, input.pick(&["AEntry", "XYEntry", "ABCEntry"]));
    for (name, number) in [("key", 1), ("value", 2)] {
        let mut part = Part::default();
        part.text(1, name);
        part.number(3, number);
        part.number(4, 1);
        typed(&mut part, input);
        entry.part(2, part);
    }
    entry.bytes(7, &[7 << 3, 1]);
    entry
}

/// The type of a field, and mostly the name that it needs.
fn typed(part: &mut Part, input: &mut Input) {
    let kind = input.byte() % 22;
    if kind > 0 {
        part.number(5, kind.min(20).into());
    }
    if matches!(kind, 0 | 10 | 11 | 14) || kind > 18 {
        part.text(6, input.pick(&TYPES));
    }
}

fn field(input: &mut Input, extension: bool) -> Part {
    let mut field = Part::default();
    field.text(1, input.pick(&NAMES));
    field.number(3, input.pick(&NUMBERS));
    field.number(4, input.pick(&[1, 3, 1, 3, 2, 1, 9]));
    typed(&mut field, input);
    if extension != input.one_in(32) {
        field.text(2, input.pick(&TYPES));
    }
    let more = input.byte();
    if more & 1 != 0 {
        field.text(7, input.pick(&DEFAULTS));
    }
    if more & 2 != 0 {
        field.part(8, options(input, &[(21, features), (2, flag), (1, flag), (3, flag), (6, flag)]));
    }
    if more & 4 != 0 {
        field.number(9, input.pick(&[0, 1, 2, -1]));
    }
    if more & 8 != 0 {
        field.text(10, input.pick(&NAMES));
    }
    if more & 48 == 48 {
        field.number(17, 1);
    }
    field
}

fn enumeration(input: &mut Input) -> Part {
    let mut enumeration = Part::default();
    enumeration.text(1, input.pick(&["E", "A", "F", "B"]));
    enumeration.parts(2, input, 4, |input| {
        let mut value = Part::default();
        value.text(1, input.pick(&["Z", "Y", "X", "A", "z", "E_Z"]));
        value.number(2, input.pick(&[0, 1, 2, -1, 2_147_483_647, -2_147_483_648, 4_294_967_296]));
        if input.one_in(8) {
            value.part(3, options(input, &[(2, features), (1, flag)]));
        }
        value
    });
    if input.one_in(3) {
        enumeration.part(3, options(input, &[(7, features), (2, flag), (6, flag)]));
    }
    enumeration.parts(4, input, 1, range);
    enumeration
}

fn service(input: &mut Input) -> Part {
    let mut service = Part::default();
    service.text(1, input.pick(&["S", "A"]));
    service.parts(2, input, 2, |input| {
        let mut method = Part::default();
        method.text(1, input.pick(&NAMES));
        method.text(2, input.pick(&TYPES));
        method.text(3, input.pick(&TYPES));
        method.number(5, i64::from(input.byte() & 1));
        method
    });
    service
}

fn range(input: &mut Input) -> Part {
    let mut range = Part::default();
    range.number(1, input.pick(&NUMBERS));
    range.number(2, input.pick(&[101, 200, 536_870_912, 2_147_483_647, 1, 5, 0, 1000]));
    range
}

type Choice = (u64, fn(&mut Input, u64, &mut Part));

/// Some of `choices`, and sometimes other fields, which may be options of somebody.
fn options(input: &mut Input, choices: &[Choice]) -> Part {
    let mut options = Part::default();
    for _ in 0..=input.byte() % 2 {
        let (field, write) = input.pick(choices);
        write(input, field, &mut options);
    }
    if input.one_in(4) {
        let length = input.byte() % 8;
        options.bytes(input.pick(&[100, 999, 1000, 101]), input.take(length.into()));
    }
    options
}

fn flag(input: &mut Input, field: u64, options: &mut Part) {
    options.number(field, input.pick(&[1, 0, 2, 3]));
}

fn features(input: &mut Input, field: u64, options: &mut Part) {
    let mut features = Part::default();
    for _ in 0..=input.byte() % 2 {
        features.number(input.pick(&[1, 2, 3, 4, 5, 6]), input.pick(&[1, 2, 3, 0, 9]));
    }
    options.part(field, features);
}

fn source_info(input: &mut Input) -> Part {
    let mut info = Part::default();
    info.parts(1, input, 4, |input| {
        let mut location = Part::default();
        let length = input.byte() % 6;
        location.bytes(1, input.take(length.into()));
        location.text(input.pick(&[3, 4, 2]), input.pick(&[" a\n b\n", "", "\n\n", "x"]));
        location
    });
    info
}
