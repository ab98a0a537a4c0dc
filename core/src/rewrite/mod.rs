//! Rewriting: the [`Rewriter`] through which patterns change IR, sets of [`Patterns`], and the drivers that apply them.

mod conversion;
mod driver;
mod in_order;
mod patterns;
mod rewriter;
mod set;
mod types;

pub use conversion::{Conversion, ConversionFailed, Extent, New};
pub use driver::{Greedy, NotConverged, apply_greedily, apply_once};
pub use in_order::apply_in_order;
pub use patterns::{Matched, NoMatch, Patterns};
pub use rewriter::Rewriter;
pub use types::{Converted, TypeConverter};
