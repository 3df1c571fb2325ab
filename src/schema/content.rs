//! The bytes of a file, as keys of maps: hashed once, compared whenever it matters.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// How deep messages, and unknown groups, may nest in a file.
pub(super) const DEPTH: u32 = 100;

/// A serialized `FileDescriptorProto` without its name and source info: what makes two files equal.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// Which no one can foresee: descriptors may come from an attacker.
    hash: u64,
    bytes: Arc<[u8]>,
}

impl Content {
    pub(super) fn new(bytes: &[u8]) -> Self {
        static KEYS: OnceLock<RandomState> = OnceLock::new();
        Content { hash: KEYS.get_or_init(RandomState::new).hash_one(bytes), bytes: bytes.into() }
    }
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.bytes, &other.bytes) || self.bytes == other.bytes)
    }
}

impl Eq for Content {}

impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}
