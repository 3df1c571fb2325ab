//! Arbitrary bytes into the kernel, without Lua, and through prost-reflect: both take and refuse the same, and see the
//! same values.

use std::sync::{Arc, LazyLock};

use prost_reflect::{DescriptorPool, DynamicMessage};
use protobuf_lua::error::{Kind, Trace};
use protobuf_lua::format::{self, Span, Tree};
use protobuf_lua::kernel::probe::{Events, NullSink, TraceSink};
use protobuf_lua::kernel::{Budget, Context, Sink, decode};
use protobuf_lua::schema::{Flags, MessagePlan, Set, Types};
use protobuf_lua::wire::Writer;

use crate::compare::Ours;
use crate::reflected::{is_utf8, mismatched, same, strange};
use crate::schemas;

const ENOUGH: Budget = Budget { depth: 100, bytes: 64 << 20 };
/// Longer inputs are not written down.
const TRACED: usize = 256;

static TYPES: LazyLock<Arc<Types>> = LazyLock::new(schemas::types);
static BARE: LazyLock<(Arc<Types>, DescriptorPool)> = LazyLock::new(schemas::bare);

/// The first byte picks the type.
pub fn run(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let name = schemas::NAMES[usize::from(*first) % schemas::NAMES.len()];
    alone(name, bytes);
    beside_prost(name, bytes);
}

/// With extensions and required fields.
fn alone(name: &str, bytes: &[u8]) {
    let set = &TYPES.set;
    let message = TYPES.find_message(name).expect("the type");
    let taken = take(bytes, message, set, true, &mut NullSink);
    if bytes.len() <= TRACED {
        let events = &mut Events::default();
        assert_eq!(take(bytes, message, set, true, &mut TraceSink::<true>(events)), taken, "traced");
    }
}

/// What is wrong, and where.
type Fault = (Kind, usize);

fn context<'a>(set: &'a Set, trace: &'a Trace, required: bool) -> Context<'a> {
    Context { set, trace, budget: ENOUGH, required, utf8: Flags::UTF8 }
}

fn take<S: Sink>(bytes: &[u8], m: &MessagePlan, set: &Set, required: bool, sink: &mut S) -> Result<(), Fault> {
    let trace = Trace::default();
    let mut context = context(set, &trace, required);
    decode(bytes, m, sink, &mut context).map_err(|error| {
        let offset = error.offset(bytes);
        assert!(offset <= bytes.len(), "{error:?} lies within the input");
        (error.kind, offset)
    })
}

fn beside_prost(name: &str, bytes: &[u8]) {
    let (types, pool) = &*BARE;
    let message = types.find_message(name).expect("the type");
    let desc = pool.get_message_by_name(name).expect("the type");
    let set = &types.set;
    let mut tree = Tree::new(false);
    let ours = read(bytes, message, set, &mut tree);
    let theirs = DynamicMessage::decode(desc.clone(), bytes);
    if mismatched(&desc, &mut &*bytes).unwrap_or(false) {
        return;
    }
    match (ours, theirs) {
        (Ok(root), Ok(theirs)) => {
            let again = write(root, message, set, &tree);
            let again = DynamicMessage::decode(desc, &*again).expect("what was encoded");
            let equal = || (Ours { tree: &tree, set }).same(root, message, &theirs) && same(&again, &theirs);
            assert!(strange(&theirs) || equal(), "{again} instead of {theirs}");
        }
        (Ok(_), Err(error)) => assert!(is_utf8(&error.to_string()), "taken, though {error}"),
        // The levels are not counted alike.
        (Err((Kind::Depth, _)), Ok(_)) | (Err(_), Err(_)) => {}
        (Err((kind, at)), Ok(_)) => panic!("refused: {kind}, at byte {at}"),
    }
}

fn read(bytes: &[u8], m: &MessagePlan, set: &Set, tree: &mut Tree) -> Result<Span, Fault> {
    let trace = Trace::default();
    let mut context = context(set, &trace, false);
    let root = format::decode(bytes, m, tree, &mut context).map_err(|error| (error.kind, error.offset(bytes)));
    assert_eq!(root.err(), take(bytes, m, set, false, &mut NullSink).err(), "both sinks take the same");
    root
}

fn write(root: Span, m: &MessagePlan, set: &Set, tree: &Tree) -> Vec<u8> {
    let trace = Trace::default();
    let mut context = context(set, &trace, false);
    let mut writer = Writer::default();
    format::encode(tree, root, m, &mut writer, &mut context).expect("it encodes what it decoded");
    writer.written().to_vec()
}
