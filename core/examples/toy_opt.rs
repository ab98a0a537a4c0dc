//! An opt tool with a dialect and a pass of its own, as a crate outside of this tree would write it.

use strata_core::prelude::*;
use strata_core::registry::Registry;

/// Adds one.
#[op("toy.inc", traits(Pure, SameOperandsAndResultType))]
pub struct Inc {
    input: Operand<Int>,
    result: Result<Int>,
}

/// Refuses functions with more increments than a budget.
#[derive(Pass)]
#[pass(name = "toy-count", anchor = "func.func")]
pub struct Count {
    /// Largest number of increments in a function.
    #[option(default = 3)]
    max: i64,
    /// Widths to look at; all when empty.
    widths: Vec<i64>,
    /// Panic instead, to see what becomes of it.
    #[option(default = false)]
    panic: bool,
    /// Increments seen.
    seen: Counter,
}

impl Pass for Count {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        assert!(!self.panic, "as asked");
        let mut incs = op.find_all(Inc::NAME);
        incs.retain(|inc| self.widths.is_empty() || self.widths.contains(&width(inc.operand(0).ty())));
        self.seen.add(incs.len());
        cx.preserve_all();
        if incs.len() as i64 > self.max {
            return Err(PassError::at(incs[self.max as usize], &format!("is one more than {}", self.max)));
        }
        Ok(())
    }
}

fn width(ty: Type<'_>) -> i64 {
    ty.element_type().map_or(0, |element| i64::from(element.bits()))
}

static TOY: DialectDef = DialectDef { name: "toy", ops: || vec![Inc::DEF], ..DialectDef::NEW };

fn main() {
    let registry = Registry::new().with_upstream().with_upstream_passes().with_dialect(&TOY).with_passes(&[PassEntry::of::<Count>()]);
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::opt_main(&registry, "toy-opt", &args));
}
