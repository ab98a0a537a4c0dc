//! Machine code in pieces: every kernel is an object of its own, and the program around the kernels is one more.
//!
//! Equal kernels are compiled once, whatever they are called and wherever they stand. Pieces are compiled on all cores;
//! those that the store has are not compiled at all.

use crate::Error;
use crate::database::{Db, How, KEPT, Query, Subject, Unit, ahead, asked, stored};
use crate::incremental::unit;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};
use std::thread;
use strata_core::PooledContext;
use strata_core::ir::{Builder, Module, Op};
use strata_core::registry::{Registry, load_dialect};
use strata_core::rewrite::Rewriter;
use strata_dialects::host::MESSAGES;
use strata_dialects::loops;
use strata_dialects::loops::schedule::SCHEDULE;
use strata_lowering::codegen::{self, Alias, Emitted, PREPARE, Target, Timings};
use strata_lowering::loop_to_cpu::{functions_of, kernels_to_cpu, launch_facts, messages, program_to_cpu};
use strata_lowering::target::MathTarget;
use strata_runtime::manifest::LevelSize;
use strata_store::{Kind, Parts, content_hash};

/// What code is made for, and how.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub target: Target,
    pub options: codegen::Options,
}

impl Code {
    /// All that tells two of them apart.
    fn key(&self) -> (&str, &str, i64, bool, Option<&str>) {
        let Target { cpu, features, vector_bits, .. } = &self.target;
        (cpu, features, *vector_bits, self.options.contract, self.options.passes.as_deref())
    }
}

impl PartialEq for Code {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Code {}

impl Hash for Code {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

/// [`Code`] as an argument of queries.
#[allow(missing_docs, reason = "salsa writes methods for the fields, whose meaning is said at the fields")]
#[salsa::interned(revisions = KEPT)]
pub(crate) struct CodeId<'db> {
    #[returns(ref)]
    pub code: Code,
}

/// The objects of a program, ready to be linked: the program's own, then its kernels' in their order.
pub(crate) struct Objects {
    pub bytes: Vec<Vec<u8>>,
    /// What the program calls the functions of its kernels.
    pub aliases: Vec<Alias>,
    /// Time in code generation, added up over all threads.
    pub timings: Timings,
    /// What was noted of the program around the kernels.
    pub notes: HostNotes,
}

/// What an artefact says of the program around the kernels.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HostNotes {
    /// Texts of the status codes.
    pub messages: Vec<String>,
    /// Bytes of the call's arena.
    pub arena: Option<u64>,
    /// What the program was at the levels that lead to its code.
    pub levels: Vec<LevelSize>,
}

/// The levels between the module at hand and the code of the program around its kernels.
pub(crate) struct Rest<'a, 'c> {
    /// The passes that run.
    pub passes: String,
    /// Runs them.
    pub run: &'a mut dyn FnMut(&Module<'c>) -> Result<HostNotes, Error>,
}

/// The program around the kernels: what was noted of it, and its machine code, that which prepares weights apart.
#[derive(Clone, Debug, Default)]
struct Around {
    notes: HostNotes,
    objects: Vec<Object>,
}

/// The machine code of one kernel, or of the program around the kernels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    bytes: Vec<u8>,
    /// Nothing where it was not made now.
    timings: Timings,
}

/// A kernel: its name in the program, and its text under a name that all kernels share.
struct Kernel {
    own: String,
    text: String,
}

/// The name of every kernel in its own text.
pub(crate) const NAME: &str = "kernel";

