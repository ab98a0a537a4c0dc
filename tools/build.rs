//! Tells the tools what they are built from: a compiler library of another build is not theirs.

#[path = "../driver/sources_hash.rs"]
mod sources_hash;

fn main() -> std::io::Result<()> {
    sources_hash::emit()
}
