//! `./x test onnx` and `./x test stablehlo`: the tests of another package, made by the package itself and run as a suite.

use std::process::{Command, Stdio};

use crate::cargo::{self, Profile, Result};
use crate::python::environment;
use crate::suite::{Count, number_before};

/// A suite that a script makes.
pub struct Made {
    /// The folders of its cases and of its virtual environment.
    name: &'static str,
    /// The script that writes the cases.
    script: &'static str,
    /// The packages that it needs.
    needed: &'static [&'static str],
}

/// The node tests of the `onnx` package.
pub const ONNX: Made =
    Made { name: "onnx", script: "test/conformance/onnx_cases.py", needed: &["onnx>=1.20", "torch>=2.14", "numpy", "safetensors"] };
/// JAX's tests of its primitives, of which StableHLO's own test data is made.
pub const STABLEHLO: Made = Made {
    name: "stablehlo",
    script: "test/conformance/jax_cases.py",
    needed: &["jax>=0.10", "absl-py", "torch>=2.14", "numpy", "safetensors"],
};

impl Made {
    /// Makes and runs the cases. A program that is refused is no failure: what is refused is said by name. Anything else is.
    pub fn test(&self, filter: Option<&str>) -> Result<Count> {
        let python = match environment(self.name, self.needed) {
            Ok(python) => python,
            Err(error) => {
                println!("left out: {error}");
                return Ok(Count::default());
            }
        };
        let folder = cargo::target().join(format!("{}-cases", self.name));
        let mut make = Command::new(&python);
        make.arg(cargo::root().join(self.script)).arg(&folder).args(filter.map(|filter| format!("--filter={filter}")));
        if !make.status()?.success() {
            return Err("the cases cannot be made".into());
        }
        let mut command = Command::new(cargo::tools(Profile::Dev).join("rs-run"));
        let done = command.arg("--suite").arg(&folder).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8_lossy(&done.stdout);
        let (refused, failing): (Vec<&str>, Vec<&str>) =
            text.lines().filter(|line| line.starts_with("FAIL ")).partition(|line| line.contains(": refused: "));
        failing.iter().for_each(|line| println!("{line}"));
        let last = text.lines().rev().find(|line| line.contains(" passed, ")).ok_or("rs-run printed no line `N passed, M failed`")?;
        println!("{} cases are refused", refused.len());
        Ok(Count { passed: number_before(last, "passed"), failed: failing.len() })
    }
}