/// Compiles a module, whose kernels have got their schedules. The module becomes the program around them, unless that is known.
pub(crate) fn objects<'c>(db: &dyn Db, module: &Module<'c>, code: &Code, rest: Rest<'_, 'c>) -> Result<Objects, Error> {
    let code_id = CodeId::new(db, code.clone());
    let (kernels, aliases) = split(module);
    let asked_for: Vec<_> = kernels.iter().map(|kernel| (db.changed(kernel.subject()), Unit::new(db, kernel.text.as_str()))).collect();
    let changed = asked_for.iter().filter(|(cause, _)| cause.is_some());
    let questions: Vec<_> = changed.map(|&(_, unit)| move |db: &dyn Db| _ = object(db, unit, code_id)).collect();
    let Around { notes, objects } = ahead(db, &questions, || program(db, module, code_id, rest))?;
    let mut all = Objects { bytes: Vec::new(), aliases, timings: Timings::default(), notes };
    for object in objects {
        all.timings += object.timings;
        all.bytes.push(object.bytes);
    }
    for (kernel, (cause, unit)) in kernels.iter().zip(asked_for) {
        let object = object(db, unit, code_id).as_ref().map_err(|error| Error::Again(error.clone()))?;
        all.bytes.push(object.bytes.clone());
        if db.record(asked(Query::Object, unit, code_id), kernel.subject(), cause) == How::Computed {
            all.timings += object.timings;
        }
    }
    Ok(all)
}

/// The same of a module at the level `host` without the database, for programs that are met once.
pub(crate) fn objects_now(registry: &'static Registry, module: &Module<'_>, code: &Code) -> Result<Objects, Error> {
    let (kernels, aliases) = split(module);
    let kernels =
        || kernels.iter().map(|kernel| code.kernel(registry, &name_of(&kernel.text), &kernel.text)).collect::<Result<Vec<_>, _>>();
    let (program, kernels) = thread::scope(|scope| {
        let kernels = scope.spawn(kernels);
        let program = program_to_cpu(module.op()).map_err(Error::from).and_then(|()| code.program(module));
        (program, kernels.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let bytes = std::iter::once(program?).chain(kernels?).map(|object| object.bytes).collect();
    let notes = HostNotes { messages: messages(module.op()), ..HostNotes::default() };
    Ok(Objects { bytes, aliases, timings: Timings::default(), notes })
}

/// The machine code of a kernel.
#[salsa::tracked(no_eq, returns(ref))]
fn object<'db>(db: &'db dyn Db, kernel: Unit<'db>, code_id: CodeId<'db>) -> Result<Object, Arc<Error>> {
    let (code, text) = (code_id.code(db), kernel.text(db));
    let name = name_of(text);
    let parts = || code.parts(db).with("kernel", &name);
    let made = stored(db, (Kind::Object, parts), Object::of_store, || code.kernel(db.registry(), &name, text), Object::to_store);
    db.note(asked(Query::Object, kernel, code_id), made.as_ref().map_or(How::Computed, |(_, how)| *how));
    Ok(made.map_err(Arc::new)?.0)
}

/// The program around the kernels, by the hash of what it follows from. It is made of the module at hand, which is no argument of a
/// query; so the answer is a place for it, which is filled once.
#[salsa::tracked(no_eq, returns(ref))]
fn program_around<'db>(_db: &'db dyn Db, _around: Unit<'db>, _make: CodeId<'db>) -> OnceLock<Around> {
    OnceLock::new()
}

/// The program around the kernels.
fn program<'c>(db: &dyn Db, module: &Module<'c>, code_id: CodeId<'_>, rest: Rest<'_, 'c>) -> Result<Around, Error> {
    let (code, content) = (code_id.code(db), content_hash(&around(module)));
    let subject = Subject { query: Query::Object, name: None, content: &content, passes: (0, &rest.passes) };
    let key = Unit::new(db, format!("{content} {}", rest.passes));
    let (cause, place, question) = (db.changed(subject), program_around(db, key, code_id), asked(Query::Object, key, code_id));
    if place.get().is_none() {
        let parts = || code.parts(db).with("program", &content).with("program's passes", &rest.passes);
        let work = || -> Result<Around, Error> {
            let notes = (rest.run)(module)?;
            program_to_cpu(module.op())?;
            let notes = HostNotes { messages: messages(module.op()), ..notes };
            let prepare = module.op().lookup_symbol(PREPARE).map(|function| preparation(db, module, function, code_id)).transpose()?;
            Ok(Around { notes, objects: std::iter::once(code.program(module)?).chain(prepare).collect() })
        };
        let (around, how) = stored(db, (Kind::Object, parts), Around::of_store, work, Around::to_store)?;
        db.note(question, how);
        // Another thread may have been faster with the same.
        _ = place.set(around);
    }
    let how = db.record(question, subject, cause);
    let mut around = place.get().cloned().unwrap_or_default();
    if how != How::Computed {
        around.objects.iter_mut().for_each(|object| object.timings = Timings::default());
    }
    Ok(around)
}

