//! Runs the lit tests of this folder: text files whose `RUN:` comments are the commands of the test.
//!
//! The library has no dependencies so that `cargo xtask` can hold it and start at once.
//! `script` reads one test file, `process` runs one command under a time limit, `runner` runs many tests in
//! parallel and reports, `bless` writes the check lines of a test anew from what the tool prints.

pub mod bless;
pub mod process;
pub mod runner;
pub mod script;
