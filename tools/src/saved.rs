//! `--rematerialise`: what a backward reads of the forward, and the memory of a call.

use strata_runtime::Manifest;

/// A line about a program in which values are computed again; nothing about others.
pub fn line(manifest: &Manifest) -> Option<String> {
    let saved = manifest.saved?;
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let workspace = manifest.workspace_bytes.map(|bytes| format!("; the memory of a call is {}", megabytes(bytes)));
    Some(format!("saved for the backward: {} of {}{}", megabytes(saved.bytes), megabytes(saved.before), workspace.unwrap_or_default()))
}
