//! Input: which files a descriptor set holds, byte for byte.

use std::borrow::Cow;

use super::content::DEPTH;
use crate::error::{DecodeError, SchemaError};
use crate::wire::Reader;

/// One file as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawFile<'a> {
    pub(super) name: &'a str,
    /// A serialized `FileDescriptorProto` without its name and without source info: what makes two files equal.
    pub(super) content: Cow<'a, [u8]>,
    /// The serialized source info, if there is any: comments.
    pub(super) source_info: Option<Cow<'a, [u8]>>,
}

/// Tags of `FileDescriptorProto` and `FileDescriptorSet`, both of which start with this one.
const NAME_OR_FILE: u32 = 1 << 3 | 2;
const DEPENDENCY: u32 = 3 << 3 | 2;
const SOURCE_CODE_INFO: u32 = 9 << 3 | 2;
/// The largest field number of `FileDescriptorProto`: `edition`.
const LAST_FIELD: u32 = 14;
/// Longer text is taken for no path.
const LONGEST_PATH: usize = 1_000;

/// The files in `bytes`: a `FileDescriptorSet`, or a `FileDescriptorProto` alone.
pub(super) fn files(bytes: &[u8]) -> Result<Vec<RawFile<'_>>, SchemaError> {
    if bytes.is_empty() {
        return Err(SchemaError("the descriptor set is empty".into()));
    }
    // A set has fields 1 only, each a file with a name. A file has one field 1, its name,
    // which is text, and nothing that could follow it is a field 1.
    let set = set(bytes);
    if let Ok(Some(files)) = set {
        return Ok(files);
    }
    if let Ok(None) = set
        && let Some(file) = file(bytes)
    {
        return Ok(vec![file]);
    }
    Err(SchemaError(match set {
        _ if is_source(bytes) => "this is .proto source text, not a descriptor set as protoc -o writes it".into(),
        _ if is_path(bytes) => "this is no descriptor set; register_file takes a path".into(),
        Ok(_) => "neither a FileDescriptorSet nor a FileDescriptorProto".into(),
        Err(e) => format!("not a descriptor set: {}, at byte {}", e.kind, e.offset(bytes)),
    }))
}

/// The files in `bytes` if it looks like a set.
fn set(bytes: &[u8]) -> Result<Option<Vec<RawFile<'_>>>, DecodeError> {
    let mut files = Vec::new();
    let mut is_set = true;
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let tag = r.tag()?;
        if tag == NAME_OR_FILE {
            match file(r.bytes()?) {
                Some(file) => files.push(file),
                None => is_set = false,
            }
        } else {
            is_set &= tag >> 3 > LAST_FIELD;
            r.skip(tag, DEPTH)?;
        }
    }
    Ok((is_set && !files.is_empty()).then_some(files))
}

/// The file in `bytes`, if it is one that has a name.
fn file(bytes: &[u8]) -> Option<RawFile<'_>> {
    let mut name = None;
    // Parts of a message that is split are one when they are joined.
    let mut source_info = None;
    let content = without(bytes, |tag, value| {
        match tag {
            NAME_OR_FILE => name = Reader::new(value).bytes().ok(),
            SOURCE_CODE_INFO => {
                append(source_info.get_or_insert_default(), Reader::new(value).bytes().unwrap_or_default())
            }
            _ => return false,
        }
        true
    })?;
    let name = std::str::from_utf8(name?).ok().filter(|n| is_file_name(n))?;
    Some(RawFile { name, content, source_info })
}

/// The names that the file of this content imports. `None` if it is malformed.
pub(super) fn imports(content: &[u8]) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut r = Reader::new(content);
    while !r.is_empty() {
        let tag = r.tag().ok()?;
        if tag == DEPENDENCY {
            names.push(std::str::from_utf8(r.bytes().ok()?).ok()?);
        } else {
            r.skip(tag, DEPTH).ok()?;
        }
    }
    Some(names)
}

/// Whether a file may have this name.
pub(super) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_control())
}

/// What is wrong with a file, without the number that Rust adds.
pub fn io_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" (os error ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

/// Whether `bytes` is a path, more likely than anything else: another mistake.
fn is_path(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let ending = text.rsplit_once('.').map_or("", |(_, ending)| ending);
    text.len() <= LONGEST_PATH
        && !text.contains(|c: char| c.is_control())
        && (text.contains(['/', '\\'])
            || (1..=10).contains(&ending.len()) && ending.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// Whether `bytes` is text: a common mistake.
fn is_source(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        !text.contains(|c: char| c.is_control() && !c.is_whitespace())
            && ["syntax", "message", "package"].iter().any(|word| text.contains(word))
    })
}

