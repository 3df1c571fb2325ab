//! Descriptors like those of a large project, made up from a seed: the same each time.
//!
//! Packages of several depths; imports that reach far, some of them public; messages with fields of every kind,
//! nested ones, enums, services; custom options; extensions of messages in other files; files in proto2 and proto3.
//! Each message comes with a table that it encodes.

#![allow(dead_code, reason = "no test or benchmark uses all of it")]

use std::collections::HashSet;
use std::fmt::Write;
use std::mem;

use prost::Message;
use prost::encoding;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage, Value};
use prost_types::descriptor_proto::{ExtensionRange, ReservedRange};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumOptions, EnumValueDescriptorProto, FieldDescriptorProto, FieldOptions,
    FileDescriptorProto, FileOptions, MessageOptions, MethodDescriptorProto, OneofDescriptorProto,
    ServiceDescriptorProto, UninterpretedOption,
};

/// Random numbers (splitmix64), the same for the same seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 33) as usize % n
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A file and what can be done with its messages.
pub struct File {
    pub name: String,
    /// A serialized `FileDescriptorProto`.
    pub bytes: Vec<u8>,
    pub imports: Vec<String>,
    /// One for each message, the first message's first.
    pub samples: Vec<Sample>,
    /// Custom options are uninterpreted ones here; see [`serialize`].
    proto: FileDescriptorProto,
}

/// A value of a message.
pub struct Sample {
    /// The full name of the type, without leading dot.
    pub name: String,
    /// A Lua table.
    pub table: String,
}

impl File {
    /// The file with a field more in its first message: `revision_1` for version 1.
    pub fn revised(&self, version: u16) -> Vec<u8> {
        let mut proto = self.proto.clone();
        let number = REVISIONS + i32::from(version);
        proto.message_type[0].field.push(field(&format!("revision_{version}"), number, Label::Optional, Type::Int32));
        serialize(&proto)
    }

    /// The type that [`File::revised`] changes.
    pub fn revised_type(&self) -> &str {
        &self.samples[0].name
    }

    /// A type of this file with a field of the type that [`File::revised`] changes in `other`, and that field. It is
    /// neither repeated nor in a oneof, and neither type has required fields.
    pub fn user_of(&self, other: &File) -> Option<(String, String)> {
        let requires = |m: &DescriptorProto| m.field.iter().any(|f| f.label() == Label::Required);
        let uses = |f: &&FieldDescriptorProto| {
            f.type_name().strip_prefix('.') == Some(other.revised_type())
                && f.label() != Label::Repeated
                && f.oneof_index.is_none()
        };
        if requires(&other.proto.message_type[0]) {
            return None;
        }
        let users = self.proto.message_type.iter().filter(|m| !requires(m));
        let mut fields = users.filter_map(|m| Some((m.name(), m.field.iter().find(uses)?.name())));
        fields.next().map(|(user, f)| (format!("{}.{user}", self.proto.package()), f.to_owned()))
    }
}

/// The serialized `FileDescriptorSet` of these files and the built-in ones that they import, as
/// `protoc --include_imports` writes it.
pub fn set<'a>(files: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let built_in = [DESCRIPTOR, TIMESTAMP].map(|name| {
        let file = DescriptorPool::global().get_file_by_name(name).expect("a built-in file");
        file.file_descriptor_proto().encode_to_vec()
    });
    let mut out = Vec::new();
    let mut add = |file: &[u8]| {
        encoding::encode_key(1, encoding::WireType::LengthDelimited, &mut out);
        encoding::encode_varint(file.len() as u64, &mut out);
        out.extend_from_slice(file);
    };
    built_in.iter().for_each(|file| add(file));
    files.into_iter().for_each(add);
    out
}

/// The set of `files`.
pub fn set_of(files: &[File]) -> Vec<u8> {
    set(files.iter().map(|f| &*f.bytes))
}

/// So many messages, nested ones counted and map entries not, in so many files, each after those it imports.
pub fn files(seed: u64, messages: usize, files: usize) -> Vec<File> {
    let mut project = Project { random: Random(seed), names: 0, known: Vec::new() };
    let weights: Vec<usize> = (0..files).map(|_| 5 + project.random.below(21)).collect();
    let total: usize = weights.iter().sum();
    let mut so_far = 0;
    let share = |weight| messages * weight / total;
    weights
        .into_iter()
        .map(|weight| {
            let before = share(so_far);
            so_far += weight;
            project.file(share(so_far) - before)
        })
        .collect()
}

