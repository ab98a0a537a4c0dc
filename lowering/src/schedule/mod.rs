//! Schedules: how the loops of kernels run, chosen by one cost model for each machine that they run on.
//!
//! What is chosen from is the kernel and the description of the machine (`target.cpu`, `target.gpu`). Nothing here asks the machine itself.

pub mod cost;
pub mod cpu;
pub mod gpu;
pub mod slow;
pub mod split_reductions;
