//! Descriptions: what is registered, as a program that asks is told. What the codec goes by comes from the plans, all
//! else from the bytes of the files.

use std::collections::HashMap;
use std::sync::Arc;

use super::hint::{did_you_mean, quoted};
use super::link::Names;
use super::outline::{Kind, Raw};
use super::plan::{Default, FieldPlan, Flags, MessagePlan, Op};
use super::set::{File, Symbol};
use super::types::Types;
use super::unknown::{Named, unknown};
use crate::error::SchemaError;

type Result<T> = std::result::Result<T, SchemaError>;

/// Field numbers of `DescriptorProto`, `EnumDescriptorProto` and `ServiceDescriptorProto`.
const FIELD: u32 = 2;
const ONEOF: u32 = 8;
const RESERVED_NAME: u32 = 10;
const VALUE: u32 = 2;
const METHOD: u32 = 2;

/// What values are: of a field, or of the keys or values of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueType {
    /// The keyword, or "message", "enum", "map".
    pub keyword: &'static str,
    /// The full name of a message, group or enum.
    pub type_name: Option<Arc<str>>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// As message tables have it; of an extension the full name, in brackets only where a field has that name.
    pub name: Box<str>,
    /// What its values are; of a list, each.
    pub value: ValueType,
    /// "optional", "required", "repeated" or "map".
    pub label: &'static str,
    /// Of lists: whether they are written packed.
    pub packed: Option<bool>,
    /// "explicit" or "implicit"; not of lists and maps.
    pub presence: Option<&'static str>,
    /// What it reads as while it is absent, if it is a scalar that is no member of a oneof.
    pub default: Default,
    /// Its oneof, synthetic ones left out.
    pub oneof: Option<Box<str>>,
    /// Its key in JSON.
    pub json_name: Box<str>,
    /// Of maps: key and value.
    pub entry: Option<[ValueType; 2]>,
    /// Its comment.
    pub comment: Option<Vec<u8>>,
    /// How it is coded.
    pub plan: FieldPlan,
}

impl Field {
    /// Whether it is an extension.
    pub fn is_extension(&self) -> bool {
        self.plan.flags.has(Flags::EXTENSION)
    }
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its name.
    pub name: Box<str>,
    /// Its number, which it may share with others.
    pub number: i32,
    /// Its comment.
    pub comment: Option<Vec<u8>>,
}

/// A method of a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Its name.
    pub name: Box<str>,
    /// The full name of its request message.
    pub input: Arc<str>,
    /// The full name of its response message.
    pub output: Arc<str>,
    /// Whether the client sends a stream.
    pub client_streaming: bool,
    /// Whether the server sends a stream.
    pub server_streaming: bool,
    /// Its comment.
    pub comment: Option<Vec<u8>>,
}

/// The options of something.
#[derive(Clone, Debug)]
pub struct Options {
    /// The type of the options.
    pub plan: Arc<MessagePlan>,
    /// The options, serialized.
    pub bytes: Vec<u8>,
}

/// A type, a service, or a member of one.
struct Subject<'a> {
    file: &'a File,
    raw: Raw<'a>,
    path: Vec<i32>,
    /// The number of the field that has its options, and their type.
    options: (u32, &'static str),
}

impl Types {
    /// The fields of the message called `name`: in number order, extensions last.
    ///
    /// # Errors
    /// There is no such message.
    pub fn fields(&self, name: &str) -> Result<Vec<Field>> {
        let message = self.find_message(name).ok_or_else(|| unknown(self, name, Named::Message))?;
        let subject = self.definition(&message.name);
        let mut declared = HashMap::new();
        for (at, raw) in subject.iter().flat_map(|s| s.raw.list(FIELD)) {
            declared.insert(number(raw), (at, raw));
        }
        let mut fields = Vec::with_capacity(message.fields.len());
        for extensions in [false, true] {
            for plan in message.fields.iter().filter(|f| f.flags.has(Flags::EXTENSION) == extensions) {
                let mut field = self.field(message, plan);
                if extensions {
                    field.comment = self.extension(&field.name).and_then(|e| e.comment());
                    field.json_name = format!("[{}]", bare(&field.name)).into();
                } else if let Some(subject) = &subject
                    && let Some((at, raw)) = declared.get(&plan.number())
                {
                    field.comment = subject.comment_of(FIELD, *at);
                    field.json_name = raw.text(10).map_or_else(|| json_name(&field.name), str::to_owned).into();
                }
                fields.push(field);
            }
        }
        Ok(fields)
    }

