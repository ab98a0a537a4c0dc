//! Machine code in pieces: every kernel is an object of its own, and the program around the kernels is one more.
//!
//! Equal kernels are compiled once, whatever they are called and wherever they stand. Pieces are compiled on all cores;
//! those that the store has are not compiled at all.

use crate::Error;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use strata_core::Lent;
use strata_core::ir::{Builder, Context, Module, Op};
use strata_core::registry::{Registry, load_dialect};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_lowering::codegen::{self, Alias, Emitted, Target, Timings};
use strata_lowering::loop_to_cpu::{functions_of, kernels_to_cpu, program_to_cpu};
use strata_lowering::target::MathTarget;
use strata_store::{Kind, Lookup, Parts, Store};

/// What code is made for, and how.
#[derive(Clone, Copy)]
pub(crate) struct Make<'a> {
    pub registry: &'static Registry,
    pub target: &'a Target,
    pub options: &'a codegen::Options,
    /// Objects that were made before.
    pub store: Option<&'a Store>,
}

/// The objects of a program, ready to be linked: the program's own, then its kernels' in their order.
pub(crate) struct Objects {
    pub bytes: Vec<Vec<u8>>,
    /// What the program calls the functions of its kernels.
    pub aliases: Vec<Alias>,
    /// Time in code generation, added up over all threads.
    pub timings: Timings,
}

/// One object.
struct Piece {
    object: Vec<u8>,
    timings: Timings,
}

/// A kernel: its name by its content, and its text under a name that all kernels share.
struct Kernel {
    name: String,
    text: String,
}

/// The name of every kernel in its own text.
pub(crate) const NAME: &str = "kernel";

/// Compiles a module at the level `host`, which becomes the program around its kernels.
pub(crate) fn objects(module: &Module<'_>, make: Make<'_>) -> Result<Objects, Error> {
    let (kernels, aliases) = split(module);
    let (next, made) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<(), Error> {
        let mut context = None;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(kernel) = kernels.get(at) else { return Ok(()) };
            let piece = make.piece(make.parts().with("kernel", &kernel.name), || {
                kernel.code(context.get_or_insert_with(|| loaded(make.registry)), make)
            })?;
            made.lock().unwrap_or_else(PoisonError::into_inner).push((at, piece));
        }
    };
    // This thread works too: a thread starts in about the time that a small kernel takes.
    let others = std::thread::available_parallelism().map_or(1, usize::from).min(kernels.len()).saturating_sub(1);
    let program = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..others).map(|_| scope.spawn(work)).collect();
        let program = program(module, make);
        let program = work().and(program);
        let joined = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.collect::<Result<(), _>>().and(program)
    })?;
    let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    made.sort_by_key(|(at, _)| *at);
    let mut all = Objects { bytes: Vec::new(), aliases, timings: Timings::default() };
    for piece in std::iter::once(program).chain(made.into_iter().map(|(_, piece)| piece)) {
        all.bytes.push(piece.object);
        all.timings += piece.timings;
    }
    Ok(all)
}

/// The object of the program around the kernels.
fn program(module: &Module<'_>, make: Make<'_>) -> Result<Piece, Error> {
    let parts = make.store.map_or_else(Parts::new, |_| make.parts().with_content("program", around(module).as_bytes()));
    program_to_cpu(module.op())?;
    // It only calls kernels; making its code well takes longer than a small kernel's, and grows with the square of a long one.
    make.piece(parts, || make.code(module, codegen::Options { quick: true, ..make.options.clone() }))
}

/// What the program around the kernels follows from: its functions, and of a kernel all but what its bodies compute, since that
/// decides on launches only by how many operations it takes. The code itself is a far longer text.
fn around(module: &Module<'_>) -> String {
    let functions = Module::new(module.cx());
    let mut kernels = String::new();
    describe(module.op(), &mut kernels);
    for op in module.body().ops() {
        if !op.isa::<loops::Kernel>() {
            Builder::at_end(functions.body(), op.location()).clone_op(op, &[]);
            continue;
        }
        describe(op, &mut kernels);
        for stage in op.body(0).ops() {
            describe(stage, &mut kernels);
            let ops = stage.regions().iter().flat_map(|region| region.blocks()).map(|block| block.ops().len()).sum::<usize>();
            kernels.push_str(&format!("{ops} operations\n"));
        }
    }
    format!("{functions}{kernels}")
}

