//! PyTorch's operators under their own names and schemas, on builtin tensors.

pub mod schema;

pub use schema::{Schema, schema, schema_of_target};