    /// The names of fields that the message called `name` reserves.
    pub fn reserved_names(&self, name: &str) -> impl Iterator<Item = &str> {
        let names = self.definition(name).map(|subject| subject.raw.list(RESERVED_NAME));
        names.into_iter().flatten().filter_map(|(_, name)| std::str::from_utf8(name.0).ok())
    }

    /// `plan` of `message`, but for what is only in the bytes.
    fn field(&self, message: &MessagePlan, plan: &FieldPlan) -> Field {
        let flags = plan.flags;
        let label = match plan.op {
            Op::Map => "map",
            _ if plan.repeated() => "repeated",
            _ if flags.has(Flags::REQUIRED) => "required",
            _ => "optional",
        };
        let oneof = message.oneofs.get(usize::from(plan.oneof)).filter(|_| flags.has(Flags::ONEOF));
        let default = message.defaults.get(usize::from(plan.index)).filter(|_| oneof.is_none());
        let entry = (plan.op == Op::Map).then(|| self.set.message(plan.sub)).flatten();
        Field {
            name: message.names.get(usize::from(plan.index)).cloned().unwrap_or_default(),
            value: self.value_type(plan),
            label,
            packed: (label == "repeated").then_some(flags.has(Flags::PACKED)),
            presence: (!plan.repeated()).then_some(if flags.has(Flags::PRESENCE) { "explicit" } else { "implicit" }),
            default: default.cloned().unwrap_or(Default::None),
            oneof: oneof.map(|o| o.name.clone()),
            json_name: json_name(message.name_of(plan)).into(),
            entry: entry.and_then(|e| match &*e.fields {
                [key, value] => Some([key, value].map(|f| self.value_type(f))),
                _ => None,
            }),
            comment: None,
            plan: *plan,
        }
    }

    fn value_type(&self, plan: &FieldPlan) -> ValueType {
        let type_name = match plan.op {
            Op::Message | Op::Group => self.set.message(plan.sub).map(|m| m.name.clone()),
            Op::Enum => self.set.enumeration(plan.sub).map(|e| e.name.clone()),
            _ => None,
        };
        ValueType { keyword: plan.op.keyword(), type_name }
    }

    /// The values of the enum called `name`, as they were declared.
    ///
    /// # Errors
    /// There is no such enum.
    pub fn values(&self, name: &str) -> Result<Vec<Value>> {
        let subject = self.find_enum(name).and_then(|e| self.definition(&e.name));
        let subject = subject.ok_or_else(|| unknown(self, name, Named::Enum))?;
        let value = |(at, raw): (i32, Raw)| Value {
            name: raw.name().into(),
            number: raw.varint(2).unwrap_or_default() as i32,
            comment: subject.comment_of(VALUE, at),
        };
        Ok(subject.raw.list(VALUE).map(value).collect())
    }

