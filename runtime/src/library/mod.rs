//! Library kernels: what a compiled program calls instead of compiling it (`strata_lib_*`).

pub mod array;
mod bracket;
pub mod ctc;
pub mod fft;
pub mod half;
pub mod host;
mod least;
pub mod lexsort;
pub mod linalg;
pub mod math;
pub mod nms;
pub mod random;
mod ranks;
pub mod sort;
pub mod special;
pub mod true_positions;