const DESCRIPTOR: &str = "google/protobuf/descriptor.proto";
const TIMESTAMP: &str = "google/protobuf/timestamp.proto";
/// The extensions of a message have numbers from here on, the fields of [`File::revised`] those after them.
const EXTENSIONS: i32 = 1000;
const REVISIONS: i32 = 2000;
/// Fields far from the others.
const FAR: i32 = 100_000;
/// Numbers of the custom options.
const LABEL: u32 = 50_001;
const LONGEST: u32 = 50_002;
const SECRET: u32 = 50_003;
const TABLE: u32 = 50_004;
const STORAGE: u32 = 50_005;

const PACKAGES: [&str; 12] = [
    "acme",
    "acme.base",
    "acme.chat",
    "acme.guild",
    "acme.guild.war",
    "acme.shop",
    "acme.shop.payment.provider",
    "acme.world",
    "acme.world.battle",
    "acme.world.battle.skill",
    "acme.world.map",
    "acme.live.event.season.reward",
];
const WORDS: [&str; 48] = [
    "account", "active", "amount", "attack", "battle", "bonus", "buff", "channel", "city", "color", "count", "damage",
    "defense", "effect", "end", "energy", "event", "friend", "guild", "hero", "icon", "item", "kind", "last", "level",
    "mail", "map", "max", "member", "min", "monster", "owner", "pet", "player", "power", "price", "quest", "rank",
    "region", "reward", "room", "score", "season", "skill", "start", "target", "task", "weapon",
];
const SCALARS: [Type; 20] = [
    Type::Int32,
    Type::Int32,
    Type::Int32,
    Type::Uint32,
    Type::Uint32,
    Type::Int64,
    Type::Int64,
    Type::Uint64,
    Type::Sint32,
    Type::Sint64,
    Type::Fixed32,
    Type::Fixed64,
    Type::Sfixed32,
    Type::Sfixed64,
    Type::Bool,
    Type::Bool,
    Type::Float,
    Type::Double,
    Type::String,
    Type::Bytes,
];
const STRINGS: [Type; 4] = [Type::String, Type::String, Type::String, Type::Bytes];

/// A message that fields may have as type.
#[derive(Clone)]
struct KnownMessage {
    /// Its full name, with leading dot.
    name: String,
    /// Whether it has required fields.
    requires: bool,
}

#[derive(Clone)]
struct KnownEnum {
    name: String,
    proto3: bool,
    /// The name of its first value.
    first: String,
    /// Whether that is zero.
    zero: bool,
}

/// What a file gives to those that import it.
#[derive(Default)]
struct Known {
    name: String,
    messages: Vec<KnownMessage>,
    enums: Vec<KnownEnum>,
    /// Messages that may be extended, and the next number for each.
    extendable: Vec<(String, i32)>,
    /// The positions of the files that an importer sees: this one and what it imports publicly. Not what those import
    /// publicly in turn, which prost-reflect would not find.
    exported: Vec<usize>,
}

struct Project {
    random: Random,
    /// How many names were made.
    names: usize,
    known: Vec<Known>,
}

/// The file that is being made.
struct Making {
    at: usize,
    package: String,
    proto3: bool,
    /// Positions of other files whose types may be used.
    visible: Vec<usize>,
    timestamp: bool,
    samples: Vec<Sample>,
}

impl Making {
    fn sees_options(&self) -> bool {
        self.at == 0 || self.visible.contains(&0)
    }
}