/// The machine code that prepares weights, by the hash of what it follows from: where only the program changes it stays.
#[salsa::tracked(no_eq, returns(ref))]
fn prepare_object<'db>(_db: &'db dyn Db, _prepare: Unit<'db>, _make: CodeId<'db>) -> OnceLock<Object> {
    OnceLock::new()
}

/// Takes the function that prepares weights out of a module at the level `cpu`, and gives its machine code.
fn preparation<'c>(db: &dyn Db, module: &Module<'c>, function: Op<'c>, code_id: CodeId<'_>) -> Result<Object, Error> {
    let symbols = module.body().ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, op))).collect();
    let alone = unit(module, function, &symbols);
    let mut rewriter = Rewriter::before(module.op());
    rewriter.erase(function);
    rewriter.remove_attr(alone.op(), MESSAGES);
    without_locations(alone.op());
    let key = Unit::new(db, content_hash(&alone.to_bytecode()));
    let place = prepare_object(db, key, code_id);
    if let Some(known) = place.get() {
        return Ok(Object { timings: Timings::default(), ..known.clone() });
    }
    let object = code_id.code(db).program(&alone)?;
    // Another thread may have been faster with the same.
    _ = place.set(object.clone());
    Ok(object)
}

/// What the program around the kernels follows from: its functions, and what calls and launches read of its kernels.
fn around(module: &Module<'_>) -> Vec<u8> {
    let functions = Module::new(module.cx());
    let mut kernels = String::new();
    describe(module.op(), &mut kernels);
    for op in module.body().ops() {
        if !op.isa::<loops::Kernel>() {
            without_locations(Builder::at_end(functions.body(), op.location()).clone_op(op, &[]));
            continue;
        }
        describe(op, &mut kernels);
        kernels.push_str(&launch_facts(op));
    }
    [functions.to_bytecode(), kernels.into_bytes()].concat()
}

/// Forgets where an operation and what is in it came from: a moved line is the same program.
fn without_locations(op: Op<'_>) {
    let nowhere = op.cx().unknown();
    Rewriter::before(op).relocate_all(op, &mut |_| nowhere);
}

/// An operation without its operands, its schedule and its body.
fn describe(op: Op<'_>, text: &mut String) {
    text.push_str(op.name());
    op.for_each_attr(&mut |name, attr| {
        if name != SCHEDULE {
            text.push_str(&format!(" {name} = {attr}"));
        }
    });
    op.operand_types().iter().chain(&op.result_types()).for_each(|ty| text.push_str(&format!(" {ty}")));
}

/// A context that kernels are read into.
pub(crate) fn loaded(registry: &'static Registry) -> PooledContext {
    let context = registry.pooled_context();
    for dialect in ["loop", "arith", "cf", "complex", "math", "func", "scf", "vector", "llvm"] {
        load_dialect(&context, dialect);
    }
    context
}

impl Kernel {
    fn subject(&self) -> Subject<'_> {
        Subject { query: Query::Object, name: Some(&self.own), content: &self.text, passes: (0, "") }
    }
}

impl Object {
    fn of_store(bytes: Vec<u8>) -> Option<Object> {
        Some(Object { bytes, timings: Timings::default() })
    }

