//! Calls of kernels that a user brings in a library of C functions.

use strata_core::prelude::*;

use crate::prim::check;

/// Calls the C function `symbol` of the user's library `library`, which `--load-op-library` opens; `strata_ops.h` declares what it takes.
/// Or calls the operator `symbol`, as in `ns::name.overload`, of an extension that is built on PyTorch's stable ABI, which `--load-torch-op`
/// opens. Its arguments are those of its schema in order; a list begins with how many there are; what may be absent begins with 1, and is 0
/// where it is absent; what the operator writes to is no operand before the last ones, but the last of them.
///
/// It is in destination-passing style: the last operands are as many as the results. Each result begins as that tensor, and the kernel
/// writes to it. The operands before them are what the kernel reads, tensors and numbers.
///
/// C1: `library` is the name of a file without a folder, and `symbol` the name of a C function or of an operator. C2: there are as many last operands as
/// results, of their element types and ranks, and of their sizes where both are known. C3: the others are tensors, `index`, `f64` or `i1`.
#[op("capture.custom_call", effects(Pure), verify)]
pub struct CustomCall {
    operands: Variadic<AnyType>,
    results: Results<AnyType>,
    library: Attr<Str>,
    symbol: Attr<Str>,
}

impl<'c> CustomCall<'c> {
    /// The operands that the kernel reads, and those that the results begin as.
    pub fn parts(self) -> (Vec<Value<'c>>, Vec<Value<'c>>) {
        let mut read = self.operands();
        let written = read.split_off(read.len().saturating_sub(self.results().len()));
        (read, written)
    }

    /// The name that compiled programs import the kernel by. No file has a name with a colon.
    pub fn import(self) -> String {
        format!("{}:{}", self.library(), self.symbol())
    }
}

/// Whether it is the name of a C function.
fn is_function(symbol: &str) -> bool {
    symbol.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && symbol.starts_with(|c: char| !c.is_ascii_digit())
}

/// Whether it is the name of an operator of an extension: `ns::name.overload`.
fn is_operator(symbol: &str) -> bool {
    symbol.split_once("::").is_some_and(|(namespace, name)| is_function(namespace) && name.split('.').all(is_function))
}

/// The option that gives the library of a kernel.
pub fn library_option(symbol: &str) -> &'static str {
    if is_operator(symbol) { "--load-torch-op" } else { "--load-op-library" }
}

/// The library and the symbol of an import's name, where it is a kernel's.
pub fn kernel_of(import: &str) -> Option<(&str, &str)> {
    import.split_once(':')
}

impl Verify for CustomCall<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (library, symbol) = (self.library(), self.symbol());
        let is_file = !library.is_empty() && !library.contains(['/', ':']) && !library.chars().any(char::is_control);
        ensure!(is_file, 1, "`{library}` is not the name of a file without a folder");
        ensure!(
            is_function(&symbol) || is_operator(&symbol),
            1,
            "`{symbol}` is not the name of a C function, or of an operator as in `ns::name`"
        );
        let (read, written) = self.parts();
        let results = self.results();
        ensure!(written.len() == results.len(), 2, "{} results begin as {} operands", results.len(), written.len());
        for (k, (begin, result)) in written.iter().zip(&results).enumerate() {
            let (begin, ty) = (begin.ty(), result.ty());
            let same = ty.is_tensor() && begin.is_tensor() && begin.element_type().is_some() && begin.element_type() == ty.element_type();
            let fits = same && begin.rank() == ty.rank() && check::shapes_agree(&begin.shape(), &ty.shape());
            ensure!(fits, 2, "result {k} is {ty} and begins as {begin}");
        }
        let is_number = |ty: Type<'_>| ty.is_index() || ty == ty.cx().f64() || ty == ty.cx().int(1);
        for ty in read.iter().map(|value| value.ty()) {
            let taken = if ty.is_tensor() { ty.element_type().is_some() } else { is_number(ty) };
            ensure!(taken, 3, "no kernel takes a value of type {ty}");
        }
        Ok(())
    }
}
