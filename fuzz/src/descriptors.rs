//! Descriptors by choice: each byte of an input decides one thing. What they choose fits together, but where a byte is
//! 255: then something odd is chosen.

use crate::input::Input;
use crate::part::Part;

const ODD_NAMES: [&str; 12] = ["A", "B", "f0", "key", "value", "x_y1", "xY1", "M0", "E0", "", "a.b", "2"];
const ODD_NUMBERS: [i64; 10] = [0, -1, 1, 2, 3, 100, 19_000, 536_870_911, 536_870_912, 2_147_483_647];
const ODD_DEFAULTS: [&str; 8] = ["", "1e400", "\\", "true", "A", "-1", "0x10", "\u{e9}"];
const ODD_TYPES: [&str; 12] = [
    ".p0",
    "M0",
    "M0.M1",
    ".p1.M0",
    ".p0.M0.E0",
    "p0.M0",
    ".",
    ".google.protobuf.FieldOptions",
    ".google.protobuf.FieldDescriptorProto.Type",
    "f0",
    "E0",
    ".p0.M0.F1Entry",
];

#[derive(Clone, Copy, PartialEq)]
enum Syntax {
    Proto2,
    Proto3,
    Edition,
}

/// Makes a set.
struct Maker<'a> {
    input: Input<'a>,
    syntax: Syntax,
    /// Full names of what there is so far, in this file and those that it imports.
    messages: Vec<String>,
    enums: Vec<String>,
    /// Full names of messages that can be extended.
    extensible: Vec<String>,
    /// How many things have a name so far.
    named: usize,
}

/// A `FileDescriptorSet`.
pub fn set(input: Input) -> Vec<u8> {
    let (messages, enums, extensible) = Default::default();
    let mut maker = Maker { input, syntax: Syntax::Proto2, messages, enums, extensible, named: 0 };
    let mut set = Part::default();
    for at in 0..=maker.input.byte() % 3 {
        let file = maker.file(at.into());
        set.part(1, file);
    }
    set.bytes
}