    /// The methods of the service called `name`, as they were declared.
    ///
    /// # Errors
    /// There is no such service.
    pub fn methods(&self, name: &str) -> Result<Vec<Method>> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        let service = self.symbol(bare).filter(|(symbol, _)| *symbol == Symbol::Service);
        let (Some((_, id)), Some(subject)) = (service, self.definition(bare)) else {
            return Err(unknown(self, name, Named::Service));
        };
        let message = |name: Option<&str>| {
            let name = name.unwrap_or_default();
            // protoc writes full names, which need no list of what the file sees.
            match name.strip_prefix('.').and_then(|full| self.find_message(full)) {
                Some(message) => Ok(message.name.clone()),
                None => {
                    Names::new(&self.set, id).message(bare, name).map(|(name, _)| name.clone()).map_err(SchemaError)
                }
            }
        };
        let method = |(at, raw): (i32, Raw)| {
            Ok(Method {
                name: raw.name().into(),
                input: message(raw.text(2))?,
                output: message(raw.text(3))?,
                client_streaming: raw.varint(5).is_some_and(|b| b != 0),
                server_streaming: raw.varint(6).is_some_and(|b| b != 0),
                comment: subject.comment_of(METHOD, at),
            })
        };
        subject.raw.list(METHOD).map(method).collect()
    }

    /// The options of the type or service called `name`, or of a member of it: a field, an extension or a oneof of a
    /// message, a value of an enum, a method of a service.
    ///
    /// # Errors
    /// There is no such thing.
    pub fn options(&self, name: &str, member: Option<&str>) -> Result<Options> {
        let subject = self.subject(name, member)?;
        let (number, plan) = subject.options;
        let plan = self.find_message(plan).ok_or_else(|| unknown(self, plan, Named::Message))?;
        Ok(Options { plan: plan.clone(), bytes: subject.raw.joined(number) })
    }

    /// The comment of the same.
    ///
    /// # Errors
    /// There is no such thing.
    pub fn comment(&self, name: &str, member: Option<&str>) -> Result<Option<Vec<u8>>> {
        Ok(self.subject(name, member)?.comment())
    }

    /// The type or service called `name`, or the member of it.
    fn subject(&self, name: &str, member: Option<&str>) -> Result<Subject<'_>> {
        let bare = name.strip_prefix('.').unwrap_or(name);
        let symbol = self.symbol(bare).map(|(symbol, _)| symbol).filter(|symbol| Named::Any.admits(*symbol));
        let (Some(symbol), Some(subject)) = (symbol, self.definition(bare)) else {
            return Err(unknown(self, name, Named::Any));
        };
        let Some(member) = member else { return Ok(subject) };
        let fail =
            |what: &str, hint: String| Err(SchemaError(format!("{bare}: unknown {what} {}{hint}", quoted(member))));
        let (found, what) = match symbol {
            Symbol::Message(index) => {
                let Some(message) = self.set.message(index) else { return fail("field", String::new()) };
                let found = match message.by_name(member) {
                    Some(field) if field.flags.has(Flags::EXTENSION) => self.extension(message.name_of(field)),
                    Some(_) => subject.member(FIELD, member, (8, "google.protobuf.FieldOptions")),
                    None => subject.member(ONEOF, member, (2, "google.protobuf.OneofOptions")),
                };
                if found.is_none() {
                    let oneofs = message.oneofs.iter().map(|o| &*o.name);
                    return fail("field", did_you_mean(member, message.names.iter().map(|n| &**n).chain(oneofs)));
                }
                (found, "field")
            }
            Symbol::Enum(_) => (subject.member(VALUE, member, (3, "google.protobuf.EnumValueOptions")), "value"),
            _ => (subject.member(METHOD, member, (4, "google.protobuf.MethodOptions")), "method"),
        };
        match found {
            Some(found) => Ok(found),
            // Values and methods are both field 2.
            None => fail(what, did_you_mean(member, subject.raw.list(VALUE).map(|(_, raw)| raw.name()))),
        }
    }

    /// What defines the full name.
    fn definition(&self, name: &str) -> Option<Subject<'_>> {
        self.file_of(name)?.subject(name)
    }

    /// What defines the extension that message tables call `name`.
    fn extension(&self, name: &str) -> Option<Subject<'_>> {
        let name = bare(name);
        // Within a message it is no name of the set's.
        let file = self.file_of(name).or_else(|| self.file_of(name.rsplit_once('.')?.0))?;
        file.subject(name)
    }
}

impl File {
    fn subject(&self, name: &str) -> Option<Subject<'_>> {
        let (definition, raw) = self.definition(name)?;
        let options = match definition.kind {
            Kind::Message => (7, "google.protobuf.MessageOptions"),
            Kind::Enum => (3, "google.protobuf.EnumOptions"),
            Kind::Service => (3, "google.protobuf.ServiceOptions"),
            Kind::Extension => (8, "google.protobuf.FieldOptions"),
        };
        Some(Subject { file: self, raw, path: definition.path.to_vec(), options })
    }
}

impl<'a> Subject<'a> {
    fn comment(&self) -> Option<Vec<u8>> {
        self.file.comment(&self.path)
    }

    fn path_of(&self, number: u32, at: i32) -> Vec<i32> {
        self.path.iter().copied().chain([number.cast_signed(), at]).collect()
    }

    /// The comment of the member `at` in the list that is field `number`.
    fn comment_of(&self, number: u32, at: i32) -> Option<Vec<u8>> {
        self.file.comment(&self.path_of(number, at))
    }