impl Project {
    /// The next file, with so many messages.
    fn file(&mut self, messages: usize) -> File {
        let at = self.known.len();
        let package = if at == 0 { "acme.options" } else { *self.random.pick(&PACKAGES) };
        let name = format!("{}/{}_{at}.proto", package.replace('.', "/"), self.random.pick(&WORDS));
        let mut proto = FileDescriptorProto {
            name: Some(name.clone()),
            package: Some(package.to_owned()),
            options: Some(FileOptions {
                java_package: Some(format!("com.{package}")),
                go_package: Some(format!("example.com/{}", package.replace('.', "/"))),
                ..Default::default()
            }),
            ..Default::default()
        };
        // The options are in proto2, and a quarter of the others.
        let proto3 = at != 0 && self.random.chance(75);
        if proto3 {
            proto.syntax = Some("proto3".to_owned());
        }
        let mut making = Making {
            at,
            package: package.to_owned(),
            proto3,
            visible: Vec::new(),
            timestamp: self.random.chance(30),
            samples: Vec::new(),
        };
        let exported = self.imports(&mut proto, &mut making);
        self.known.push(Known { name, exported, ..Default::default() });

        // Names first, so that fields may use messages that come later.
        let scope = format!(".{package}");
        let mut left = messages;
        while left > 0 {
            let message = self.declare(&scope, proto3, &mut left, 1);
            proto.message_type.push(message);
        }
        for _ in 0..1 + self.random.below(3) {
            let plan = self.enumeration(&scope, proto3);
            proto.enum_type.push(plan);
        }
        for message in &mut proto.message_type {
            self.fill(message, &scope, &mut making);
        }
        if at == 0 {
            declare_options(&mut proto, &scope, &self.known[0]);
        }
        if !proto3 {
            self.extend(&mut proto, &making);
        }
        if self.random.chance(30) {
            let service = self.service(&making);
            proto.service.push(service);
        }
        let imports = proto.dependency.clone();
        File { name: self.known[at].name.clone(), bytes: serialize(&proto), imports, samples: making.samples, proto }
    }

    /// Chooses imports; gives the files that importers of this one see.
    fn imports(&mut self, proto: &mut FileDescriptorProto, making: &mut Making) -> Vec<usize> {
        let at = making.at;
        let mut imports = Vec::new();
        if at > 0 {
            // One that is close, so that chains are long, the options often, and some of all.
            imports.push(at - 1 - self.random.below(at.min(3)));
            if self.random.chance(60) {
                imports.push(0);
            }
            for _ in 0..self.random.below(6) {
                imports.push(self.random.below(at));
            }
            let mut seen = HashSet::new();
            imports.retain(|import| seen.insert(*import));
        }
        let mut exported = vec![at];
        for (i, import) in imports.iter().enumerate() {
            proto.dependency.push(self.known[*import].name.clone());
            making.visible.extend(&self.known[*import].exported);
            if self.random.chance(8) {
                proto.public_dependency.push(i as i32);
                exported.push(*import);
            }
        }
        for files in [&mut making.visible, &mut exported] {
            files.sort_unstable();
            files.dedup();
        }
        if at == 0 {
            proto.dependency.push(DESCRIPTOR.to_owned());
        }
        if making.timestamp {
            proto.dependency.push(TIMESTAMP.to_owned());
        }
        exported
    }

    /// A name like `GuildMember17`, which nothing else has.
    fn type_name(&mut self) -> String {
        self.names += 1;
        let (first, second) = (self.random.pick(&WORDS), self.random.pick(&WORDS));
        format!("{}{}{}", capitalized(first), capitalized(second), self.names)
    }

    /// A message with its nested types, without fields.
    fn declare(&mut self, scope: &str, proto3: bool, left: &mut usize, depth: usize) -> DescriptorProto {
        *left -= 1;
        let name = self.type_name();
        let full = format!("{scope}.{name}");
        let mut message = DescriptorProto { name: Some(name), ..Default::default() };
        let requires = !proto3 && self.random.chance(30);
        let known = self.known.last_mut().expect("this file");
        known.messages.push(KnownMessage { name: full.clone(), requires });
        if !proto3 && self.random.chance(30) {
            let range = ExtensionRange { start: Some(EXTENSIONS), end: Some(REVISIONS), options: None };
            message.extension_range.push(range);
            self.known.last_mut().expect("this file").extendable.push((full.clone(), EXTENSIONS));
        }
        while depth < 4 && *left > 0 && self.random.chance(20) {
            let nested = self.declare(&full, proto3, left, depth + 1);
            message.nested_type.push(nested);
        }
        if self.random.chance(15) {
            let plan = self.enumeration(&full, proto3);
            message.enum_type.push(plan);
        }
        message
    }