/// The fields in `bytes` but for those that are `dropped`, of which that gets tag and value. They are borrowed where
/// they are one piece, as they are in what protoc writes. `None` if `bytes` is malformed.
pub(super) fn without<'a>(bytes: &'a [u8], mut dropped: impl FnMut(u32, &'a [u8]) -> bool) -> Option<Cow<'a, [u8]>> {
    let mut kept = Cow::Borrowed(&[][..]);
    let mut piece = bytes;
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let field = r.rest();
        let tag = r.tag().ok()?;
        let value = r.rest();
        r.skip(tag, DEPTH).ok()?;
        if dropped(tag, value.get(..value.len().checked_sub(r.rest().len())?)?) {
            append(&mut kept, piece.get(..piece.len().checked_sub(field.len())?)?);
            piece = r.rest();
        }
    }
    append(&mut kept, piece);
    Some(kept)
}

fn append<'a>(kept: &mut Cow<'a, [u8]>, piece: &'a [u8]) {
    if kept.is_empty() {
        *kept = Cow::Borrowed(piece);
    } else if !piece.is_empty() {
        kept.to_mut().extend_from_slice(piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bytes: &[u8]) -> Vec<&str> {
        files(bytes).unwrap().iter().map(|f| f.name).collect()
    }

    #[test]
    fn sets_and_single_files_are_told_apart() {
        let file = b"\x0a\x07a.proto\x12\x01p";
        let mut set = vec![0x0a, file.len() as u8];
        set.extend_from_slice(file);
        assert_eq!(names(file), ["a.proto"]);
        assert_eq!(*files(file).unwrap()[0].content, file[9..]);
        assert_eq!(names(&set), ["a.proto"]);
        assert_eq!(*files(&set).unwrap()[0].content, file[9..]);
        set.extend_from_slice(b"\x0a\x09\x0a\x07b.proto");
        assert_eq!(names(&set), ["a.proto", "b.proto"]);
        // A file that holds nothing but its name.
        assert_eq!(names(b"\x0a\x07a.proto"), ["a.proto"]);
    }

    #[test]
    fn what_is_neither_says_so() {
        let text = |bytes| files(bytes).unwrap_err().0;
        assert_eq!(text(b""), "the descriptor set is empty");
        assert_eq!(text(b"\x12\x01p"), "neither a FileDescriptorSet nor a FileDescriptorProto");
        assert_eq!(text(b"\x0a\x02\xff\xff"), "neither a FileDescriptorSet nor a FileDescriptorProto");
        assert_eq!(text(b"\x0a\x05abc"), "not a descriptor set: truncated, 5 bytes needed, 3 left, at byte 2");
        assert_eq!(
            text(b"syntax = \"proto3\";\n"),
            "this is .proto source text, not a descriptor set as protoc -o writes it"
        );
        for path in ["addressbook.pb", "./a", "C:\\b", "/etc/a b.desc", "m\u{fc}ll/\u{4e2d}.pb"] {
            assert_eq!(text(path.as_bytes()), "this is no descriptor set; register_file takes a path");
        }
        for other in [&b"garbage"[..], b"a.b\n", b"a.", b"\xff/", b"a. b"] {
            assert!(!text(other).contains("path"), "{}", text(other));
        }
    }

    #[test]
    fn content_is_all_but_the_name_and_source_info() {
        let content = |bytes| files(bytes).unwrap().remove(0).content;
        assert!(matches!(content(b"\x0a\x01a\x12\x01p"), Cow::Borrowed(b"\x12\x01p")));
        assert!(matches!(content(b"\x12\x01p\x0a\x01a"), Cow::Borrowed(b"\x12\x01p")));
        assert_eq!(*content(b"\x12\x01p\x0a\x01a\x62\x00\x0a\x01b"), *b"\x12\x01p\x62\x00");
        assert_eq!(*content(b"\x0a\x01a"), *b"");
        assert_eq!(*content(b"\x0a\x01a\x4a\x02xx\x12\x01p\x4a\x00"), *b"\x12\x01p");
        assert!(matches!(content(b"\x0a\x01a\x12\x01p\x4a\x02xx"), Cow::Borrowed(b"\x12\x01p")));
        assert_eq!(without(b"\x0a\x05a", |_, _| false), None);
    }
}
