//! Calls of kernels that a user brings in a library of C functions.

use strata_core::ir::{AffineExpr, AffineKind};
use strata_core::prelude::*;

use crate::prim::check;

/// Calls the C function `symbol` of the user's library `library`, which `--load-op-library` opens; `strata_ops.h` declares what it takes.
/// Or calls the operator `symbol`, as in `ns::name.overload`, of an extension that is built on PyTorch's stable ABI, which `--load-torch-op`
/// opens. Its arguments are those of its schema in order; a list begins with how many there are; what may be absent begins with 1, and is 0
/// where it is absent; what the operator writes to is no operand before the last ones, but the last of them.
///
/// On a CUDA device the kernel `symbol` of the PTX in the file `ptx` does the same, where that file is given: it is started in as many blocks as
/// the map `blocks` says of the `index` operands, of `threads` threads each, with `shared` bytes of dynamic shared memory. Its parameters are
/// the addresses of the tensors, those of the results behind them, and then the numbers, each in order and of as many bits as the PTX declares,
/// which the compiler notes in `parameters`. `unused` more parameters get zero: Triton's kernels have two addresses of scratch memory that most of
/// them do not use. Elsewhere the C function is called, on a device on copies of the host.
///
/// It is in destination-passing style: the last operands are as many as the results. Each result begins as that tensor, and the kernel
/// writes to it. The operands before them are what the kernel reads, tensors and numbers.
///
/// C1: `library` is the name of a file without a folder, and `symbol` the name of a C function or of an operator. C2: there are as many last operands as
/// results, of their element types and ranks, and of their sizes where both are known. C3: the others are tensors, `index`, `f64` or `i1`.
/// C4: `ptx` is the name of a file without a folder, and stands with `blocks` and `threads`, of one to three dimensions each; `symbol` is that of a
/// C function then. C5: `blocks` has a symbol for each `index` operand and no dimensions, and divides by numbers above zero alone. C6: threads
/// are 1 to 1024, shared memory has 0 to 49152 bytes, and no number of parameters is below zero.
#[op("capture.custom_call", effects(Pure), verify)]
pub struct CustomCall {
    operands: Variadic<AnyType>,
    results: Results<AnyType>,
    library: Attr<Str>,
    symbol: Attr<Str>,
    ptx: OptAttr<Str>,
    blocks: OptAttr<Map>,
    threads: OptAttr<I64s>,
    shared: OptAttr<I64>,
    unused: OptAttr<I64>,
    parameters: OptAttr<I64s>,
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

/// Whether an expression divides by numbers above zero alone, so that no size makes it fail.
fn divides_by_numbers(expr: AffineExpr<'_>) -> bool {
    match expr.kind() {
        AffineKind::Constant(_) | AffineKind::Symbol(_) | AffineKind::Dim(_) => true,
        AffineKind::Add(a, b) | AffineKind::Mul(a, b) => divides_by_numbers(a) && divides_by_numbers(b),
        AffineKind::FloorDiv(a, by) | AffineKind::CeilDiv(a, by) | AffineKind::Mod(a, by) => {
            matches!(by.kind(), AffineKind::Constant(1..)) && divides_by_numbers(a)
        }
    }
}

/// Whether it is the name of a file without a folder.
fn is_file(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', ':']) && !name.chars().any(char::is_control)
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
        ensure!(is_file(&library), 1, "`{library}` is not the name of a file without a folder");
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
        self.verify_launch(read.iter().filter(|value| value.ty().is_index()).count())
    }
}

/// Most threads of a block, on every device: CUDA C++ Programming Guide, technical specifications by compute capability.
const MOST_THREADS: i64 = 1024;
/// Bytes of shared memory that a block gets without being asked about; the same table.
const MOST_SHARED: i64 = 48 << 10;

impl CustomCall<'_> {
    /// How a kernel in PTX is started, of so many sizes.
    fn verify_launch(self, sizes: usize) -> std::result::Result<(), Violation> {
        let (ptx, blocks, threads, shared) = (self.ptx(), self.blocks(), self.threads(), self.shared());
        let Some(ptx) = ptx else {
            ensure!(
                blocks.is_none() && threads.is_none() && shared.is_none() && self.unused().is_none(),
                4,
                "a launch without a kernel: `ptx` names its file"
            );
            return Ok(());
        };
        ensure!(is_function(&self.symbol()), 4, "a kernel in PTX has the name of a C function");
        ensure!(is_file(&ptx), 4, "`{ptx}` is not the name of a file without a folder");
        let (Some(blocks), Some(threads)) = (blocks, threads) else {
            return Err(Violation::new(4, "a kernel in PTX needs `blocks` and `threads`"));
        };
        let dims = 1..=3;
        ensure!(
            dims.contains(&blocks.results().len()) && dims.contains(&threads.len()),
            4,
            "blocks and threads have one to three dimensions"
        );
        ensure!(
            blocks.num_dims() == 0 && blocks.num_symbols() == sizes,
            5,
            "`blocks` has {} symbols for {sizes} sizes",
            blocks.num_symbols()
        );
        let divides = blocks.results().into_iter().all(divides_by_numbers);
        ensure!(divides, 5, "`blocks` divides by what is no number above zero");
        let all = threads.iter().try_fold(1i64, |all, &threads| all.checked_mul(threads).filter(|_| threads >= 1));
        ensure!(all.is_some_and(|all| all <= MOST_THREADS), 6, "a block of {threads:?} threads is none of 1 to {MOST_THREADS}");
        let shared = shared.unwrap_or_default();
        let unused = self.unused().unwrap_or_default();
        ensure!(unused >= 0, 6, "{unused} parameters are not used");
        ensure!((0..=MOST_SHARED).contains(&shared), 6, "{shared} bytes of shared memory are none of 0 to {MOST_SHARED}");
        Ok(())
    }
}