    fn enumeration(&mut self, scope: &str, proto3: bool) -> EnumDescriptorProto {
        let name = self.type_name();
        let zero = proto3 || self.random.chance(75);
        let prefix = name.to_uppercase();
        let alias = self.random.chance(10);
        let mut numbers: Vec<i32> = (i32::from(!zero)..).take(2 + self.random.below(12)).collect();
        if self.random.chance(5) {
            numbers.push(-1);
        }
        if alias {
            numbers.push(1);
        }
        let value = |(i, number): (usize, i32)| EnumValueDescriptorProto {
            name: Some(format!("{prefix}_{}_{i}", WORDS[(self.names + i) % WORDS.len()].to_uppercase())),
            number: Some(number),
            options: None,
        };
        let plan = EnumDescriptorProto {
            value: numbers.into_iter().enumerate().map(value).collect(),
            options: alias.then(|| EnumOptions { allow_alias: Some(true), ..Default::default() }),
            name: Some(name),
            ..Default::default()
        };
        let first = plan.value[0].name().to_owned();
        let known = self.known.last_mut().expect("this file");
        known.enums.push(KnownEnum { name: format!("{scope}.{}", plan.name()), proto3, first, zero });
        plan
    }

    /// Gives fields to a message and those within.
    fn fill(&mut self, message: &mut DescriptorProto, scope: &str, making: &mut Making) {
        let full = format!("{scope}.{}", message.name());
        let requires = self.known[making.at].messages.iter().any(|known| known.name == full && known.requires);
        let at = making.samples.len();
        making.samples.push(Sample { name: full[1..].to_owned(), table: "{ ".to_owned() });
        // Its own nested types are filled after it, and what its fields add needs nothing more.
        let mut nested = mem::take(&mut message.nested_type);
        for inner in &mut nested {
            self.fill(inner, &full, making);
        }
        message.nested_type = nested;

        let count = 5 + self.random.below(26).min(self.random.below(26));
        let mut number = 0;
        let mut names = HashSet::new();
        let mut members = 0;
        let mut optional = Vec::new();
        for i in 0..count {
            number += 1;
            if self.random.chance(4) {
                let skipped = 1 + self.random.below(5) as i32;
                message.reserved_range.push(ReservedRange { start: Some(number), end: Some(number + skipped) });
                message.reserved_name.push(format!("old_{number}"));
                number += skipped;
            } else if number < FAR && self.random.chance(1) {
                number += FAR;
            }
            let name = self.field_name(number, &mut names);
            if members == 0 && count - i > 3 && self.random.chance(4) {
                members = 2 + self.random.below(3);
                let name = Some(format!("choice_{number}"));
                message.oneof_decl.push(OneofDescriptorProto { name, options: None });
            }
            let required = requires && (i == 0 || self.random.chance(15));
            let (new, value) = if members > 0 {
                members -= 1;
                let (mut new, value) = self.singular(&name, number, making);
                new.oneof_index = Some(message.oneof_decl.len() as i32 - 1);
                let last = message.field.last().is_some_and(|before| before.oneof_index == new.oneof_index);
                (new, value.filter(|_| !last))
            } else if required {
                let (mut new, value) = self.scalar(&name, number);
                new.label = Some(Label::Required.into());
                (new, Some(value))
            } else if self.random.chance(18) {
                self.list(&name, number, making)
            } else if self.random.chance(7) {
                let (new, entry, value) = self.map(&name, number, &full, making);
                message.nested_type.push(entry);
                (new, value)
            } else if !making.proto3 && self.random.chance(3) {
                let (new, group) = self.group(number, &full);
                message.nested_type.push(group);
                (new, Some("{ inside = 3 }".to_owned()))
            } else {
                let (mut new, value) = self.singular(&name, number, making);
                if making.proto3 && self.random.chance(15) {
                    new.proto3_optional = Some(true);
                    optional.push(message.field.len());
                } else if !making.proto3 && self.random.chance(30) {
                    self.default(&mut new);
                }
                (new, value)
            };
            let field = self.with_options(new, making);
            if let Some(value) = value {
                let table = &mut making.samples[at].table;
                write!(table, "[\"{}\"] = {value}, ", field.name()).expect("a string grows");
            }
            message.field.push(field);
        }
        making.samples[at].table.push('}');

        // Each in a oneof of its own, after the written ones.
        for at in optional {
            let field = &mut message.field[at];
            field.oneof_index = Some(message.oneof_decl.len() as i32);
            let name = Some(format!("_{}", field.name()));
            message.oneof_decl.push(OneofDescriptorProto { name, options: None });
        }
        if making.sees_options() && self.random.chance(20) {
            message.options =
                Some(MessageOptions { uninterpreted_option: self.message_options(), ..Default::default() });
        }
    }

