//! Kernels of a user's libraries, at the capture and the host level. Who opens the libraries lends them for a run.

use strata_core::ir::{ElementType, Op, Value as Ssa};
use strata_dialects::capture;

use super::host::{size, view};
use super::library::ELEMENTS;
use super::run::Machine;
use super::value::{InterpError, Results, Value, fail};
use super::{Scalar, Tensor};

/// Opened libraries.
pub trait Kernels: std::fmt::Debug + Send + Sync {
    /// Calls the function `symbol` of a library. It reads `read`, tensors and numbers in order, and writes over `written`. Fails with the
    /// kernel's words, or where the library is not among those that are open.
    fn call(&self, library: &str, symbol: &str, read: &[Value], written: &[Tensor]) -> Result<Vec<Tensor>, String>;
}

fn call(m: &Machine<'_>, (library, symbol): (&str, &str), read: &[Value], written: &[Tensor]) -> Result<Vec<Tensor>, InterpError> {
    let kernels = m.libraries.as_ref().ok_or_else(|| {
        let option = capture::library_option(symbol);
        fail(format!("it calls `{symbol}` of the library {library}, which is not given; give it with {option}=FOLDER/{library}"))
    })?;
    kernels.call(library, symbol, read, written).map_err(fail)
}

/// `capture.custom_call`.
pub(super) fn captured<'c>(m: &Machine<'c>, op: Op<'c>) -> Results {
    let custom = capture::CustomCall::cast(op).ok_or_else(|| fail("it is not a call of a kernel"))?;
    let (read, written) = custom.parts();
    let read = read.into_iter().map(|value| argument(m, value)).collect::<Result<Vec<_>, _>>()?;
    let written = written.into_iter().map(|value| m.tensor(value)).collect::<Result<Vec<_>, _>>()?;
    Ok(call(m, (&custom.library(), &custom.symbol()), &read, &written)?.into_iter().map(Value::Tensor).collect())
}

/// `host.custom_call`: its arguments are buffers with their sizes, and numbers.
pub(super) fn launched<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let import = op.str("import").unwrap_or_default();
    let (library, symbol) = capture::kernel_of(&import).ok_or_else(|| fail("it names no kernel"))?;
    let (ranks, dtypes) = (op.ints("ranks").unwrap_or_default(), op.ints("dtypes").unwrap_or_default());
    let (mut values, mut buffers) = (Vec::new(), Vec::new());
    let mut rest = op.operands().into_iter();
    let mut next = || rest.next().ok_or_else(|| fail("its arguments are not what its ranks say"));
    for (&rank, &dtype) in ranks.iter().zip(&dtypes) {
        let first = next()?;
        if rank < 0 {
            values.push(argument(m, first)?);
            continue;
        }
        let at = view(m, first)?;
        let shape = (0..rank).map(|_| size(m, next()?)).collect::<Result<Vec<_>, _>>()?;
        let dtype = usize::try_from(dtype).ok().and_then(|dtype| ELEMENTS.get(dtype)).ok_or_else(|| fail("no such element type"))?;
        values.push(Value::Tensor(m.memory.read(at, *dtype, &shape)?));
        buffers.push(at);
    }
    let outputs = usize::try_from(op.int("outputs").unwrap_or_default()).unwrap_or_default();
    let written = values.split_off(values.len().saturating_sub(outputs));
    let written = written.iter().map(|value| value.tensor().cloned()).collect::<Result<Vec<_>, _>>()?;
    let first = buffers.len().saturating_sub(outputs);
    for (at, tensor) in buffers[first..].iter().zip(call(m, (library, symbol), &values, &written)?) {
        m.memory.write(*at, &tensor)?;
    }
    Ok(())
}

/// A tensor, or a number of the kind that its type says.
fn argument<'c>(m: &Machine<'c>, at: Ssa<'c>) -> Result<Value, InterpError> {
    if at.ty().is_tensor() {
        return m.tensor(at).map(Value::Tensor);
    }
    let number = m.scalar(at)?;
    Ok(Value::Scalar(match at.ty().element_type() {
        Some(ElementType::Bool) => Scalar::Bool(number.truthy()),
        Some(element) if element.is_float() => Scalar::Float(number.float()),
        _ => Scalar::Int(number.int()),
    }))
}
