//! The crate that `./x new-crate` writes builds outside of the tree, and its tests pass.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

#[test]
fn a_new_crate_builds_and_passes_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask/ lies in the root");
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    // Always the same place: what was built for it before is built for it still.
    let folder = target.join("new-crate/row-statistics");
    let _ = fs::remove_dir_all(&folder);
    let run = |program: &str, args: &[&str], at: &Path| {
        let mut command = Command::new(program);
        // What cargo sets for this test is not for the crate's.
        for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST")) {
            command.env_remove(name);
        }
        let done = command.args(args).current_dir(at).env("X_FROM", &target).output().expect("it starts");
        let text = [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(done.status.success(), "{program} {args:?}\n{text}");
        text
    };
    run(env!("CARGO_BIN_EXE_xtask"), &["new-crate", "new-crate/row-statistics"], root);
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    run(&cargo, &["fmt", "--check"], &folder);
    let told = run(&cargo, &["test", "--offline"], &folder);
    assert!(told.contains("the_lit_tests_pass ... ok"), "{told}");
    let help = run(&cargo, &["run", "--offline", "--quiet", "--", "opt", "--help"], &folder);
    assert!(help.contains("--remove-repeated") && help.contains("--check-semantics"), "{help}");
}
