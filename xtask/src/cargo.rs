//! Calling cargo, and where its results lie.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Errors of xtask end in one printed line, so any kind will do.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How the tools are built.
#[derive(Clone, Copy, PartialEq)]
pub enum Profile {
    /// The one profile of development, tests and CI.
    Dev,
    /// Fully optimised.
    Release,
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the root")
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Where the tools of a profile lie.
pub fn tools(profile: Profile) -> PathBuf {
    target().join(if profile == Profile::Release { "release" } else { "debug" })
}

/// The folder of LLVM's tools.
pub fn llvm_bin() -> PathBuf {
    std::env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from).join("bin")
}

/// `cargo ARGS` in the root.
pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    // What cargo sets for us must not reach the build scripts of the cargo we start: they would run again.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST")) {
        command.env_remove(name);
    }
    command
}

/// Runs `cargo ARGS`; false if it failed.
pub fn run(args: &[&str]) -> Result<bool> {
    Ok(command(args).status()?.success())
}

/// Builds the whole workspace.
pub fn build(profile: Profile) -> Result<bool> {
    let mut args = vec!["build", "--workspace"];
    match profile {
        Profile::Release => args.push("--release"),
        Profile::Dev => args.extend(["--lib", "--bins", "--examples"]),
    }
    run(&args)
}

/// Builds some tools. Of the whole workspace and with its examples, which want the dependencies of tests, so that dependencies have the features
/// that they have in [`build`].
pub fn build_tools(profile: Profile, tools: &[String]) -> Result<bool> {
    let mut args = vec!["build", "--workspace", "--examples"];
    args.extend(tools.iter().flat_map(|tool| ["--bin", tool]));
    // They open the compiler's library, which is to be of the same build.
    if tools.iter().any(|tool| OPENS_COMPILER.contains(&tool.as_str())) {
        args.push("--lib");
    }
    if profile == Profile::Release {
        args.push("--release");
    }
    run(&args)
}

/// The tools that open `libstrata_compiler.so`.
const OPENS_COMPILER: [&str; 2] = ["rs-cache", "rs-run"];

/// Builds the tools and libraries that are handed out, with LLVM and MLIR inside. They lie in a target folder of their own,
/// because the build scripts of what links LLVM do not notice that the kind of linking changed.
pub fn build_static() -> Result<bool> {
    let target = target().join("static");
    let mut args = vec!["build", "--release"];
    args.extend(
        ["strata-tools", "strata-toolbox", "strata-compiler", "strata-torch-ops", "strata-c", "strata-python"]
            .into_iter()
            .flat_map(|package| ["--package", package]),
    );
    let built = command(&args).arg("--target-dir").arg(&target).env("MLIR_SYS_LINK_SHARED", "0").status()?.success();
    if built {
        println!("built in {}", target.join("release").display());
    }
    Ok(built)
}

/// Format, clippy and rustdoc. All three run, and the last line names those that failed: their own output lies far above it.
pub fn lint() -> Result<bool> {
    for component in ["clippy", "fmt"] {
        if !command(&[component, "--version"]).output()?.status.success() {
            let name = if component == "fmt" { "rustfmt" } else { component };
            Command::new("rustup").args(["component", "add", name]).status()?;
        }
    }
    let format = run(&["fmt", "--all", "--check"])?;
    let clippy = run(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    let doc = command(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").status()?.success();
    let failed: Vec<_> = [("cargo fmt --all", format), ("clippy", clippy), ("rustdoc", doc)]
        .into_iter()
        .filter_map(|(name, passed)| (!passed).then_some(name))
        .collect();
    if !failed.is_empty() {
        eprintln!("lint: failed: {}", failed.join(", "));
    }
    Ok(failed.is_empty())
}
