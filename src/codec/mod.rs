//! Events to Lua values and Lua values to events: the sinks and sources of the table form
//! and of the flat form.
//!
//! What stands on the Lua stack while the kernel runs is described where each type is.

#![deny(clippy::indexing_slicing, clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod bindings;
mod chains;
mod copied;
mod defaults;
mod flat_sink;
mod flood;
mod keys;
mod map_form;
mod odd;
mod path_sink;
mod proxy;
mod rules;
mod shape;
mod show;
mod source;
mod table_sink;
mod values;
mod walks;
mod worklist;

pub use bindings::{
    Bindings, FIRST_FREE_PIN, PIN_ARRAY, PIN_EPOCH, PIN_MAP, PIN_METAS, PIN_SET, PIN_UNKNOWN, UNKNOWN_KEY,
};
pub use defaults::push_default;
pub use flat_sink::FlatSink;
pub use flood::{Flood, Watch};
pub use path_sink::PathSink;
pub use rules::{Defaults, Rules};
pub use show::Shown;
pub use source::{DOTTED, FLAT, StackSource, TABLES};
pub use table_sink::TableSink;
pub use walks::{attach, extract, has};
