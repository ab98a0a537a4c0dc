//! The Python package: its wheels, and its tests in a virtual environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Profile, Result};
use crate::suite::Count;

/// What builds wheels.
const BUILDERS: [&str; 3] = ["maturin>=1.9,<2", "setuptools>=77", "wheel"];
/// What the tests need beside our wheels.
const NEEDED: [&str; 4] = ["torch>=2.14", "numpy", "pytest", "expecttest"];

/// `./x wheel`: `strata-runtime` and `strata` with LLVM inside, in `target/wheels`.
pub fn wheel() -> Result<bool> {
    if !cargo::build_static()? {
        return Ok(false);
    }
    let wheels = build(Profile::Release)?;
    for wheel in &wheels {
        println!("{} ({:.1} MB)", wheel.display(), fs::metadata(wheel)?.len() as f64 / 1e6);
    }
    Ok(true)
}

/// `./x test python`: installs wheels of the development build and PyTorch, and calls them as users do.
pub fn test() -> Result<Count> {
    let python = match environment("test", &NEEDED) {
        Ok(python) => python,
        Err(error) => {
            println!("left out: {error}");
            return Ok(Count::default());
        }
    };
    let wheels = build(Profile::Dev)?;
    let install = pip(&python).args(["--force-reinstall", "--no-deps"]).args(&wheels).status()?;
    if !install.success() {
        return Err("the wheels cannot be installed".into());
    }
    // Not from the root: there the sources would stand in the way of what was installed.
    let tests = cargo::root().join("python/tests");
    let output = Command::new(&python)
        .args(["-m", "pytest", "-q", "--show-capture=no", "-p", "no:cacheprovider", "."])
        .current_dir(tests)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        print!("{text}{}", String::from_utf8_lossy(&output.stderr));
    }
    let last = text.lines().last().unwrap_or_default();
    let number = |word: &str| {
        let words: Vec<_> = last.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        words.iter().position(|found| found.starts_with(word)).and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
    };
    let count = Count { passed: number("passed"), failed: number("failed") + number("error") };
    if count.passed + count.failed == 0 { Err(format!("pytest said nothing of tests: {last}").into()) } else { Ok(count) }
}

/// Builds both wheels; gives where they are.
fn build(profile: Profile) -> Result<Vec<PathBuf>> {
    let python = environment("tools", &BUILDERS)?;
    let (folder, target) = match profile {
        Profile::Release => (cargo::target().join("wheels"), cargo::target().join("static")),
        Profile::Dev => (cargo::target().join("python/wheels"), cargo::target()),
    };
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut maturin = Command::new(&python);
    maturin.args(["-m", "maturin", "build", "--quiet", "--manifest-path", "python/Cargo.toml", "--target-dir"]).arg(&target);
    maturin.arg("--out").arg(&folder).args(["--profile", if profile == Profile::Release { "release" } else { "dev" }]);
    if profile == Profile::Release {
        maturin.env("MLIR_SYS_LINK_SHARED", "0");
    } else {
        // The wheel of the development build stays on this machine.
        maturin.args(["--compatibility", "linux"]);
    }
    if !maturin.current_dir(cargo::root()).status()?.success() {
        return Err("maturin failed".into());
    }
    // A copy, so that what setuptools writes beside its sources stays out of the tree.
    let (compiler, sources) = (cargo::target().join("python/compiler"), cargo::root().join("python/compiler"));
    let _ = fs::remove_dir_all(&compiler);
    fs::create_dir_all(compiler.join("strata_compiler"))?;
    for file in ["pyproject.toml", "setup.py", "README.md", "strata_compiler/__init__.py"] {
        fs::copy(sources.join(file), compiler.join(file))?;
    }
    let built = target.join(if profile == Profile::Release { "release" } else { "debug" }).join("libstrata_compiler.so");
    fs::copy(&built, compiler.join("strata_compiler/libstrata_compiler.so"))?;
    let mut wheel = Command::new(&python);
    wheel.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]).arg(&folder).arg(&compiler);
    if !wheel.current_dir(cargo::root()).status()?.success() {
        return Err("the wheel of the compiler cannot be built".into());
    }
    let mut wheels = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    wheels.sort();
    Ok(wheels)
}

/// A virtual environment with these packages; gives its Python.
pub fn environment(name: &str, packages: &[&str]) -> Result<PathBuf> {
    let folder = cargo::target().join("python").join(name);
    let python = folder.join("bin/python");
    if !python.exists() && !Command::new("python3").args(["-m", "venv"]).arg(&folder).status()?.success() {
        return Err("python3 makes no virtual environment here; install python3-venv".into());
    }
    if !pip(&python).args(packages).status()?.success() {
        return Err(format!("{} cannot be installed; is PyPI within reach?", packages.join(", ")).into());
    }
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    command
}
