//! The example that trains from Rust: its loss falls, and a checkpoint goes on where it was.

use std::path::{Path, PathBuf};
use std::process::Command;

fn example() -> PathBuf {
    let tool = Path::new(env!("CARGO_BIN_EXE_rs-run"));
    tool.parent().unwrap().join("examples/train_mnist_like")
}

/// The losses that it says, without PyTorch beside.
fn losses(arguments: &[&str]) -> Vec<f64> {
    let run = Command::new(example()).args(["--python", "no-python"]).args(arguments).output().unwrap();
    let text = String::from_utf8(run.stdout).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    text.lines().filter_map(|line| line.split_once(": loss ")?.1.trim().parse().ok()).collect()
}

#[test]
fn its_loss_falls_and_a_checkpoint_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint.safetensors");
    let checkpoint = checkpoint.to_str().unwrap();
    let whole = losses(&["--steps", "80"]);
    assert!(whole[9] < 0.5 * whole[0], "{whole:?}");
    losses(&["--steps", "40", "--save", checkpoint]);
    let rest = losses(&["--steps", "40", "--resume", checkpoint, "--from", "40"]);
    assert_eq!(rest.last(), whole.last());
}
