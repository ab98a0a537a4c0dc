//! The Python package: its wheels, and its tests in a virtual environment of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Profile, Result};
use crate::suite::Count;

/// What builds wheels.
const BUILDERS: [&str; 3] = ["maturin>=1.9,<2", "setuptools>=77", "wheel"];
/// What the tests need beside our wheels.
const NEEDED: [&str; 5] = ["torch>=2.14", "numpy", "pytest", "pytest-xdist", "expecttest"];
/// Processes that share the tests: most of a test is Python's and the compiler's, on one thread.
const PROCESSES: &str = "2";

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
        .args(["-m", "pytest", "-q", "--show-capture=no", "-p", "no:cacheprovider", "-n", PROCESSES, "."])
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
    match profile {
        Profile::Release => maturin(&python, &folder, &target)?,
        Profile::Dev => pip_wheel(&python, &folder, &runtime_sources()?)?,
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
    pip_wheel(&python, &folder, &compiler)?;
    let mut wheels = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    wheels.sort();
    Ok(wheels)
}

/// The runtime's wheel for users, by maturin.
fn maturin(python: &Path, folder: &Path, target: &Path) -> Result<()> {
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--quiet", "--manifest-path", "python/Cargo.toml", "--profile", "release", "--target-dir"]);
    let built = maturin.arg(target).arg("--out").arg(folder).env("MLIR_SYS_LINK_SHARED", "0").current_dir(cargo::root()).status()?;
    if built.success() { Ok(()) } else { Err("maturin failed".into()) }
}

/// The sources of the runtime's wheel for setuptools, with the library of the development build: maturin would build that of its package alone,
/// whose dependencies have fewer features then, and all that stands on them once more.
fn runtime_sources() -> Result<PathBuf> {
    let (sources, to) = (cargo::root().join("python"), cargo::target().join("python/runtime"));
    let _ = fs::remove_dir_all(&to);
    fs::create_dir_all(to.join("strata"))?;
    for file in fs::read_dir(sources.join("strata"))?.flatten().filter(|file| file.path().is_file()) {
        fs::copy(file.path(), to.join("strata").join(file.file_name()))?;
    }
    fs::copy(cargo::tools(Profile::Dev).join("lib_native.so"), to.join("strata/_native.abi3.so"))?;
    fs::copy(sources.join("README.md"), to.join("README.md"))?;
    let text = fs::read_to_string(sources.join("pyproject.toml"))?;
    let project = text.split_once("[project]").and_then(|(_, rest)| rest.split_once("[tool.maturin]"));
    let (project, _) = project.ok_or("python/pyproject.toml has no [project] before [tool.maturin]")?;
    let project = project.replace("dynamic = [\"version\"]", concat!("version = \"", env!("CARGO_PKG_VERSION"), "\""));
    let build = "[build-system]\nrequires = [\"setuptools>=77\"]\nbuild-backend = \"setuptools.build_meta\"\n";
    let files = "[tool.setuptools]\npackages = [\"strata\"]\n\n[tool.setuptools.package-data]\nstrata = [\"*\"]\n";
    fs::write(to.join("pyproject.toml"), format!("{build}\n[project]{project}{files}"))?;
    Ok(to)
}

/// The wheel that setuptools makes of a folder.
fn pip_wheel(python: &Path, folder: &Path, sources: &Path) -> Result<()> {
    let mut wheel = Command::new(python);
    wheel.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]).arg(folder).arg(sources);
    if wheel.current_dir(cargo::root()).status()?.success() { Ok(()) } else { Err(format!("{} is no wheel", sources.display()).into()) }
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
