//! How far the option `numerics` of passes lets results be others than the program's own order of operations gives.

use strata_core::pass::PassError;

/// How far floats may move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freedom {
    /// Not at all.
    Exact,
    /// Within the error bound of the sum as written.
    Bounded,
    /// As algebra allows.
    Any,
}

impl Freedom {
    /// The freedom that an option names.
    pub fn of(numerics: &str) -> Result<Self, PassError> {
        match numerics {
            "bitwise" => Ok(Freedom::Exact),
            "ulp" => Ok(Freedom::Bounded),
            "fast" => Ok(Freedom::Any),
            other => Err(PassError::new(format!("numerics is bitwise, ulp or fast, not '{other}'"))),
        }
    }
}