    fn field_name(&mut self, number: i32, names: &mut HashSet<String>) -> String {
        let (first, second) = (*self.random.pick(&WORDS), *self.random.pick(&WORDS));
        let name = if self.random.chance(40) { first.to_owned() } else { format!("{first}_{second}") };
        if names.insert(name.clone()) { name } else { format!("{name}_{number}") }
    }

    /// A field of any type, not repeated, and a value of it if there is a simple one.
    fn singular(&mut self, name: &str, number: i32, making: &Making) -> (FieldDescriptorProto, Option<String>) {
        match self.random.below(100) {
            0..25 => self.message_field(name, number, making),
            25..37 => match self.enum_of(making, false) {
                Some(plan) => {
                    let mut new = field(name, number, Label::Optional, Type::Enum);
                    new.type_name = Some(plan.name);
                    (new, Some(format!("\"{}\"", plan.first)))
                }
                None => self.scalar_with_value(name, number),
            },
            _ => self.scalar_with_value(name, number),
        }
    }

    fn scalar_with_value(&mut self, name: &str, number: i32) -> (FieldDescriptorProto, Option<String>) {
        let (new, value) = self.scalar(name, number);
        (new, Some(value))
    }

    fn scalar(&mut self, name: &str, number: i32) -> (FieldDescriptorProto, String) {
        let kind = if self.random.chance(25) { *self.random.pick(&STRINGS) } else { *self.random.pick(&SCALARS) };
        (field(name, number, Label::Optional, kind), self.value(kind))
    }

    fn message_field(&mut self, name: &str, number: i32, making: &Making) -> (FieldDescriptorProto, Option<String>) {
        let mut new = field(name, number, Label::Optional, Type::Message);
        if making.timestamp && self.random.chance(15) {
            new.type_name = Some(".google.protobuf.Timestamp".to_owned());
            return (new, Some("{ seconds = 1700000000 }".to_owned()));
        }
        let message = self.message_of(making);
        new.type_name = Some(message.name);
        (new, (!message.requires).then(|| "{}".to_owned()))
    }

    /// The file of a type that a field will have, this one or one that is visible.
    fn file_of(&mut self, making: &Making) -> usize {
        if making.visible.is_empty() || self.random.chance(50) { making.at } else { *self.random.pick(&making.visible) }
    }

    fn message_of(&mut self, making: &Making) -> KnownMessage {
        let file = self.file_of(making);
        self.random.pick(&self.known[file].messages).clone()
    }

    /// An enum that this file's fields may have; one that starts with zero if so wanted.
    fn enum_of(&mut self, making: &Making, zero: bool) -> Option<KnownEnum> {
        let file = self.file_of(making);
        let plan = self.random.pick(&self.known[file].enums);
        // A file in proto3 cannot use the closed enums of proto2.
        ((plan.proto3 || !making.proto3) && (plan.zero || !zero)).then(|| plan.clone())
    }

