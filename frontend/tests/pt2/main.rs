//! The `.pt2` reader and importer against real archives, damaged archives and random expressions.

mod corpus;
mod expr;
mod import;
mod maker;
mod malformed;
