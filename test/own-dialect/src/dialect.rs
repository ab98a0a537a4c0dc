//! The dialect `sat`: one op.

use strata_core::prelude::*;

/// The dialect.
pub static SAT: DialectDef = DialectDef { name: "sat", doc: "Arithmetic that saturates.", ops: || vec![Add::DEF], ..DialectDef::NEW };

/// The sum; where it does not fit, the largest or smallest number that does.
///
/// C1: the numbers have at most 32 bits.
#[op("sat.add", traits(Pure, Commutative, SameOperandsAndResultType), verify)]
pub struct Add {
    lhs: Operand<Int>,
    rhs: Operand<Int>,
    sum: Result<Int>,
}

impl Verify for Add<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let bits = self.lhs().ty().element_type().map_or(0, |element| element.bits());
        ensure!(bits <= 32, 1, "numbers of {bits} bits are too wide");
        Ok(())
    }
}
