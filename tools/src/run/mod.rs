//! The inside of `rs-run`: running one model, and running a conformance folder in worker processes.

mod backend;
mod benchmark;
mod case;
mod gradient;
mod judge;
mod levels_report;
mod page;
mod report;
mod roofline;
pub mod single;
pub mod suite;
pub mod worker;

pub use backend::Backend;
pub use case::tolerance;
pub use levels_report::Form as ReportForm;
pub use roofline::Form;
