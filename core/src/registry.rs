//! What a tool knows: dialects (and, once per process, passes).

use crate::context_pool::{ContextPool, PooledContext};
use crate::dialect::{DialectDef, registered};
use crate::ir::{Context, string_ref};
use crate::pass::{Addition, PassEntry, PipelineDef, register_pass, register_pipeline};
use melior::dialect::DialectRegistry;
use mlir_sys::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Once, OnceLock, PoisonError};
use strata_core_sys::{strata_register_dialect, strata_register_upstream, strata_register_upstream_passes};

/// What a tool is made of: dialects, from which contexts are made, passes and pipelines.
pub struct Registry {
    raw: DialectRegistry,
    dialects: Vec<&'static DialectDef>,
    passes: Vec<PassEntry>,
    pipelines: Vec<PipelineDef>,
    additions: Vec<Addition>,
    registered: Once,
    plugins: Vec<PathBuf>,
    build: Build,
    contexts: ContextPool,
}

// SAFETY: what changes a registry owns it; all others only read the dialects, which belong to no thread.
unsafe impl Send for Registry {}
// SAFETY: as above.
unsafe impl Sync for Registry {}

/// From which sources the contents of a registry were built.
#[derive(Default)]
struct Build {
    /// A hash that stands for dialects and passes.
    hash: String,
    /// How many dialects, passes and additions to pipelines it stands for.
    known: [usize; 3],
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Nothing but the builtin dialect.
    pub fn new() -> Self {
        Self {
            raw: DialectRegistry::new(),
            dialects: Vec::new(),
            passes: Vec::new(),
            pipelines: Vec::new(),
            additions: Vec::new(),
            registered: Once::new(),
            plugins: Vec::new(),
            build: Build::default(),
            contexts: ContextPool::new(),
        }
    }

    /// Adds all of MLIR's dialects, with their translations to LLVM IR.
    pub fn with_upstream(self) -> Self {
        // SAFETY: the registry is alive.
        unsafe { strata_register_upstream(self.raw.to_raw(), true) };
        self
    }

    /// Adds a dialect of ours. Panics when the process already has more dialects than the shim has room for (64).
    pub fn with_dialect(mut self, def: &'static DialectDef) -> Self {
        // SAFETY: the registry is alive, the definition lives forever.
        let fits = unsafe { strata_register_dialect(self.raw.to_raw(), registered(def)) };
        let other = known().insert(def.name, def).is_some_and(|other| !std::ptr::eq(other, def));
        assert!(!other, "two different dialects are called '{}'", def.name);
        assert!(fits, "no room for the dialect '{}': the shim holds 64", def.name);
        self.dialects.push(def);
        self
    }

    /// Adds several dialects of ours.
    pub fn with_dialects(self, defs: &[&'static DialectDef]) -> Self {
        defs.iter().fold(self, |registry, def| registry.with_dialect(def))
    }

    /// Makes MLIR's own passes known to the process.
    pub fn with_upstream_passes(self) -> Self {
        // SAFETY: no precondition; done once per process.
        unsafe { strata_register_upstream_passes() };
        self
    }

    /// Makes passes of ours known to the process. Panics when two different passes have one name.
    pub fn with_passes(mut self, passes: &[PassEntry]) -> Self {
        passes.iter().for_each(register_pass);
        self.passes.extend_from_slice(passes);
        self
    }

    /// Adds pipelines, which are known to the process by name from its first context on.
    pub fn with_pipelines(mut self, pipelines: &[PipelineDef]) -> Self {
        self.pipelines.extend_from_slice(pipelines);
        self
    }

    /// Adds a pass to a pipeline, behind the last pass of another name in it. Programs must be right without it: `--skip` leaves it out.
    /// Panics when there is no such pipeline, or no such pass in it.
    pub fn with_pass_in(mut self, pipeline: &'static str, behind: &'static str, pass: &'static str) -> Self {
        let Some(def) = self.pipelines.iter().find(|def| def.name == pipeline) else {
            panic!("there is no pipeline '{pipeline}' to add '{pass}' to");
        };
        let passes = (def.passes)();
        assert!(passes.contains(&behind), "'{pass}' cannot run behind '{behind}' in '{pipeline}', which has {}", passes.join(", "));
        self.additions.push(Addition { pipeline, behind, pass });
        self
    }

    /// Names, by a hash, the sources of all that is in it so far. What is added later is known by the executable or library that it is in.
    pub fn with_build(mut self, hash: &str) -> Self {
        self.build = Build { hash: hash.to_owned(), known: self.size() };
        self
    }

    /// How many dialects, passes and additions to pipelines it has.
    fn size(&self) -> [usize; 3] {
        [self.dialects.len(), self.passes.len(), self.additions.len()]
    }

    /// Makes its pipelines known to MLIR, when everything has been added to them.
    pub(crate) fn register_pipelines(&self) {
        self.registered.call_once(|| self.pipelines.iter().for_each(|def| register_pipeline(def, self)));
    }

    /// Notes that results depend on a plug-in.
    pub(crate) fn note_plugin(&mut self, path: &Path) {
        self.plugins.push(path.to_owned());
    }

    /// Keeps it for the rest of the process, as MLIR keeps its passes.
    pub fn leak(self) -> &'static Self {
        Box::leak(Box::new(self))
    }

    /// Its dialects of ours.
    pub fn dialects(&self) -> &[&'static DialectDef] {
        &self.dialects
    }

