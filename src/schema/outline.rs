//! Outlines: where in the bytes of a file its definitions are, and where its comments.
//!
//! What plans leave out, such as options that the library does not know, is only in the bytes. An outline is made when
//! it is first asked for, once for each file, so that describing one type after the other stays cheap.

use std::collections::HashMap;
use std::ops::Range;

use super::comments::Comments;
use super::compile::full_name;
use super::content::DEPTH;
use super::set::File;
use crate::wire::Reader;

/// Field 1 of all definitions, and of their members.
const NAME: u32 = 1 << 3 | 2;

/// Where the definitions of a file are: field numbers of `FileDescriptorProto`.
const FILE: [(u32, Kind); 4] = [(4, Kind::Message), (5, Kind::Enum), (6, Kind::Service), (7, Kind::Extension)];
/// Where those within a message are: field numbers of `DescriptorProto`.
const MESSAGE: [(u32, Kind); 3] = [(3, Kind::Message), (4, Kind::Enum), (6, Kind::Extension)];

/// What is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Enum,
    Service,
    Extension,
}

/// Where a definition is.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) kind: Kind,
    /// The numbers of fields and positions in lists that lead to it from the file, as source info has them.
    pub(super) path: Box<[i32]>,
    /// Its bytes in the content of the file.
    range: Range<usize>,
}

/// Where things are in a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// By full name.
    definitions: HashMap<Box<str>, Definition>,
    pub(super) comments: Comments,
}

/// A serialized message that is known to be well-formed; of what is not, nothing is seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a>(pub(super) &'a [u8]);

impl<'a> Raw<'a> {
    /// Its length-delimited fields with their numbers, in order.
    fn all(self) -> impl Iterator<Item = (u32, Raw<'a>)> {
        let mut r = Reader::new(self.0);
        std::iter::from_fn(move || {
            while !r.is_empty() {
                let tag = r.tag().ok()?;
                if tag & 7 == NAME & 7 {
                    return Some((tag >> 3, Raw(r.bytes().ok()?)));
                }
                r.skip(tag, DEPTH).ok()?;
            }
            None
        })
    }

    /// The messages in the list that is field `number`, with their positions.
    pub(super) fn list(self, number: u32) -> impl Iterator<Item = (i32, Raw<'a>)> {
        (0..).zip(self.all().filter(move |(n, _)| *n == number).map(|(_, raw)| raw))
    }

    /// The one called `name` in the list that is field `number`.
    pub(super) fn named(self, number: u32, name: &str) -> Option<(i32, Raw<'a>)> {
        self.list(number).find(|(_, member)| member.name() == name)
    }

    /// The parts of the message that is field `number`, together.
    pub(super) fn joined(self, number: u32) -> Vec<u8> {
        let parts: Vec<&[u8]> = self.list(number).map(|(_, part)| part.0).collect();
        parts.concat()
    }

    /// The string that is field `number`.
    pub(super) fn text(self, number: u32) -> Option<&'a str> {
        let (_, last) = self.list(number).last()?;
        std::str::from_utf8(last.0).ok()
    }

    pub(super) fn name(self) -> &'a str {
        self.text(NAME >> 3).unwrap_or_default()
    }

    /// The number or boolean that is field `number`, which is written as a varint.
    pub(super) fn varint(self, number: u32) -> Option<u64> {
        let mut last = None;
        let mut r = Reader::new(self.0);
        while !r.is_empty() {
            let tag = r.tag().ok()?;
            if tag == number << 3 {
                last = Some(r.varint().ok()?);
            } else {
                r.skip(tag, DEPTH).ok()?;
            }
        }
        last
    }

    /// Where it is in `whole`, a part of which it is.
    pub(super) fn range_in(self, whole: &[u8]) -> Range<usize> {
        let start = (self.0.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
        start..start.saturating_add(self.0.len())
    }
}

impl Outline {
    fn new(file: &File) -> Self {
        let mut outline = Outline {
            definitions: HashMap::new(),
            comments: file.source_info.as_deref().map(Comments::new).unwrap_or_default(),
        };
        outline.define(&file.content, Raw(&file.content), &FILE, &file.package, &[], DEPTH);
        outline
    }

    /// Takes what is defined within `scope`, of which `raw` are the bytes, as `places` say.
    fn define(&mut self, whole: &[u8], raw: Raw, places: &[(u32, Kind)], scope: &str, path: &[i32], depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for (number, kind) in places {
            for (at, part) in raw.list(*number) {
                let name = full_name(scope, part.name());
                let path: Box<[i32]> = path.iter().copied().chain([number.cast_signed(), at]).collect();
                if *kind == Kind::Message {
                    self.define(whole, part, &MESSAGE, &name, &path, depth);
                }
                self.definitions.insert(name.into(), Definition { kind: *kind, path, range: part.range_in(whole) });
            }
        }
    }
}

impl File {
    /// Where things are in it.
    pub(super) fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::new(self))
    }

    /// The definition of that full name, and its bytes.
    pub(super) fn definition(&self, name: &str) -> Option<(&Definition, Raw<'_>)> {
        let definition = self.outline().definitions.get(name)?;
        Some((definition, Raw(self.content.get(definition.range.clone())?)))
    }

    /// The comment at `path`.
    pub(super) fn comment(&self, path: &[i32]) -> Option<Vec<u8>> {
        self.outline().comments.at(self.source_info.as_deref()?, path)
    }
}
