//! The runtime from outside: programs in images and shared libraries, weights in archives.

mod program;
mod session;
mod shared;
mod weights;
