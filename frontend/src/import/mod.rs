//! From an exported program to a module of the capture and aten levels, as `docs/src/levels.md` spells them.
//!
//! In-place operators stay as they are: making the program functional is a pass of its own.

mod arguments;
mod autocast;
mod conditions;
mod control;
mod copies;
mod dim_order;
mod entry;
mod error;
pub(crate) mod floats;
mod foreach;
mod foreign;
mod linear_cross_entropy;
mod location;
mod node;
mod python;
mod registered;
mod scope;
mod storage;
pub(crate) mod symbols;
mod torch_op;
mod types;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use strata_core::ir::{Context, Cx, Module};
use strata_core::rewrite::Rewriter;

pub(crate) use conditions::constant_guard;
pub use entry::ENTRY;
pub use error::ImportError;

use crate::library::Library;
use crate::pt2::{Program, weights::Weight};
use node::Importer;

/// A program as a module, with all that a caller must know of it.
pub struct Imported<'c> {
    /// The module; its one function is the entry.
    pub module: Module<'c>,
    /// The entry's name.
    pub entry: String,
    /// The entry's arguments, in order.
    pub inputs: Vec<Input>,
    /// The call's outputs and then its mutations; only [`Output::Value`] and [`Output::Mutation`] are results.
    pub outputs: Vec<Output>,
    /// Where the parameters, buffers and constants lie that the arguments name; nowhere when the program came as text.
    pub weights: Option<Weights>,
    /// The format that it came in and its versions, in words.
    pub format: String,
}

/// The weights of a program.
#[derive(Debug, Default)]
pub struct Weights {
    /// Name and place, in the order of the entry's arguments.
    pub table: Vec<(String, Stored)>,
}

/// Where the elements of a weight lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What holds them.
    pub source: Source,
    /// Sizes.
    pub sizes: Vec<usize>,
    /// Strides in elements; none where the elements are dense.
    pub strides: Vec<usize>,
    /// The first element's place in the source, in bytes.
    pub offset: usize,
}

/// What holds the elements of a weight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// An entry of the archive that the program came in.
    Entry(String),
    /// A file as it is.
    File(Arc<Path>),
    /// These bytes, which are in no file as they are.
    Inline(Arc<[u8]>),
}

impl From<&Weight> for Stored {
    fn from(weight: &Weight) -> Self {
        Self {
            source: Source::Entry(weight.entry.clone()),
            sizes: weight.sizes.clone(),
            strides: weight.strides.clone(),
            offset: weight.offset.saturating_mul(weight.dtype.size()),
        }
    }
}

/// An argument of the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// `capture.name`.
    pub name: String,
    /// `capture.kind`.
    pub kind: InputKind,
}

/// What an argument is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the level's own")]
pub enum InputKind {
    Input,
    Parameter,
    Buffer,
    Constant,
}

impl InputKind {
    /// As `capture.kind` spells it.
    pub fn spelling(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Parameter => "parameter",
            Self::Buffer => "buffer",
            Self::Constant => "constant",
        }
    }

    /// Whether the archive brings the value.
    pub fn is_weight(self) -> bool {
        self != Self::Input
    }
}

/// What the call gives back in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// A result of the entry, of kind `output`.
    Value,
    /// A result of the entry, of kind `mutation`: the new value of a buffer or input.
    Mutation {
        /// Whose new value it is.
        name: String,
    },
    /// Always `None`.
    None,
    /// Always this text.
    Text {
        /// The text.
        text: String,
    },
}

/// Reads a `.pt2` archive and imports its program, with the operators that a user registers.
pub fn import<'c>(path: &Path, library: Option<Library<'c>>, context: &'c Context) -> Result<Imported<'c>, ImportError> {
    import_program(&Program::open(path)?, library, context)
}

/// Imports a program from the text of a `.pt2`'s `models/model.json`, without the archive.
pub fn import_json<'c>(text: &[u8], library: Option<Library<'c>>, context: &'c Context) -> Result<Imported<'c>, ImportError> {
    import_program(&Program::from_json(text)?, library, context)
}

/// Imports a program that was read.
pub fn import_program<'c>(program: &Program, library: Option<Library<'c>>, context: &'c Context) -> Result<Imported<'c>, ImportError> {
    verified(context, |cx| build(program, library, cx, context.allow_unregistered_dialects()))
}

/// What `build` makes, after it was verified.
pub(crate) fn verified<'c, E: From<ImportError>>(
    context: &'c Context,
    build: impl FnOnce(Cx<'c>) -> Result<Imported<'c>, E>,
) -> Result<Imported<'c>, E> {
    for dialect in ["func", "arith", "scf", "tensor"] {
        context.get_or_load_dialect(dialect);
    }
    let messages = std::cell::RefCell::new(String::new());
    let handler = context.attach_diagnostic_handler(|diagnostic| {
        messages.borrow_mut().push_str(&format!("{}: {diagnostic}\n", diagnostic.location()));
        true
    });
    let imported = build(context.into()).and_then(|imported| match imported.module.op().verify() {
        true => Ok(imported),
        false => Err(ImportError::Verify { diagnostics: messages.take() }.into()),
    });
    context.detach_diagnostic_handler(handler);
    imported
}

fn build<'c>(program: &Program, library: Option<Library<'c>>, cx: Cx<'c>, lenient: bool) -> Result<Imported<'c>, ImportError> {
    let module = Module::new(cx);
    let builder = Rewriter::at_end(module.body(), cx.unknown());
    let graph = &program.exported.graph_module.graph;
    let storages = storage::addressed(graph);
    let aliasing = storages || copies::writes(graph, library.as_ref());
    let mut importer = Importer {
        cx,
        builder,
        symbols: symbols::Symbols::default(),
        lenient,
        aliasing,
        storages,
        library: library.map(Rc::new),
        autocast: None,
    };
    let mut entry = entry::Entry::new(&mut importer, module.body(), program)?;
    importer.nodes(&mut entry.scope)?;
    let (inputs, outputs) = entry.finish(&mut importer, program)?;
    let stored = program.tensors();
    let table = inputs.iter().filter(|input| input.kind.is_weight());
    let table = table.filter_map(|input| Some((input.name.clone(), Stored::from(*stored.get(input.name.as_str())?)))).collect();
    let weights = program.archive.is_some().then_some(Weights { table });
    let exported = &program.exported;
    let (torch, schema) = (&exported.torch_version, &exported.schema_version);
    let format = format!("torch.export of PyTorch {torch}, schema {}.{}", schema.major, schema.minor);
    Ok(Imported { module, entry: ENTRY.to_owned(), inputs, outputs, weights, format })
}
