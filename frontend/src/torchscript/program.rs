//! An opened archive: its classes and functions by qualified name, its values, and where its tensors lie.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use super::error::ScriptError;
use super::pickle::{self, Object, Pickled};
use super::text;
use super::text::ast::{Class, File, Function};
use crate::pt2::archive::Archive;
use crate::pt2::dtype::ScalarType;
use crate::pt2::kind::Kind;
use crate::pt2::weights::Weight;

/// The versions of the format that are read.
const VERSIONS: std::ops::RangeInclusive<i64> = 1..=10;

/// An archive of `torch.jit.save`.
pub struct Program {
    /// The container.
    pub archive: Archive,
    /// The version of its operators.
    pub version: i64,
    /// The module that was saved.
    pub module: Pickled,
    /// `CONSTANTS.c0`, `CONSTANTS.c1`, ...
    pub constants: Vec<Pickled>,
    /// The files that were asked for.
    files: RefCell<HashMap<String, Option<Rc<File>>>>,
}

/// An item of a file, with the file's name.
pub struct Found<T> {
    /// The entry of the archive.
    pub entry: Rc<str>,
    /// What is there.
    pub item: Rc<T>,
}

impl Program {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<Self, ScriptError> {
        let archive = Archive::open(path)?;
        Kind::Script.check(&archive)?;
        let entry = if archive.has("version") { "version" } else { ".data/version" };
        let text = String::from_utf8_lossy(&archive.inflated(entry)?).trim().to_owned();
        let version = text.parse().ok().filter(|version| VERSIONS.contains(version));
        let Some(version) = version else {
            let why = format!("it says {text:?}, and versions 1 to 10 are read");
            return Err(ScriptError::Pickle { entry: entry.to_owned(), why });
        };
        let module = read(&archive, "data.pkl")?;
        let constants = if archive.has("constants.pkl") { read(&archive, "constants.pkl")? } else { Pickled::None };
        let constants = match constants {
            Pickled::Tuple(parts) => parts.to_vec(),
            Pickled::List(parts) => parts.borrow().clone(),
            _ => Vec::new(),
        };
        Ok(Self { archive, version, module, constants, files: RefCell::default() })
    }

    /// The arguments that a traced model was traced with, if the archive has them.
    pub fn traced_inputs(&self) -> Result<Option<Pickled>, ScriptError> {
        const ENTRY: &str = "traced_inputs.pkl";
        if self.archive.has(ENTRY) { read(&self.archive, ENTRY).map(Some) } else { Ok(None) }
    }

    fn file(&self, entry: &str) -> Result<Option<Rc<File>>, ScriptError> {
        if let Some(known) = self.files.borrow().get(entry) {
            return Ok(known.clone());
        }
        let file = if self.archive.has(entry) {
            let bytes = self.archive.inflated(entry)?;
            let error = |error| ScriptError::Syntax { entry: entry.to_owned(), error };
            let text = std::str::from_utf8(&bytes)
                .map_err(|_| ScriptError::Pickle { entry: entry.to_owned(), why: "it is not UTF-8".to_owned() })?;
            Some(Rc::new(text::parse(text).map_err(error)?))
        } else {
            None
        };
        self.files.borrow_mut().insert(entry.to_owned(), file.clone());
        Ok(file)
    }

    fn find<T>(&self, name: &str, find: impl Fn(&File, &str) -> Option<Rc<T>>) -> Result<Option<Found<T>>, ScriptError> {
        let Some((module, item)) = name.rsplit_once('.') else { return Ok(None) };
        let entry = format!("code/{}.py", module.replace('.', "/"));
        let found = self.file(&entry)?.and_then(|file| find(&file, item));
        Ok(found.map(|item| Found { entry: entry.into(), item }))
    }

    /// The class of a qualified name, `__torch__.m.Net`.
    pub fn class(&self, name: &str) -> Result<Option<Found<Class>>, ScriptError> {
        self.find(name, |file, item| file.classes.iter().find(|class| class.name == item).cloned())
    }

    /// The function of a qualified name.
    pub fn function(&self, name: &str) -> Result<Option<Found<Function>>, ScriptError> {
        self.find(name, |file, item| file.functions.iter().find(|function| function.name == item).cloned())
    }

    /// A method of a class.
    pub fn method(&self, class: &str, name: &str) -> Result<Option<Found<Function>>, ScriptError> {
        let Some(found) = self.class(class)? else { return Ok(None) };
        let method = found.item.methods.iter().find(|method| method.name == name).cloned();
        Ok(method.map(|item| Found { entry: found.entry, item }))
    }
}

fn read(archive: &Archive, entry: &str) -> Result<Pickled, ScriptError> {
    let bytes = archive.inflated(entry)?;
    pickle::read(&bytes).map_err(|why| ScriptError::Pickle { entry: entry.to_owned(), why })
}

/// A tensor of a pickle.
pub struct Described<'v> {
    /// The key of its storage, an entry of the folder beside the pickle.
    pub key: &'v str,
    /// The element type.
    pub dtype: ScalarType,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// The strides in elements.
    pub strides: Vec<usize>,
    /// The first element.
    pub offset: usize,
}

/// What a pickle says of a tensor.
pub fn described(object: &Object) -> Result<Described<'_>, String> {
    let [Pickled::Persistent(id), Pickled::Int(offset), sizes, strides, ..] = &*object.args else {
        return Err("a tensor is made of a storage, an offset, sizes and strides".to_owned());
    };
    let Pickled::Tuple(id) = &**id else { return Err("a storage is a tuple".to_owned()) };
    let [_, Pickled::Global(kind), Pickled::Str(key), ..] = &**id else { return Err("a storage has a type and a key".to_owned()) };
    let dtype = storage_type(kind).ok_or_else(|| format!("tensors in a `{kind}` are not read"))?;
    let numbers = |list: &Pickled| -> Option<Vec<usize>> {
        let Pickled::Tuple(list) = list else { return None };
        list.iter().map(|item| if let Pickled::Int(value) = item { usize::try_from(*value).ok() } else { None }).collect()
    };
    let (Some(sizes), Some(strides), Ok(offset)) = (numbers(sizes), numbers(strides), usize::try_from(*offset)) else {
        return Err("sizes, strides and offsets are not negative".to_owned());
    };
    Ok(Described { key, dtype, sizes, strides, offset })
}

/// Where a tensor of a pickle lies: `folder` is `data` or `constants`.
pub fn tensor(archive: &Archive, folder: &str, object: &Object) -> Result<Weight, String> {
    let Described { key, dtype, sizes, strides, offset } = described(object)?;
    Weight::at(archive, format!("{folder}/{key}"), (dtype, sizes, strides, offset))
}

fn storage_type(kind: &str) -> Option<ScalarType> {
    Some(match kind.strip_prefix("torch.")? {
        "FloatStorage" => ScalarType::F32,
        "DoubleStorage" => ScalarType::F64,
        "HalfStorage" => ScalarType::F16,
        "BFloat16Storage" => ScalarType::BF16,
        "LongStorage" => ScalarType::I64,
        "IntStorage" => ScalarType::I32,
        "ShortStorage" => ScalarType::I16,
        "CharStorage" => ScalarType::I8,
        "ByteStorage" => ScalarType::U8,
        "BoolStorage" => ScalarType::Bool,
        "ComplexFloatStorage" => ScalarType::C64,
        "ComplexDoubleStorage" => ScalarType::C128,
        _ => return None,
    })
}
