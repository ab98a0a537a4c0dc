//! The program that `rs-opt` gives to MLIR's driver, which reads text: an exported program becomes the text of its first level.

use std::io::Write;
use std::path::PathBuf;

use strata_core::registry::Registry;
use strata_runtime::op_library::{self, OpLibraryFile};
use tempfile::NamedTempFile;

use crate::source_file::SourceFile;
use crate::{Error, Options};

/// A .pt2 file, and its text.
#[derive(Debug)]
pub struct Exported {
    /// The archive.
    pub path: PathBuf,
    _text: NamedTempFile,
}

/// The types of a call of a TorchScript archive or an ONNX model.
const SIGNATURE: &str = "--signature=";
/// An extension of PyTorch.
const TORCH_OP: &str = "--load-torch-op=";
/// The file of operators that the user registers.
const OPERATORS: &str = "--operators=";

/// The arguments with a file of text in place of a .pt2 file; the text lives as long as what is given back. It says of every op where
/// in the Python program it came from.
pub fn opt_input(registry: &'static Registry, args: &[String]) -> Result<(Vec<String>, Option<Exported>), Error> {
    let mut args = args.to_vec();
    let signature = args.iter().position(|arg| arg.starts_with(SIGNATURE)).map(|at| args.remove(at)[SIGNATURE.len()..].to_owned());
    let operators = args.iter().position(|arg| arg.starts_with(OPERATORS)).map(|at| args.remove(at)[OPERATORS.len()..].to_owned());
    let read = |path: &String| std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.into(), source });
    let operators = operators.as_ref().map(read).transpose()?;
    let mut op_libraries = Vec::new();
    while let Some(at) = args.iter().position(|arg| arg.starts_with(TORCH_OP)) {
        op_libraries.push(op_library::describe(&OpLibraryFile::torch(&args.remove(at)[TORCH_OP.len()..]))?);
    }
    let options = Options { signature, operators, op_libraries, ..Options::default() };
    let exported = |arg: &&mut String| !arg.starts_with('-') && SourceFile::from(arg.as_str()).is_exported();
    let loads = !options.op_libraries.is_empty();
    let Some(arg) = args.iter_mut().skip(1).find(exported) else {
        SourceFile::from("text of MLIR").takes_signature(&options)?;
        if options.operators.is_some() {
            let why = "text of MLIR has its functions in itself; leave the option out".to_owned();
            return Err(Error::Operators { why });
        }
        return if loads { Err(Error::TorchOpUseless) } else { Ok((args, None)) };
    };
    let context = registry.pooled_context();
    let text = SourceFile::from(arg.as_str()).read_for(&context, &options)?.module.op().to_text_with_locations();
    let io = |source| Error::Io { path: arg.clone().into(), source };
    let mut file = tempfile::Builder::new().suffix(".mlir").tempfile().map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    let path = std::mem::replace(arg, file.path().display().to_string()).into();
    Ok((args, Some(Exported { path, _text: file })))
}