    fn to_store(&self) -> Vec<u8> {
        self.bytes.clone()
    }
}

impl Around {
    /// For the store: the notes and the sizes of the objects in a line, then the objects.
    fn to_store(&self) -> Vec<u8> {
        let sizes: Vec<_> = self.objects.iter().map(|object| object.bytes.len()).collect();
        let head = serde_json::to_string(&(&self.notes, sizes)).unwrap_or_default();
        self.objects.iter().fold(format!("{head}\n").into_bytes(), |bytes, object| [bytes.as_slice(), &object.bytes].concat())
    }

    fn of_store(bytes: Vec<u8>) -> Option<Around> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (notes, sizes): (HostNotes, Vec<usize>) = serde_json::from_slice(&bytes[..end]).ok()?;
        let (mut rest, mut objects) = (&bytes[end + 1..], Vec::new());
        for size in sizes {
            let (object, behind) = rest.split_at_checked(size)?;
            objects.push(Object::of_store(object.to_vec())?);
            rest = behind;
        }
        Some(Around { notes, objects })
    }
}

impl From<Emitted> for Object {
    fn from(Emitted { object: bytes, timings, .. }: Emitted) -> Object {
        Object { bytes, timings }
    }
}

impl Code {
    /// What every object depends on.
    fn parts(&self, db: &dyn Db) -> Parts {
        let (cpu, features, vector_bits, contract, passes) = self.key();
        let parts = Parts::new().with("build", db.registry().build()).with("cpu", cpu).with("features", features);
        parts.with("vector bits", vector_bits.to_string()).with("contract", contract.to_string()).with("passes", passes.unwrap_or_default())
    }

    /// The object of a kernel's text under this name.
    fn kernel(&self, registry: &'static Registry, name: &str, text: &str) -> Result<Object, Error> {
        let context = loaded(registry);
        let module = Module::parse(&context, text, name)?;
        let mut rewriter = Rewriter::before(module.op());
        for op in module.op().find_all(loops::Kernel::NAME) {
            rewriter.set_attr(op, "sym_name", op.cx().str_attr(name));
        }
        // What the code of a kernel asks of the machine is among what objects depend on: see `parts`.
        self.target.write(&mut rewriter, module.op());
        kernels_to_cpu(module.op())?;
        self.emit(&module, codegen::Options { exports: functions_of(name).into(), ..self.options.clone() })
    }

    /// The object of a program that only calls kernels: making its code well takes longer than a small kernel's, and grows with the
    /// square of a long one.
    fn program(&self, module: &Module<'_>) -> Result<Object, Error> {
        self.emit(module, codegen::Options { quick: true, ..self.options.clone() })
    }

    /// From the level `cpu` to an object.
    fn emit(&self, module: &Module<'_>, options: codegen::Options) -> Result<Object, Error> {
        codegen::lower_to_llvm(module.op(), &MathTarget::of(&self.target))?;
        Ok(codegen::emit(module.op(), &self.target, &options)?.into())
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
        let name = name_of(&text);
        aliases.extend(functions_of(&own).into_iter().zip(functions_of(&name)));
        if known.insert(name.clone()) {
            kernels.push(Kernel { own, text });
        }
    }
    (kernels, aliases)
}

/// The name of a kernel by its content.
fn name_of(text: &str) -> String {
    format!("{NAME}_{}", &Parts::new().with("text", text).key(Kind::Object).hex()[..32])
}

/// A module of one kernel, under the name that all kernels share.
pub(crate) fn alone(kernel: Op<'_>) -> Module<'_> {
    let module = Module::new(kernel.cx());
    let mut rewriter = Rewriter::at_end(module.body(), kernel.location());
    let copy = rewriter.clone_op(kernel, &[]);
    rewriter.set_attr(copy, "sym_name", kernel.cx().str_attr(NAME));
    module
}
