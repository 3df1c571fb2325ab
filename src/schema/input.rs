//! Input: which files a descriptor set holds, byte for byte.

use crate::error::{DecodeError, SchemaError};
use crate::wire::Reader;

/// One file as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawFile<'a> {
    pub(super) name: &'a str,
    /// A serialized `FileDescriptorProto`.
    pub(super) bytes: &'a [u8],
}

/// Tags of `FileDescriptorProto` and `FileDescriptorSet`, both of which start with this one.
const NAME_OR_FILE: u32 = 1 << 3 | 2;
const SOURCE_CODE_INFO: u32 = 9 << 3 | 2;
/// The largest field number of `FileDescriptorProto`: `edition`.
const LAST_FIELD: u32 = 14;
/// How deep unknown groups may nest in a file.
const DEPTH: u32 = 100;

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
        && let Some(name) = name(bytes)
    {
        return Ok(vec![RawFile { name, bytes }]);
    }
    Err(SchemaError(match set {
        _ if is_source(bytes) => "this is .proto source text, not a descriptor set as protoc -o writes it".into(),
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
            let bytes = r.bytes()?;
            match name(bytes) {
                Some(name) => files.push(RawFile { name, bytes }),
                None => is_set = false,
            }
        } else {
            is_set &= tag >> 3 > LAST_FIELD;
            r.skip(tag, DEPTH)?;
        }
    }
    Ok((is_set && !files.is_empty()).then_some(files))
}

/// The name of the file in `bytes`, if it is one that has a name.
fn name(bytes: &[u8]) -> Option<&str> {
    let mut name = None;
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let tag = r.tag().ok()?;
        if tag == NAME_OR_FILE {
            name = Some(r.bytes().ok()?);
        } else {
            r.skip(tag, DEPTH).ok()?;
        }
    }
    std::str::from_utf8(name?).ok().filter(|n| !n.is_empty() && !n.contains(|c: char| c.is_control()))
}

/// Whether `bytes` is text: a common mistake.
fn is_source(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        !text.contains(|c: char| c.is_control() && !c.is_whitespace())
            && ["syntax", "message", "package"].iter().any(|word| text.contains(word))
    })
}

/// The file in `bytes` without its source info, which linking has no use for and which
/// is most of a file where there is any.
pub(super) fn without_source_info(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut kept: Option<Vec<u8>> = None;
    let mut r = Reader::new(bytes);
    while !r.is_empty() {
        let start = r.rest();
        let tag = r.tag().ok()?;
        r.skip(tag, DEPTH).ok()?;
        let field = start.get(..start.len().saturating_sub(r.rest().len())).unwrap_or_default();
        if tag == SOURCE_CODE_INFO {
            let before = bytes.len().saturating_sub(start.len());
            kept.get_or_insert_with(|| bytes.get(..before).unwrap_or_default().to_vec());
        } else if let Some(kept) = &mut kept {
            kept.extend_from_slice(field);
        }
    }
    kept
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
        assert_eq!(files(file).unwrap()[0].bytes, file);
        assert_eq!(names(&set), ["a.proto"]);
        assert_eq!(files(&set).unwrap()[0].bytes, file);
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
    }

    #[test]
    fn source_info_is_taken_out() {
        assert_eq!(without_source_info(b"\x0a\x01a\x12\x01p"), None);
        assert_eq!(without_source_info(b"\x0a\x01a\x4a\x02xx\x12\x01p\x4a\x00"), Some(b"\x0a\x01a\x12\x01p".to_vec()));
    }
}
