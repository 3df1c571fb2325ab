//! Extensions: no two may extend a message by the same number. protoc refuses that; prost-reflect does not, and panics
//! where such a number is that of an option.

use std::collections::{HashMap, HashSet};

use prost_reflect::DescriptorPool;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use crate::schema::compile::full_name;
use crate::schema::grow::extends;
use crate::schema::hint::quoted;

/// Numbers of fields in descriptors, which are the steps of paths.
const EXTENSION: i32 = 7;
const MESSAGE: i32 = 4;
const EXTENSION_OF_MESSAGE: i32 = 6;
const NESTED: i32 = 3;
const NUMBER: i32 = 3;

/// A path in a file, and what is wrong there.
pub(super) type Refusal = (Vec<i32>, String);

/// The extensions of all files so far: the full names, by the extended message and the number.
#[derive(Default)]
pub(super) struct Extensions(HashMap<(String, i32), String>);

impl Extensions {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes in those of `file`, which sees the files `visible` of `pool`.
    pub(super) fn add(
        &mut self,
        file: &FileDescriptorProto,
        pool: &DescriptorPool,
        visible: &[String],
    ) -> Result<(), Refusal> {
        if file.extension.is_empty() && !file.message_type.iter().any(extends) {
            return Ok(());
        }
        let mut found = Found::default();
        found.extensions(file.package(), &[EXTENSION], &file.extension);
        for (message, at) in file.message_type.iter().zip(0..) {
            found.message(file.package(), &mut vec![MESSAGE, at], message);
        }
        let visible: HashSet<&str> = visible.iter().map(String::as_str).collect();
        let is_message = |name: &str| {
            found.messages.contains(name)
                || pool.get_message_by_name(name).is_some_and(|m| visible.contains(m.parent_file().name()))
        };
        for (scope, mut path, extension) in found.extensions {
            let number = extension.number();
            let extended = resolve(extension.extendee(), &scope, is_message);
            let name = full_name(&scope, extension.name());
            let place = (extended, number);
            if let Some(other) = self.0.get(&place) {
                path.push(NUMBER);
                let [name, other, extended] = [&name, other, &place.0].map(|n| quoted(n));
                return Err((
                    path,
                    format!("extensions {other} and {name} of {extended} have the same number {number}"),
                ));
            }
            self.0.insert(place, name);
        }
        Ok(())
    }
}

/// What a file defines: the full names of its messages, and its extensions with scopes and paths.
#[derive(Default)]
struct Found<'a> {
    messages: HashSet<String>,
    extensions: Vec<(String, Vec<i32>, &'a FieldDescriptorProto)>,
}

impl<'a> Found<'a> {
    fn message(&mut self, scope: &str, path: &mut Vec<i32>, message: &'a DescriptorProto) {
        let scope = full_name(scope, message.name());
        let length = path.len();
        path.push(EXTENSION_OF_MESSAGE);
        self.extensions(&scope, path, &message.extension);
        path.truncate(length);
        for (nested, at) in message.nested_type.iter().zip(0..) {
            path.extend([NESTED, at]);
            self.message(&scope, path, nested);
            path.truncate(length);
        }
        self.messages.insert(scope);
    }

    fn extensions(&mut self, scope: &str, path: &[i32], extensions: &'a [FieldDescriptorProto]) {
        for (extension, at) in extensions.iter().zip(0..) {
            self.extensions.push((scope.to_owned(), [path, &[at]].concat(), extension));
        }
    }
}

/// The full name of the message that `name` means in `scope`: that in the innermost scope which has one.
fn resolve(name: &str, scope: &str, is_message: impl Fn(&str) -> bool) -> String {
    if let Some(full) = name.strip_prefix('.') {
        return full.to_owned();
    }
    let mut scope = scope;
    loop {
        let full = full_name(scope, name);
        if scope.is_empty() || is_message(&full) {
            return full;
        }
        scope = scope.rsplit_once('.').map_or("", |(outer, _)| outer);
    }
}
