//! JSON, the official mapping: <https://protobuf.dev/programming-guides/json/>.