    fn list(&mut self, name: &str, number: i32, making: &Making) -> (FieldDescriptorProto, Option<String>) {
        let (mut new, value) = self.singular(name, number, making);
        new.label = Some(Label::Repeated.into());
        let packable = !matches!(new.r#type(), Type::String | Type::Bytes | Type::Message);
        if packable && self.random.chance(if making.proto3 { 5 } else { 50 }) {
            new.options = Some(FieldOptions { packed: Some(!making.proto3), ..Default::default() });
        }
        (new, value.map(|value| format!("{{ {value}, {value} }}")))
    }

    /// A map, its entry and a value.
    fn map(
        &mut self,
        name: &str,
        number: i32,
        scope: &str,
        making: &Making,
    ) -> (FieldDescriptorProto, DescriptorProto, Option<String>) {
        let key = loop {
            let kind = *self.random.pick(&SCALARS);
            if !matches!(kind, Type::Float | Type::Double | Type::Bytes) {
                break kind;
            }
        };
        let key_value = self.value(key);
        let (mut value, text) = if self.random.chance(60) {
            self.scalar_with_value("value", 2)
        } else {
            match self.enum_of(making, true).filter(|_| self.random.chance(30)) {
                Some(plan) => {
                    let mut new = field("value", 2, Label::Optional, Type::Enum);
                    new.type_name = Some(plan.name);
                    (new, Some(format!("\"{}\"", plan.first)))
                }
                None => self.message_field("value", 2, making),
            }
        };
        value.label = Some(Label::Optional.into());
        let entry_name = format!("{}Entry", camel(name, true));
        let mut new = field(name, number, Label::Repeated, Type::Message);
        new.type_name = Some(format!("{scope}.{entry_name}"));
        let entry = DescriptorProto {
            name: Some(entry_name),
            field: vec![field("key", 1, Label::Optional, key), value],
            options: Some(MessageOptions { map_entry: Some(true), ..Default::default() }),
            ..Default::default()
        };
        (new, entry, text.map(|text| format!("{{ [{key_value}] = {text} }}")))
    }

    fn group(&mut self, number: i32, scope: &str) -> (FieldDescriptorProto, DescriptorProto) {
        let mut new = field(&format!("group{number}"), number, Label::Optional, Type::Group);
        new.type_name = Some(format!("{scope}.Group{number}"));
        let group = DescriptorProto {
            name: Some(format!("Group{number}")),
            field: vec![field("inside", 1, Label::Optional, Type::Int32)],
            ..Default::default()
        };
        (new, group)
    }

    /// Gives a default of its own to a field of a type that has one here.
    fn default(&mut self, new: &mut FieldDescriptorProto) {
        new.default_value = match new.r#type() {
            Type::Message | Type::Group | Type::Enum => None,
            Type::Bool => Some("true".to_owned()),
            Type::String => Some("none".to_owned()),
            Type::Bytes => Some("\\001\\377".to_owned()),
            Type::Float | Type::Double => Some((*self.random.pick(&["1.5", "-0.25", "inf", "nan", "1024"])).to_owned()),
            Type::Uint32 | Type::Uint64 | Type::Fixed32 | Type::Fixed64 => Some(self.random.below(1000).to_string()),
            _ => Some((self.random.below(1000) as i32 - 500).to_string()),
        };
    }

    /// A value in Lua.
    fn value(&mut self, kind: Type) -> String {
        match kind {
            Type::Bool => "true".to_owned(),
            Type::String => format!("\"{}\"", self.random.pick(&WORDS)),
            Type::Bytes => "\"\\0\\255\"".to_owned(),
            Type::Float | Type::Double => (0.5 + self.random.below(100) as f64).to_string(),
            Type::Int32 | Type::Int64 | Type::Sint32 | Type::Sint64 | Type::Sfixed32 | Type::Sfixed64 => {
                (-1 - self.random.below(100_000) as i32).to_string()
            }
            _ => (1 + self.random.below(100_000)).to_string(),
        }
    }

    fn with_options(&mut self, mut new: FieldDescriptorProto, making: &Making) -> FieldDescriptorProto {
        if self.random.chance(3) {
            new.options.get_or_insert_default().deprecated = Some(true);
        }
        if making.sees_options() && self.random.chance(8) {
            let mut bytes = Vec::new();
            match self.random.below(3) {
                0 => encoding::string::encode(LABEL, &format!("The {} of it", new.name()), &mut bytes),
                1 => encoding::int32::encode(LONGEST, &(self.random.below(300) as i32), &mut bytes),
                _ => encoding::bool::encode(SECRET, &true, &mut bytes),
            }
            new.options.get_or_insert_default().uninterpreted_option = uninterpreted(bytes);
        }
        new
    }

    fn message_options(&mut self) -> Vec<UninterpretedOption> {
        let mut bytes = Vec::new();
        if self.random.chance(50) {
            encoding::string::encode(TABLE, &format!("t_{}", self.random.pick(&WORDS)), &mut bytes);
        } else {
            // All messages of the options have optional fields at most, so an empty one is valid.
            encoding::bytes::encode(STORAGE, &Vec::new(), &mut bytes);
        }
        uninterpreted(bytes)
    }