impl Maker<'_> {
    fn byte(&mut self) -> u8 {
        self.input.byte()
    }

    /// Whether something odd is to come.
    fn odd(&mut self) -> bool {
        self.byte() == 255
    }

    /// What is chosen, or something odd.
    fn or_odd<T: Copy>(&mut self, chosen: T, odd: &[T]) -> T {
        if self.odd() { self.input.pick(odd) } else { chosen }
    }

    /// A name that nothing has.
    fn name(&mut self, part: &mut Part, start: &str) -> String {
        self.named += 1;
        let name = format!("{start}{}", self.named - 1);
        let name = self.or_odd(name.as_str(), &ODD_NAMES);
        part.text(1, name);
        name.into()
    }

    /// How many come, up to `n`.
    fn count(&mut self, n: u8) -> u8 {
        if self.input.is_empty() { 0 } else { self.byte() % (n + 1) }
    }

    fn file(&mut self, at: usize) -> Part {
        let mut file = Part::default();
        file.text(1, &format!("{}.proto", self.or_odd(at, &[0, 1, 2, 9])));
        let package = self.input.pick(&["p0", "p1", "p0.q", ""]);
        let package = self.or_odd(package, &["M0", "p0.M0", "google.protobuf", "a..b"]);
        file.text(2, package);
        for import in 0..at {
            file.text(3, &format!("{}.proto", self.or_odd(import, &[0, 1, 2, 7])));
            if self.byte() & 1 != 0 {
                file.number(10, self.or_odd(import as i64, &[-1, 5]));
            }
        }
        self.syntax = self.input.pick(&[Syntax::Proto2, Syntax::Proto3, Syntax::Edition]);
        match self.syntax {
            Syntax::Proto2 => {}
            Syntax::Proto3 => file.text(12, "proto3"),
            Syntax::Edition => {
                file.text(12, "editions");
                file.number(14, self.or_odd(1000, &[998, 999, 1001, 0, 99_999]));
            }
        }
        if self.byte() & 3 == 3 {
            let options = self.options(50, 20);
            file.part(8, options);
        }
        for _ in 0..self.count(2) {
            let made = self.enumeration(package);
            file.part(5, made);
        }
        for _ in 0..self.count(3) {
            let made = self.message(package, 0);
            file.part(4, made);
        }
        for _ in 0..self.count(2) {
            if let Some(made) = self.extension() {
                file.part(7, made);
            }
        }
        for _ in 0..self.count(1).min(self.messages.len() as u8) {
            let made = self.service();
            file.part(6, made);
        }
        if self.byte() & 3 == 3 {
            let info = self.source_info();
            file.part(9, info);
        }
        file
    }

    fn message(&mut self, scope: &str, depth: u8) -> Part {
        let mut message = Part::default();
        let name = join(scope, &self.name(&mut message, "M"));
        self.messages.push(name.clone());
        let ranges = if self.syntax == Syntax::Proto3 { 0 } else { self.count(2) };
        let more = self.byte();
        for at in 0..ranges {
            let mut range = Part::default();
            range.number(1, self.or_odd(100 * (i64::from(at) + 1), &ODD_NUMBERS));
            range.number(2, self.or_odd(100 * (i64::from(at) + 2), &ODD_NUMBERS));
            message.part(5, range);
            if at == 0 {
                self.extensible.push(name.clone());
            }
        }
        if more & 3 == 3 {
            let options = self.options(12, if ranges > 0 { 1 } else { 3 });
            message.part(7, options);
        }
        let oneofs = self.count(2);
        for _ in 0..oneofs {
            let mut oneof = Part::default();
            self.name(&mut oneof, "o");
            message.part(8, oneof);
        }
        if depth < 3 {
            for _ in 0..self.count(1) {
                let made = self.message(&name, depth + 1);
                message.part(3, made);
            }
            for _ in 0..self.count(1) {
                let made = self.enumeration(&name);
                message.part(4, made);
            }
        }
        for at in 0..self.count(6) {
            self.member(&mut message, &name, i64::from(at) + 1, oneofs);
        }
        if more & 12 == 12 {
            if let Some(made) = self.extension() {
                message.part(6, made);
            }
            message.text(10, "gone");
        }
        message
    }

    /// A field of a message, and the entry type that it may need.
    fn member(&mut self, message: &mut Part, scope: &str, number: i64, oneofs: u8) {
        let (mut field, name) = self.named_field(number);
        let kind = self.byte() % 24;
        if kind > 20 {
            let entry = name.replace('_', "");
            let entry = format!("{}{}Entry", entry[..1.min(entry.len())].to_uppercase(), entry.get(1..).unwrap_or(""));
            field.number(4, 3);
            field.number(5, 11);
            field.text(6, &format!(".{scope}.{entry}"));
            let made = self.entry(&entry);
            message.part(3, made);
        } else {
            let mut label = 1 + 2 * i64::from(self.byte() & 1);
            if oneofs > 0 && self.byte() & 1 != 0 {
                label = 1;
                field.number(9, self.or_odd(number % i64::from(oneofs), &[-1, 0, 2]));
            }
            self.typed(&mut field, kind, label);
        }
        message.part(2, field);
    }

    fn named_field(&mut self, number: i64) -> (Part, String) {
        let mut field = Part::default();
        let start = self.input.pick(&["f", "x_y", "F", "_f_"]);
        let name = self.name(&mut field, start);
        let large = self.or_odd(number, &ODD_NUMBERS);
        field.number(3, large);
        (field, name)
    }

    /// Label, type and options.
    fn typed(&mut self, field: &mut Part, kind: u8, label: i64) {
        let odd = if self.syntax == Syntax::Proto3 { 9 } else { 2 };
        field.number(4, self.or_odd(label, &[odd, 1, 3]));
        self.kind(field, kind);
        let more = self.byte();
        if more & 3 == 3 {
            let options = self.options(21, if label == 3 { 2 } else { 3 });
            field.part(8, options);
        }
        if more & 12 == 12 && label == 1 && self.syntax != Syntax::Proto3 {
            let default = match kind {
                1 | 2 => self.input.pick(&["1.5", "-inf", "nan", "1e10"]),
                8 => "true",
                9 | 12 => self.input.pick(&["a", "", "\\001", "\"'"]),
                11 | 10 | 14 => "V0",
                _ => self.input.pick(&["1", "0", "2147483647"]),
            };
            if !matches!(kind, 0 | 10 | 11 | 19..) {
                field.text(7, self.or_odd(default, &ODD_DEFAULTS));
            }
        }
        if more & 48 == 48 {
            field.text(10, self.or_odd("j", &ODD_NAMES));
        }
    }

    /// The type of a field, and the name that it needs.
    fn kind(&mut self, field: &mut Part, kind: u8) {
        let number = match kind {
            0 | 19 | 20 => 11,
            10 if self.syntax != Syntax::Proto2 => 11,
            14 if self.enums.is_empty() => 5,
            _ => kind.into(),
        };
        field.number(5, self.or_odd(number, &[10, 11, 14, 0, 21]));
        let at = usize::from(self.byte());
        let names = if number == 14 { &self.enums } else { &self.messages };
        if matches!(number, 10 | 11 | 14) && !names.is_empty() {
            let name = format!(".{}", names[at % names.len()]);
            field.text(6, self.or_odd(name.as_str(), &ODD_TYPES));
        }
    }

    fn entry(&mut self, name: &str) -> Part {
        let mut entry = Part::default();
        entry.text(1, name);
        for (name, number) in [("key", 1), ("value", 2)] {
            let mut part = Part::default();
            part.text(1, name);
            part.number(3, number);
            part.number(4, self.or_odd(1, &[2, 3]));
            let key = self.input.pick(&[5, 3, 4, 6, 7, 8, 9, 13, 15, 16, 17, 18]);
            let value = self.byte() % 20;
            self.kind(
                &mut part,
                if number == 1 {
                    key
                } else if value == 10 {
                    11
                } else {
                    value
                },
            );
            entry.part(2, part);
        }
        entry.bytes(7, &[7 << 3, 1]);
        entry
    }

    fn extension(&mut self) -> Option<Part> {
        let at = usize::from(self.byte());
        let of = self.extensible.get(at % self.extensible.len().max(1))?.clone();
        // Different ones mostly have different numbers.
        let number = 100 + self.named as i64 % 100;
        let (mut field, _) = self.named_field(number);
        field.text(2, self.or_odd(format!(".{of}").as_str(), &ODD_TYPES));
        let (kind, label) = (self.byte() % 20, 1 + 2 * i64::from(self.byte() & 1));
        self.typed(&mut field, kind, label);
        Some(field)
    }

    fn enumeration(&mut self, scope: &str) -> Part {
        let mut enumeration = Part::default();
        let name = join(scope, &self.name(&mut enumeration, "E"));
        self.enums.push(name);
        for at in 0..=self.count(3) {
            let mut value = Part::default();
            let start = if at == 0 { "V" } else { "W_" };
            self.name(&mut value, start);
            value.number(2, self.or_odd(at.into(), &[0, 1, -1, 2_147_483_647, -2_147_483_648, 4_294_967_296]));
            enumeration.part(2, value);
        }
        if self.byte() & 3 == 3 {
            let options = self.options(7, 2);
            enumeration.part(3, options);
        }
        enumeration
    }

    fn service(&mut self) -> Part {
        let mut service = Part::default();
        self.name(&mut service, "S");
        for _ in 0..self.count(2) {
            let mut method = Part::default();
            self.name(&mut method, "R");
            for field in [2, 3] {
                let at = usize::from(self.byte());
                let name =
                    self.messages.get(at % self.messages.len().max(1)).map_or(".Gone".into(), |n| format!(".{n}"));
                method.text(field, self.or_odd(name.as_str(), &ODD_TYPES));
            }
            method.number(5, i64::from(self.byte() & 1));
            service.part(2, method);
        }
        service
    }

    /// Features, a flag, and what may be an option of somebody.
    fn options(&mut self, features: u64, flag: u64) -> Part {
        let mut options = Part::default();
        if self.syntax == Syntax::Edition || self.odd() {
            let mut part = Part::default();
            for _ in 0..=self.byte() & 1 {
                let feature = self.input.pick(&[1, 2, 3, 4, 5, 6]);
                let value = match feature {
                    4 => self.input.pick(&[2, 3]),
                    1 => self.input.pick(&[1, 2, 3]),
                    _ => self.input.pick(&[1, 2]),
                };
                part.number(feature, self.or_odd(value, &[0, 9]));
            }
            options.part(features, part);
        }
        if self.byte() & 1 != 0 {
            options.number(flag, 1);
        }
        if self.byte() & 3 == 3 {
            let length = self.byte() % 8;
            let bytes = self.input.take(length.into());
            options.bytes(self.or_odd(5_000, &[999, 100]), bytes);
        }
        options
    }

    fn source_info(&mut self) -> Part {
        let mut info = Part::default();
        for _ in 0..self.count(4) {
            let mut location = Part::default();
            let path = [[4, 0, 2, 0], [4, 1, 2, 1], [5, 0, 2, 0], [7, 0, 0, 0]][usize::from(self.byte() & 3)];
            let length = 2 + 2 * usize::from(self.byte() & 1);
            location.bytes(1, &path[..length]);
            location.text(self.input.pick(&[3, 4, 2]), self.input.pick(&[" a\n b\n", "", "\n\n", "x"]));
            info.part(1, location);
        }
        info
    }
}

fn join(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.into() } else { format!("{scope}.{name}") }
}
