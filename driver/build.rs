//! Tells the driver what it is built from: results of another build are not this one's.

mod sources_hash;

fn main() -> std::io::Result<()> {
    sources_hash::emit()
}
