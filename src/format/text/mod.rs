//! The text format: <https://protobuf.dev/reference/protobuf/textformat-spec/>.
