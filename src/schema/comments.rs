//! Comments: what source info says about a definition.

use std::ops::Range;

use super::outline::Raw;
use crate::wire::Reader;

/// `SourceCodeInfo.location`, and fields of it.
const LOCATION: u32 = 1;
const PATH: u32 = 1;
const LEADING: u32 = 3;
const TRAILING: u32 = 4;

/// Where the comments of a file are.
#[derive(Clone, Debug, Default)]
pub(super) struct Comments {
    /// The paths of what has comments, ascending, and the bytes of their locations in the source info.
    locations: Vec<(Box<[i32]>, Range<usize>)>,
}

impl Comments {
    /// The comments in `info`, a serialized `SourceCodeInfo`.
    pub(super) fn new(info: &[u8]) -> Self {
        let commented = |location: &Raw| [LEADING, TRAILING].iter().any(|n| location.list(*n).next().is_some());
        let locations = Raw(info).list(LOCATION).map(|(_, location)| location).filter(commented);
        let mut locations: Vec<_> =
            locations.filter_map(|location| Some((path(location)?, location.range_in(info)))).collect();
        // The sort is stable, so the first of several comments is found.
        locations.sort_by(|(a, _), (b, _)| a.cmp(b));
        locations.dedup_by(|next, first| next.0 == first.0);
        Comments { locations }
    }

    /// The comment before what is at `path`, else the one behind it; of the same `info`.
    pub(super) fn at(&self, info: &[u8], path: &[i32]) -> Option<Vec<u8>> {
        let at = self.locations.binary_search_by(|(p, _)| (**p).cmp(path)).ok()?;
        let (_, range) = self.locations.get(at)?;
        let location = Raw(info.get(range.clone())?);
        let comment =
            |number| location.list(number).last().map(|(_, text)| tidy(text.0)).filter(|text| !text.is_empty());
        comment(LEADING).or_else(|| comment(TRAILING))
    }
}

/// The path of a location, packed or not.
fn path(location: Raw) -> Option<Box<[i32]>> {
    let mut path = Vec::new();
    let mut r = Reader::new(location.0);
    while !r.is_empty() {
        let tag = r.tag().ok()?;
        if tag == PATH << 3 {
            path.push(r.varint().ok()? as i32);
        } else if tag == PATH << 3 | 2 {
            let mut packed = Reader::new(r.bytes().ok()?);
            while !packed.is_empty() {
                path.push(packed.varint().ok()? as i32);
            }
        } else {
            r.skip(tag, 1).ok()?;
        }
    }
    Some(path.into())
}

/// A comment without the space that mostly follows its marks, and without what is empty at its end.
fn tidy(text: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = text.split(|b| *b == b'\n').map(|line| line.strip_prefix(b" ").unwrap_or(line)).collect();
    lines.join(&b'\n').trim_ascii_end().to_vec()
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use prost_types::SourceCodeInfo;
    use prost_types::source_code_info::Location;

    use super::*;

    fn location(path: &[i32], leading: Option<&str>, trailing: Option<&str>) -> Location {
        Location {
            path: path.into(),
            leading_comments: leading.map(str::to_owned),
            trailing_comments: trailing.map(str::to_owned),
            ..Location::default()
        }
    }

    #[test]
    fn comments_are_tidied() {
        for (comment, tidied) in [
            (" One line.\n", "One line."),
            (" Two\n lines.\n", "Two\nlines."),
            ("none\n   indented\n\n", "none\n  indented"),
            (" block \n", "block"),
            ("\r\n a\r\n", "\r\na"),
            (" \n", ""),
            ("", ""),
        ] {
            assert_eq!(tidy(comment.as_bytes()), tidied.as_bytes(), "{comment:?}");
        }
        assert_eq!(tidy(b" \xff\n \xe9"), b"\xff\n\xe9");
    }

    #[test]
    fn comments_are_found_by_path() {
        let info = SourceCodeInfo {
            location: vec![
                location(&[], None, None),
                location(&[4, 1], Some(" second"), None),
                location(&[4, 0], None, Some(" behind")),
                location(&[4, 0, 2, 300], Some(" before"), Some(" behind")),
                location(&[4, 1], Some(" again"), None),
                location(&[5, 0], Some("\n"), Some(" other")),
            ],
        }
        .encode_to_vec();
        let comments = Comments::new(&info);
        let at = |path: &[i32]| comments.at(&info, path).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(at(&[4, 1]).as_deref(), Some("second"));
        assert_eq!(at(&[4, 0]).as_deref(), Some("behind"));
        assert_eq!(at(&[4, 0, 2, 300]).as_deref(), Some("before"));
        assert_eq!(at(&[5, 0]).as_deref(), Some("other"));
        assert_eq!(at(&[]), None);
        assert_eq!(at(&[4]), None);
    }

    #[test]
    fn what_is_malformed_has_no_comments() {
        let info = b"\x0a\x06\x0a\x02\x04\x00\x1a\x00\x0a\x05\x08\x04\x08\x01\x1a";
        let comments = Comments::new(info);
        assert_eq!(comments.locations.len(), 1);
        assert_eq!(comments.at(info, &[4, 1]), None);
        // A path that is not packed.
        let info = b"\x0a\x07\x08\x04\x08\x01\x1a\x01c";
        assert_eq!(Comments::new(info).at(info, &[4, 1]), Some(b"c".to_vec()));
    }
}
