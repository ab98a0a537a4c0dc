//! Passes on PyTorch's operators.

pub mod functionalise;
pub mod outline_regions;
