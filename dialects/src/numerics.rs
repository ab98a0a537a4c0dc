//! How far results may be from what the program's own order of operations gives: the floating-point mode of a compilation.

use std::fmt::{self, Display};
use std::str::FromStr;
use strata_core::pass::PassError;

/// Which rewrites of arithmetic are allowed, from none to all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Numerics {
    /// None: each op rounds as the program says. In which order one reduction adds is no part of a program, and the target's choice.
    Strict,
    /// Those whose results stay within the error bound of the sum as written; products and sums may share a rounding.
    #[default]
    Ulp,
    /// All that are exact in the reals.
    Fast,
}

/// A text that names no floating-point mode.
#[derive(Debug, thiserror::Error)]
#[error("numerics is strict, ulp or fast, not '{0}'")]
pub struct UnknownNumerics(String);

impl Numerics {
    /// The mode that a pass's option names.
    pub fn of(option: &str) -> Result<Self, PassError> {
        option.parse().map_err(|error: UnknownNumerics| PassError::new(error.to_string()))
    }
}

impl FromStr for Numerics {
    type Err = UnknownNumerics;

    fn from_str(name: &str) -> Result<Self, UnknownNumerics> {
        match name {
            // The second was its name before: it promised more than the mode holds.
            "strict" | "bitwise" => Ok(Self::Strict),
            "ulp" => Ok(Self::Ulp),
            "fast" => Ok(Self::Fast),
            other => Err(UnknownNumerics(other.to_owned())),
        }
    }
}

impl Display for Numerics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strict => "strict",
            Self::Ulp => "ulp",
            Self::Fast => "fast",
        })
    }
}
