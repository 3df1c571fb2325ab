//! What each level of a text is indented by.

/// A little white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indent {
    text: [u8; Indent::LONGEST],
    len: usize,
}

impl Indent {
    /// How long it may be.
    pub const LONGEST: usize = 16;

    /// `text`, if that is spaces and tabs, and not too many.
    pub fn new(text: &[u8]) -> Option<Self> {
        let mut indent = Indent { text: [b' '; Self::LONGEST], len: text.len() };
        indent.text.get_mut(..text.len())?.copy_from_slice(text);
        text.iter().all(|b| matches!(b, b' ' | b'\t')).then_some(indent)
    }

    /// That many spaces, if they are not too many.
    pub const fn spaces(n: i64) -> Option<Self> {
        if n < 0 || n > Self::LONGEST as i64 {
            return None;
        }
        Some(Indent { text: [b' '; Self::LONGEST], len: n as usize })
    }

    /// Itself as text.
    pub fn as_str(&self) -> &str {
        self.text.get(..self.len).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default()
    }
}

impl Default for Indent {
    fn default() -> Self {
        Indent { text: [b' '; Self::LONGEST], len: 2 }
    }
}
