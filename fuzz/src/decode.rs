//! Arbitrary bytes into the kernel, without Lua.

use std::sync::{Arc, LazyLock};

use protobuf_lua::error::Trace;
use protobuf_lua::kernel::probe::NullSink;
use protobuf_lua::kernel::{Budget, Context, decode};
use protobuf_lua::schema::{Flags, TypeRef, Types};

use crate::schemas;

static TYPES: LazyLock<Arc<Types>> = LazyLock::new(schemas::types);

/// The first byte picks the type.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let name = schemas::NAMES[usize::from(*first) % schemas::NAMES.len()];
    let Some(TypeRef::Message(index)) = TYPES.find(name) else { panic!("{name} is missing") };
    let set = &TYPES.set;
    let message = set.message(index).expect("it has a plan");
    let trace = Trace::default();
    let budget = Budget { depth: 100, bytes: 64 << 20 };
    let mut context = Context { set, trace: &trace, budget, required: true, utf8: Flags::UTF8 };
    let _ = decode(bytes, message, &mut NullSink, &mut context);
}
