//! PyTorch's operators under their own names and schemas, on builtin tensors.

pub mod alias;
pub mod autocast;
pub mod build;
pub mod dialect;
pub mod dtype;
pub mod float8;
pub mod foreach;
pub mod infer;
#[rustfmt::skip]
pub mod op;
pub mod operator;
pub mod results;
pub mod schema;
pub mod storage;
pub mod view;

pub use build::{Input, build};
pub use dialect::{ATEN, OPERATORS, PRIMS, is_operator};
pub use operator::Operator;
pub use schema::{Schema, schema, schema_of_target};
pub use view::{AtenError, AtenOp, Scalar, Size};
