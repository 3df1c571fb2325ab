//! Messages, field by field.

use prost::encoding::encode_varint;

/// A message that is being written.
#[derive(Default)]
pub struct Part {
    pub bytes: Vec<u8>,
}

impl Part {
    pub fn number(&mut self, field: u64, v: i64) {
        encode_varint(field << 3, &mut self.bytes);
        encode_varint(v as u64, &mut self.bytes);
    }

    pub fn bytes(&mut self, field: u64, bytes: &[u8]) {
        encode_varint(field << 3 | 2, &mut self.bytes);
        encode_varint(bytes.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(bytes);
    }

    pub fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    pub fn part(&mut self, field: u64, part: Part) {
        self.bytes(field, &part.bytes);
    }
}
