//! Passes on buffers and launches.

pub mod mark_launches;
pub mod plan_memory;
