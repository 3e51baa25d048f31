//! Source positions, names and types from debug info.
//!
//! Bodies are lowered in parallel, but strings, files and source types are numbered for the whole program. So a body
//! first gets numbers of its own ([`body`]), together with the texts behind them; [`types`] replaces these one body after
//! the other, in the order of functions, which makes the result independent of threads.
//!
//! Debug info is advice for reports: a missing or broken node reads as absent.

pub(crate) mod body;
pub(crate) mod describe;
pub(crate) mod mangling;
pub(crate) mod names;
mod namesakes;
pub(crate) mod types;

pub(crate) use body::{BodyNames, NamedBody};
pub use namesakes::name_in_source;

use drip_bitcode as bc;

/// How many metadata nodes and strings the module itself has: numbers from there on belong to bodies.
pub(crate) fn metadata_len(module: &bc::RawModule) -> u32 {
    let md = module.metadata();
    let exists =
        |id: u32| md.string(bc::MetadataId(id)).is_some() || md.node(bc::MetadataId(id)).is_some();
    // A node that can't be read makes the answer too small, which only costs time: a body's view has the module's nodes.
    let mut end = 1u32;
    while exists(end) && end < 1 << 30 {
        end *= 2;
    }
    let mut low = 0;
    while low < end {
        let middle = low + (end - low) / 2;
        match exists(middle) {
            true => low = middle + 1,
            false => end = middle,
        }
    }
    low
}
