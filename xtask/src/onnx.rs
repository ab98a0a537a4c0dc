//! `./x test onnx`: the node tests of the `onnx` package, made by the package itself and run as a suite.

use std::process::{Command, Stdio};

use crate::cargo::{self, Profile, Result};
use crate::python::environment;
use crate::suite::{Count, number_before};

/// What writes the cases.
const NEEDED: [&str; 4] = ["onnx>=1.20", "torch>=2.14", "numpy", "safetensors"];

/// Makes and runs the cases. A model that is refused is no failure: what is refused is said by name. Anything else is.
pub fn test(filter: Option<&str>) -> Result<Count> {
    let python = match environment("onnx", &NEEDED) {
        Ok(python) => python,
        Err(error) => {
            println!("left out: {error}");
            return Ok(Count::default());
        }
    };
    let folder = cargo::target().join("onnx-cases");
    let script = cargo::root().join("test/conformance/onnx_cases.py");
    let mut make = Command::new(&python);
    make.arg(script).arg(&folder).args(filter.map(|filter| format!("--filter={filter}")));
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