    /// Extends messages of other files.
    fn extend(&mut self, proto: &mut FileDescriptorProto, making: &Making) {
        for _ in 0..self.random.below(6) {
            let Some(&file) = (!making.visible.is_empty()).then(|| self.random.pick(&making.visible)) else { return };
            if self.known[file].extendable.is_empty() {
                continue;
            }
            let at = self.random.below(self.known[file].extendable.len());
            let (extendee, number) = &mut self.known[file].extendable[at];
            let (extendee, number) = (extendee.clone(), mem::replace(number, *number + 1));
            self.names += 1;
            let name = format!("extra_{}", self.names);
            let (mut new, _) = match self.random.below(2) {
                0 => self.list(&name, number, making),
                _ => self.singular(&name, number, making),
            };
            new.extendee = Some(extendee);
            // Some are declared within a message.
            match proto.message_type.first_mut().filter(|_| self.random.chance(30)) {
                Some(message) => message.extension.push(new),
                None => proto.extension.push(new),
            }
        }
    }

    fn service(&mut self, making: &Making) -> ServiceDescriptorProto {
        let method = |i| MethodDescriptorProto {
            name: Some(format!("Call{i}")),
            input_type: Some(self.message_of(making).name),
            output_type: Some(self.message_of(making).name),
            server_streaming: (i == 3).then_some(true),
            ..Default::default()
        };
        let method = (0..5).map(method).collect();
        ServiceDescriptorProto { name: Some(format!("{}Service", self.type_name())), method, options: None }
    }
}

/// What the other files set as options.
fn declare_options(proto: &mut FileDescriptorProto, scope: &str, known: &Known) {
    let storage = known.messages.iter().find(|message| !message.requires).expect("a message without required fields");
    let options = [
        ("label", LABEL, Type::String, "Field"),
        ("longest", LONGEST, Type::Int32, "Field"),
        ("secret", SECRET, Type::Bool, "Field"),
        ("table", TABLE, Type::String, "Message"),
        ("storage", STORAGE, Type::Message, "Message"),
    ];
    for (name, number, kind, of) in options {
        let mut new = field(name, number as i32, Label::Optional, kind);
        new.extendee = Some(format!(".google.protobuf.{of}Options"));
        if kind == Type::Message {
            debug_assert!(storage.name.starts_with(scope));
            new.type_name = Some(storage.name.clone());
        }
        proto.extension.push(new);
    }
}

fn field(name: &str, number: i32, label: Label, kind: Type) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(number),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        json_name: Some(camel(name, false)),
        ..Default::default()
    }
}

fn capitalized(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

fn camel(name: &str, upper: bool) -> String {
    let part = |(i, part)| if i > 0 || upper { capitalized(part) } else { str::to_owned(part) };
    name.split('_').enumerate().map(part).collect()
}

/// Custom options on their way to [`serialize`].
fn uninterpreted(bytes: Vec<u8>) -> Vec<UninterpretedOption> {
    vec![UninterpretedOption { string_value: Some(bytes), ..Default::default() }]
}

/// The bytes of a file, with custom options in their place: prost's types have no room for them.
fn serialize(proto: &FileDescriptorProto) -> Vec<u8> {
    let descriptor = proto.descriptor();
    let mut message = DynamicMessage::decode(descriptor, &*proto.encode_to_vec()).expect("a descriptor");
    interpret(&mut message);
    message.encode_to_vec()
}

fn interpret(message: &mut DynamicMessage) {
    for (_, value) in message.fields_mut() {
        match value {
            Value::Message(inner) => interpret(inner),
            Value::List(list) => list.iter_mut().filter_map(Value::as_message_mut).for_each(interpret),
            _ => {}
        }
    }
    let Some(Value::List(options)) = message.take_field_by_name("uninterpreted_option") else { return };
    for option in &options {
        let option = option.as_message().expect("an option").get_field_by_name("string_value");
        let bytes = option.as_ref().and_then(|value| value.as_bytes()).expect("its bytes");
        message.merge(&**bytes).expect("an option's bytes");
    }
}