    /// Its passes of ours.
    pub fn passes(&self) -> &[PassEntry] {
        &self.passes
    }

    /// Its pipelines of ours.
    pub fn pipelines(&self) -> &[PipelineDef] {
        &self.pipelines
    }

    /// The passes that are added to pipelines, in the order in which they run where they run behind one pass.
    pub fn additions(&self) -> &[Addition] {
        &self.additions
    }

    /// What a cached result depends on beside its program: two registries with one build do the same.
    pub fn build(&self) -> String {
        let added = self.build.known != self.size();
        let files = added.then(this_file).into_iter().chain(self.plugins.iter().cloned());
        files.fold(self.build.hash.clone(), |build, file| format!("{build}+{}", stamp(&file)))
    }

    /// The raw registry.
    pub fn to_raw(&self) -> MlirDialectRegistry {
        self.raw.to_raw()
    }

    /// A new context that loads these dialects as it meets them.
    pub fn context(&self) -> Context {
        self.register_pipelines();
        let context = Context::new();
        context.append_dialect_registry(&self.raw);
        context
    }

    /// A context that nobody else uses at the moment, without threads of its own. It keeps the dialects that were loaded.
    pub fn pooled_context(&'static self) -> PooledContext {
        self.contexts.take(|| {
            let context = self.context();
            // Kernels and functions are shared out over the cores by whoever compiles, so MLIR's own threads would only be in the way.
            context.enable_multi_threading(false);
            context
        })
    }
}

/// The executable or shared library that this code is in.
fn this_file() -> PathBuf {
    let here = this_file as fn() -> PathBuf as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    // A line is `from-to permissions offset device inode path`, and a path may have blanks in it.
    let mapped = maps.lines().find_map(|line| {
        let (from, to) = line.split_once(' ')?.0.split_once('-')?;
        let [from, to] = [from, to].map(|address| usize::from_str_radix(address, 16).unwrap_or(0));
        (from..to).contains(&here).then(|| line.find('/').map(|at| PathBuf::from(&line[at..])))?
    });
    mapped.or_else(|| std::env::current_exe().ok()).unwrap_or_default()
}

/// A file as it stands on the disk: another build of it is another text.
fn stamp(path: &Path) -> String {
    let stamp = || {
        let data = std::fs::metadata(path).ok()?;
        let modified = data.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}:{}:{}", path.display(), data.len(), modified.as_nanos()))
    };
    // A process of unknown origin shares nothing with others.
    stamp().unwrap_or_else(|| format!("process {}", std::process::id()))
}

/// Loads one dialect of a context by name; says whether it is known.
pub fn load_dialect(context: &Context, name: &str) -> bool {
    crate::ir::Cx::from(context).load_dialect(name)
}

impl crate::ir::Cx<'_> {
    /// Loads one dialect of the context by name; says whether it is known. Not for passes, which name theirs in `dependents`.
    pub fn load_dialect(self, name: &str) -> bool {
        // SAFETY: the context and the string are alive for the call.
        let dialect = unsafe { mlirContextGetOrLoadDialect(self.to_raw(), string_ref(name)) };
        !dialect.ptr.is_null()
    }
}

/// Dialects of ours that any registry of the process has seen.
fn known() -> std::sync::MutexGuard<'static, HashMap<&'static str, &'static DialectDef>> {
    static KNOWN: OnceLock<Mutex<HashMap<&'static str, &'static DialectDef>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a dialect, ours or upstream's, to a registry: what a pass's dependent dialects need.
pub(crate) fn insert_by_name(registry: MlirDialectRegistry, name: &str) {
    let ours = known().get(name).copied();
    // SAFETY: the registry is alive; definitions live forever.
    unsafe {
        if let Some(def) = ours {
            strata_register_dialect(registry, registered(def));
        } else if let Some(handle) = upstream(name) {
            mlirDialectHandleInsertDialect(handle, registry);
        } else {
            eprintln!("warning: a pass depends on the dialect '{name}', which is neither ours nor upstream's");
        }
    }
}

/// Upstream's dialects that passes of ours make ops of.
fn upstream(name: &str) -> Option<MlirDialectHandle> {
    // SAFETY: the functions have no precondition.
    unsafe {
        Some(match name {
            "affine" => mlirGetDialectHandle__affine__(),
            "arith" => mlirGetDialectHandle__arith__(),
            "async" => mlirGetDialectHandle__async__(),
            "builtin" => return None,
            "cf" => mlirGetDialectHandle__cf__(),
            "complex" => mlirGetDialectHandle__complex__(),
            "func" => mlirGetDialectHandle__func__(),
            "gpu" => mlirGetDialectHandle__gpu__(),
            "index" => mlirGetDialectHandle__index__(),
            "linalg" => mlirGetDialectHandle__linalg__(),
            "llvm" => mlirGetDialectHandle__llvm__(),
            "math" => mlirGetDialectHandle__math__(),
            "memref" => mlirGetDialectHandle__memref__(),
            "nvgpu" => mlirGetDialectHandle__nvgpu__(),
            "nvvm" => mlirGetDialectHandle__nvvm__(),
            "scf" => mlirGetDialectHandle__scf__(),
            "shape" => mlirGetDialectHandle__shape__(),
            "sparse_tensor" => mlirGetDialectHandle__sparse_tensor__(),
            "tensor" => mlirGetDialectHandle__tensor__(),
            "transform" => mlirGetDialectHandle__transform__(),
            "vector" => mlirGetDialectHandle__vector__(),
            _ => return None,
        })
    }
}
