//! Makes a program smaller as long as it stays interesting: `rs-reduce`.
//!
//! A change is made to a copy of the program. It is kept when the copy is valid, smaller, and still what the caller looks for;
//! so no change needs to know whether it is allowed. Changes are tried on many ops at once first, then on fewer and fewer, and
//! all over again until a whole round finds nothing: what is left cannot be made smaller by any one of them.

mod edit;
mod instead;

use crate::Error;
use crate::source_file::SourceFile;
use edit::Edit;
use instead::Instead;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;
use strata_core::ir::{Module, Op};
use strata_core::registry::{Registry, load_dialect};
use strata_core::upstream::arith;

/// A program that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Its text.
    pub text: String,
    /// How many programs were looked at.
    pub tried: usize,
    /// How many changes were kept.
    pub kept: usize,
}

/// A program that could not be made smaller.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ReduceError {
    #[error(transparent)]
    Read(#[from] Error),
    #[error("the program is not interesting as it is, so there is nothing to look for; run the test on it by hand")]
    NotInteresting,
    #[error("the test could not be run: {0}")]
    Test(#[from] std::io::Error),
}

/// Whether a text is what the caller looks for.
type Test<'t> = dyn FnMut(&str) -> std::io::Result<bool> + 't;

/// Makes the program of a `.pt2` or `.mlir` file smaller.
pub fn reduce(registry: &'static Registry, path: &Path, interesting: &mut Test<'_>) -> Result<Reduced, ReduceError> {
    let context = registry.pooled_context();
    // For the constants that stand for what was computed.
    load_dialect(&context, "arith");
    let best = SourceFile::from(path).read(&context)?.module;
    if !interesting(&best.to_string())? {
        return Err(ReduceError::NotInteresting);
    }
    let mut search = Search { best, interesting, seen: HashSet::new(), tried: 1, kept: 0 };
    loop {
        let before = search.kept;
        for edit in Edit::ALL {
            search.sweep(edit)?;
        }
        if search.kept == before {
            return Ok(Reduced { text: search.best.to_string(), tried: search.tried, kept: search.kept });
        }
    }
}

struct Search<'c, 't, 'f> {
    best: Module<'c>,
    interesting: &'f mut Test<'t>,
    /// Hashes of the texts that were looked at.
    seen: HashSet<u64>,
    tried: usize,
    kept: usize,
}

impl Search<'_, '_, '_> {
    /// Tries one kind of change everywhere, from the end of the program to its start: users go before what they use.
    fn sweep(&mut self, edit: Edit) -> Result<(), ReduceError> {
        let mut chunk = edit.count(self.best.op());
        while chunk > 0 {
            let mut end = edit.count(self.best.op());
            while end > 0 {
                let start = end.saturating_sub(chunk);
                // One by one, every value that may stand for the result is worth a try.
                let ways = if chunk == 1 && edit == Edit::Op { Instead::ALL } else { &Instead::ALL[..1] };
                for &way in ways {
                    if self.attempt(edit, start..end, way)? {
                        break;
                    }
                }
                end = start;
            }
            chunk /= 2;
        }
        Ok(())
    }

    /// Tries one change; says whether it was kept.
    fn attempt(&mut self, edit: Edit, range: Range<usize>, way: Instead) -> Result<bool, ReduceError> {
        let next = self.best.duplicate();
        edit.apply(next.op(), range, way);
        if weight(next.op()) >= weight(self.best.op()) || next.op().check().is_err() {
            return Ok(false);
        }
        let text = next.to_string();
        let mut hash = DefaultHasher::new();
        text.hash(&mut hash);
        if !self.seen.insert(hash.finish()) {
            return Ok(false);
        }
        self.tried += 1;
        if !(self.interesting)(&text)? {
            return Ok(false);
        }
        self.best = next;
        self.kept += 1;
        Ok(true)
    }
}

/// How large a program is. What may stand for an op (a constant with its value, an argument) is smaller than any op.
fn weight(module: Op<'_>) -> usize {
    let mut weight = 0;
    module.walk(&mut |op| {
        weight += if op.isa::<arith::Constant>() { 2 } else { 4 };
        for (_, attr) in op.attrs() {
            let elements = attr.as_dense().is_some_and(|(_, splat)| !splat);
            weight += 1 + usize::from(elements) + attr.as_type().map_or(0, |ty| edit::arity(ty));
        }
    });
    weight
}
