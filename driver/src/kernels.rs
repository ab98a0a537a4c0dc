//! Kernels of a user's libraries, for the reference interpreter.

use std::sync::Arc;

use strata_core::ir::Op;
use strata_dialects::{capture, host};
use strata_interp as interp;
use strata_interp::{Kernels, Scalar, Value};
use strata_runtime::op_call::OpValue;
use strata_runtime::{OpLibraries, OpLibraryError, OpLibraryFile};

use crate::Error;
use crate::tensors::{from_runtime, to_runtime};

#[derive(Debug)]
struct Opened(OpLibraries);

/// These libraries, for a run of the interpreter; nothing where there are none.
pub(crate) fn opened(files: &[OpLibraryFile]) -> Result<Option<Arc<dyn Kernels>>, Error> {
    if files.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(Opened(OpLibraries::open(files)?))))
}

/// Refuses a library that the program calls no kernel of.
pub(crate) fn all_called(module: Op<'_>, files: &[OpLibraryFile]) -> Result<(), Error> {
    let mut called = Vec::new();
    module.walk(&mut |op| {
        called.extend(capture::CustomCall::cast(op).map(|call| call.library()));
        let import = host::CustomCall::cast(op).map(|call| call.import());
        called.extend(import.and_then(|import| Some(capture::kernel_of(&import)?.0.to_owned())));
    });
    match files.iter().find(|file| !called.contains(&file.file())) {
        Some(library) => Err(OpLibraryError::Unused { library: library.clone() }.into()),
        None => Ok(()),
    }
}

impl Kernels for Opened {
    fn call(&self, library: &str, symbol: &str, read: &[Value], written: &[interp::Tensor]) -> Result<Vec<interp::Tensor>, String> {
        let value = |value: &Value| match value {
            Value::Tensor(_) => to_runtime(value.clone()).map(OpValue::Tensor),
            Value::Scalar(Scalar::Float(number)) => Ok(OpValue::Float(*number)),
            Value::Scalar(Scalar::Bool(truth)) => Ok(OpValue::Bool(*truth)),
            Value::Scalar(Scalar::Int(number)) => i64::try_from(*number).map(OpValue::Int).map_err(|error| error.to_string()),
            other => Err(format!("no kernel takes {}", other.kind())),
        };
        let read = read.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let mut results = written.iter().map(|tensor| to_runtime(Value::Tensor(tensor.clone()))).collect::<Result<Vec<_>, _>>()?;
        self.0.call(library, symbol, &read, &mut results).map_err(|error| error.to_string())?;
        results.iter().map(from_runtime).collect()
    }
}
