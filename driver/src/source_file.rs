//! The program that is compiled: a file, or its text where it never was on disk.

use std::borrow::Cow;
use std::path::Path;

use strata_core::ir::{Context, Module};
use strata_core::registry::load_dialect;
use strata_frontend::{Imported, Signature, Weights, onnx, torchscript};

use crate::operators::Operators;
use crate::{Error, Options};

/// A program to read. The path's ending says what it is: `.pt2` an archive of `torch.export`, `.pt` one of `torch.jit.save`, `.onnx` a
/// model of ONNX, `.mlir` a module of any level, `.json` the graph of an archive (its `models/model.json`) whose weights are brought by
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
}

impl<'a> SourceFile<'a> {
    /// Whether it holds a graph of PyTorch's and not text of ours.
    pub(crate) fn is_exported(self) -> bool {
        self.path.extension().is_some_and(|kind| kind == "pt2" || kind == "pt" || kind == "onnx" || kind == "json")
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
        match self.path.extension().and_then(|extension| extension.to_str()) {
            Some("pt2") => self.import(context, || strata_frontend::import(self.path, context)),
            Some(kind @ ("pt" | "onnx")) => {
                // Types are inferred by decompositions.
                load_dialect(context, "prim");
                let signature = options.signature.as_deref().map(str::parse::<Signature>).transpose();
                let signature = signature.map_err(|why| Error::Signature { why })?;
                match kind {
                    "pt" => self.import(context, || torchscript::import(self.path, signature.as_ref(), &Operators, context)),
                    _ => self.import(context, || onnx::import(self.path, signature.as_ref(), &Operators, context)),
                }
            }
            Some("json") => {
                let text = self.text()?;
                self.import(context, || strata_frontend::import_json(text.as_bytes(), context))
            }
            Some("mlir") => {
                let module = Module::parse(context, &self.text()?, &self.path.display().to_string())?;
                Ok(Source { module, weights: None })
            }
            _ => Err(Error::Kind { path: self.path.to_owned() }),
        }
    }

    fn import<'c, E: Into<Error>>(
        self,
        context: &'c Context,
        import: impl FnOnce() -> Result<Imported<'c>, E>,
    ) -> Result<Source<'c>, Error> {
        load_dialect(context, "capture");
        for dialect in strata_dialects::aten::OPERATORS {
            load_dialect(context, dialect.name);
        }
        let imported = import().map_err(|error| error.into().of(self.path))?;
        Ok(Source { module: imported.module, weights: imported.weights })
    }
}
