//! The program that is compiled: a file, or its text where it never was on disk.

use std::borrow::Cow;
use std::path::Path;

use strata_core::ir::{Context, Module};
use strata_core::registry::load_dialect;
use strata_frontend::{Imported, Library, Signature, Weights, onnx, stablehlo, torchscript};

use crate::operators::Operators;
use crate::{Error, Options};

/// A program to read. The path's ending says what it is: `.pt2` an archive of `torch.export`, `.pt` one of `torch.jit.save`, `.onnx` a
/// model of ONNX, `.stablehlo.mlir` generic text of StableHLO, `.mlir` a module of any level, `.json` the graph of an archive (its `models/model.json`) whose weights are brought by
/// whoever loads it.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name in messages, and the file where there is no text.
    pub path: &'a Path,
    /// What the file would hold.
    pub text: Option<&'a str>,
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for SourceFile<'a> {
    fn from(path: &'a P) -> Self {
        Self { path: path.as_ref(), text: None }
    }
}

/// A program before any pass: its module, and where its weights are.
pub(crate) struct Source<'c> {
    pub module: Module<'c>,
    pub weights: Option<Weights>,
    /// The format that it came in and its versions, in words.
    pub format: String,
}

impl<'a> SourceFile<'a> {
    /// Whether it holds a graph of PyTorch's and not text of ours.
    pub(crate) fn is_exported(self) -> bool {
        self.path.extension().is_some_and(|kind| kind == "pt2" || kind == "pt" || kind == "onnx" || kind == "json") || self.is_stablehlo()
    }

    /// Whether it holds text of StableHLO: `.stablehlo.mlir`.
    fn is_stablehlo(self) -> bool {
        self.path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(".stablehlo.mlir"))
    }

    /// Refuses the types of a call where the program has types of its own.
    pub(crate) fn takes_signature(self, options: &Options) -> Result<(), Error> {
        let imported_for_a_call = self.path.extension().is_some_and(|kind| kind == "pt" || kind == "onnx") || self.is_stablehlo();
        if options.signature.is_none() || imported_for_a_call {
            return Ok(());
        }
        let why = format!(
            "{}: only .pt archives of TorchScript, .onnx models and .stablehlo.mlir are imported for a call; leave the option out",
            self.path.display()
        );
        Err(Error::Signature { why })
    }

    fn text(self) -> Result<Cow<'a, str>, Error> {
        match self.text {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => std::fs::read_to_string(self.path).map(Cow::Owned).map_err(|source| Error::Io { path: self.path.to_owned(), source }),
        }
    }

    /// Reads it into a context, for any call.
    pub(crate) fn read<'c>(self, context: &'c Context) -> Result<Source<'c>, Error> {
        self.read_for(context, &Options::default())
    }

    /// Reads it into a context, for the calls that the options say.
    pub(crate) fn read_for<'c>(self, context: &'c Context, options: &Options) -> Result<Source<'c>, Error> {
        self.takes_signature(options)?;
        match self.path.extension().and_then(|extension| extension.to_str()) {
            Some("pt2") => self.import(context, options, |library| strata_frontend::import(self.path, library, context)),
            Some(kind @ ("pt" | "onnx")) => {
                let signature = signature(options)?;
                let signature = signature.as_ref();
                match kind {
                    "pt" => self.import(context, options, |library| {
                        torchscript::import(self.path, signature, (&Operators, library.as_ref()), context)
                    }),
                    _ => {
                        self.import(context, options, |library| onnx::import(self.path, signature, (&Operators, library.as_ref()), context))
                    }
                }
            }
            Some("json") => {
                let text = self.text()?;
                self.import(context, options, |library| strata_frontend::import_json(text.as_bytes(), library, context))
            }
            Some("mlir") if options.operators.is_some() => {
                let why = format!("{}: a module has its functions in itself; leave the option out", self.path.display());
                Err(Error::Operators { why })
            }
            Some("mlir") if self.is_stablehlo() => {
                let (text, name) = (self.text()?, self.path.display().to_string());
                let signature = signature(options)?;
                self.import(context, options, |_| stablehlo::import((&text, &name), signature.as_ref(), &Operators, context))
            }
            Some("mlir") => {
                let module = Module::parse(context, &self.text()?, &self.path.display().to_string())?;
                Ok(Source { module, weights: None, format: "text of MLIR".to_owned() })
            }
            _ => Err(Error::Kind { path: self.path.to_owned() }),
        }
    }

    /// Imports a program, with the operators that the options register.
    fn import<'c, E: Into<Error>>(
        self,
        context: &'c Context,
        options: &Options,
        import: impl FnOnce(Option<Library<'c>>) -> Result<Imported<'c>, E>,
    ) -> Result<Source<'c>, Error> {
        for dialect in ["capture", "prim"] {
            load_dialect(context, dialect);
        }
        for dialect in strata_dialects::aten::OPERATORS {
            load_dialect(context, dialect.name);
        }
        let library = registered(context, options).map_err(|why| Error::Operators { why })?;
        let imported = import(library).map_err(|error| error.into().of(self.path))?;
        Ok(Source { module: imported.module, weights: imported.weights, format: imported.format })
    }
}

/// The types of the call that the options say.
fn signature(options: &Options) -> Result<Option<Signature>, Error> {
    options.signature.as_deref().map(str::parse).transpose().map_err(|why| Error::Signature { why })
}

/// The operators that the options register, where they do.
fn registered<'c>(context: &'c Context, options: &Options) -> Result<Option<Library<'c>>, String> {
    let mut extensions = options.op_libraries.iter().filter(|library| !library.schemas.is_empty()).peekable();
    if options.operators.is_none() && extensions.peek().is_none() {
        return Ok(None);
    }
    let library = Library::parse(options.operators.as_deref().unwrap_or_default(), "--operators", &Operators, context)?;
    extensions.try_fold(library, |library, extension| library.with_torch_ops(&extension.file, &extension.schemas)).map(Some)
}