/// An operation without its operands and its body.
fn describe(op: Op<'_>, text: &mut String) {
    text.push_str(op.name());
    op.for_each_attr(&mut |name, attr| text.push_str(&format!(" {name} = {attr}")));
    op.operand_types().iter().chain(&op.result_types()).for_each(|ty| text.push_str(&format!(" {ty}")));
}

/// A context that kernels are read into.
pub(crate) fn loaded(registry: &'static Registry) -> Lent {
    let context = registry.lend();
    for dialect in ["loop", "arith", "cf", "complex", "math", "func", "scf", "vector", "llvm"] {
        load_dialect(&context, dialect);
    }
    context
}

impl Kernel {
    fn code(&self, context: &Context, make: Make<'_>) -> Result<Emitted, Error> {
        let module = Module::parse(context, &self.text, &self.name)?;
        let mut rewriter = Rewriter::before(module.op());
        for op in module.op().find_all(loops::Kernel::NAME) {
            rewriter.set_attr(op, "sym_name", op.cx().str_attr(&self.name));
        }
        kernels_to_cpu(module.op())?;
        make.code(&module, codegen::Options { exports: functions_of(&self.name).into(), ..make.options.clone() })
    }
}

impl Make<'_> {
    /// What every piece depends on.
    fn parts(&self) -> Parts {
        let (target, options) = (self.target, self.options);
        let parts = Parts::new().with("build", self.registry.build()).with("cpu", &*target.cpu).with("features", &*target.features);
        parts.with("contract", options.contract.to_string()).with("passes", options.passes.clone().unwrap_or_default())
    }

    /// A piece from the store, or made now and put there.
    fn piece(&self, parts: Parts, make: impl FnOnce() -> Result<Emitted, Error>) -> Result<Piece, Error> {
        if let Some(store) = self.store
            && let Lookup::Hit(entry) = store.get(&parts.key(Kind::Object))
        {
            return Ok(Piece { object: entry.data, timings: Timings::default() });
        }
        let emitted = make()?;
        if let Some(store) = self.store {
            // A store that takes nothing costs the next compilation time, not this one its result.
            let _ = store.put(Kind::Object, &parts, &emitted.object);
        }
        Ok(Piece { object: emitted.object, timings: emitted.timings })
    }

    /// From the level `cpu` to an object.
    fn code(&self, module: &Module<'_>, options: codegen::Options) -> Result<Emitted, Error> {
        codegen::lower_to_llvm(module.op(), &MathTarget::of(self.target))?;
        Ok(codegen::emit(module.op(), self.target, &options)?)
    }
}

/// The different kernels of a module under names by their contents, and what the module calls the functions of each.
///
/// The program keeps the names that it has for its kernels: it is the same program when a kernel becomes another.
fn split(module: &Module<'_>) -> (Vec<Kernel>, Vec<Alias>) {
    let (mut kernels, mut aliases, mut known) = (Vec::new(), Vec::new(), HashSet::new());
    for op in module.op().find_all(loops::Kernel::NAME) {
        let own = op.str("sym_name").unwrap_or_default();
        let text = alone(op).to_string();
        let name = format!("{NAME}_{}", &Parts::new().with("text", &text).key(Kind::Object).hex()[..32]);
        aliases.extend(functions_of(&own).into_iter().zip(functions_of(&name)));
        if known.insert(name.clone()) {
            kernels.push(Kernel { name, text });
        }
    }
    (kernels, aliases)
}

/// A module of one kernel, under the name that all kernels share.
pub(crate) fn alone(kernel: Op<'_>) -> Module<'_> {
    let module = Module::new(kernel.cx());
    let mut rewriter = Rewriter::at_end(module.body(), kernel.location());
    let copy = rewriter.clone_op(kernel, &[]);
    rewriter.set_attr(copy, "sym_name", kernel.cx().str_attr(NAME));
    module
}