    /// The member called `name` in the list that is field `number`.
    fn member(&self, number: u32, name: &str, options: (u32, &'static str)) -> Option<Subject<'a>> {
        let (at, raw) = self.raw.named(number, name)?;
        Some(Subject { file: self.file, raw, path: self.path_of(number, at), options })
    }
}

/// The number of the field that `raw` declares.
fn number(raw: Raw) -> u32 {
    raw.varint(3).and_then(|n| u32::try_from(n).ok()).unwrap_or_default()
}

/// The full name of the extension that message tables call `name`.
fn bare(name: &str) -> &str {
    name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name)
}

/// The key in JSON of a field that declares none, as protoc makes it.
fn json_name(name: &str) -> String {
    let mut upper = false;
    let mut json = String::with_capacity(name.len());
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else {
            json.push(if upper { c.to_ascii_uppercase() } else { c });
            upper = false;
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::tests::registry;

    #[test]
    fn json_names_are_those_of_protoc() {
        for (name, json) in [
            ("name", "name"),
            ("foo_bar", "fooBar"),
            ("_foo_bar", "FooBar"),
            ("Foo_Bar", "FooBar"),
            ("foo__bar_", "fooBar"),
            ("foo_1_b", "foo1B"),
            ("_", ""),
        ] {
            assert_eq!(json_name(name), json);
        }
    }

    #[test]
    fn definitions_are_found_wherever_they_stand() {
        let source = r#"
            syntax = "proto2";
            package a.b;
            message M {
                message N { enum E { ZERO = 0; } extensions 1 to 9; extend N { optional string note = 1; } }
                extend N { optional int32 count = 2; }
                oneof o { int32 x = 1; }
            }
            extend M.N { optional int32 top = 3; }
            service S { rpc Do(M) returns (M.N); rpc Stream(stream M.N) returns (stream a.b.M); }
        "#;
        let types = registry(source).types().clone();
        let path = |name: &str| types.extension(name).map(|s| s.path);
        assert_eq!(path("a.b.M"), Some(vec![4, 0]));
        assert_eq!(path("a.b.M.N"), Some(vec![4, 0, 3, 0]));
        assert_eq!(path("a.b.M.N.E"), Some(vec![4, 0, 3, 0, 4, 0]));
        assert_eq!(path("a.b.M.N.note"), Some(vec![4, 0, 3, 0, 6, 0]));
        assert_eq!(path("a.b.M.count"), Some(vec![4, 0, 6, 0]));
        assert_eq!(path("[a.b.top]"), Some(vec![7, 0]));
        assert_eq!(path("a.b.S"), Some(vec![6, 0]));
        assert_eq!(path("a.b"), None);
        assert_eq!(path("a.b.M.x"), None);

        let names: Vec<_> = types.fields("a.b.M.N").unwrap().iter().map(|f| f.name.clone()).collect();
        assert_eq!(names, ["a.b.M.N.note", "a.b.M.count", "a.b.top"].map(Box::from));
        let path = |name, member| types.subject(name, Some(member)).map(|s| s.path).map_err(|e| e.0);
        assert_eq!(path(".a.b.M", "x"), Ok(vec![4, 0, 2, 0]));
        assert_eq!(path("a.b.M", "o"), Ok(vec![4, 0, 8, 0]));
        assert_eq!(path("a.b.M.N", "[a.b.top]"), Ok(vec![7, 0]));
        assert_eq!(path("a.b.M.N.E", "ZERO"), Ok(vec![4, 0, 3, 0, 4, 0, 2, 0]));
        assert_eq!(path("a.b.S", "Stream"), Ok(vec![6, 0, 2, 1]));
        assert_eq!(path("a.b.S", "Steam"), Err(r#"a.b.S: unknown method "Steam" (did you mean "Stream"?)"#.into()));

        let methods = types.methods("a.b.S").unwrap();
        let told: Vec<_> =
            methods.iter().map(|m| (&*m.name, &*m.input, m.client_streaming, &*m.output, m.server_streaming)).collect();
        assert_eq!(told, [("Do", "a.b.M", false, "a.b.M.N", false), ("Stream", "a.b.M.N", true, "a.b.M", true)]);
    }
}
