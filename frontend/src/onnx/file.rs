//! The model's file and those of its weights, mapped.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use prost::Message;
use prost::bytes::Bytes;

use super::data::{Place, beside};
use super::error::OnnxError;
use super::proto::Model;
use crate::pt2::map::map;

/// The files of a model.
pub(super) struct File {
    path: Arc<Path>,
    bytes: Bytes,
    /// Files of weights that were opened.
    others: RefCell<HashMap<PathBuf, (Arc<Path>, Bytes)>>,
}

impl File {
    /// Maps the file and reads the model in it.
    pub fn open(path: &Path) -> Result<(Self, Model), OnnxError> {
        let (path, bytes) = mapped(path)?;
        if bytes.starts_with(b"PK\x03\x04") {
            let why = "it is a zip archive; an archive of torch.export ends in .pt2, one of torch.jit.save in .pt";
            return Err(OnnxError::part("not an ONNX model", why));
        }
        let model = Model::decode(bytes.clone())?;
        Ok((Self { path, bytes, others: RefCell::default() }, model))
    }

    /// The place of bytes that are a part of the model's file.
    pub fn place(&self, part: &Bytes) -> Place {
        let offset = (part.as_ptr() as usize).checked_sub(self.bytes.as_ptr() as usize);
        let inside = |offset: &usize| offset.checked_add(part.len()).is_some_and(|end| end <= self.bytes.len());
        match offset.filter(inside) {
            Some(offset) => Place::File { path: Arc::clone(&self.path), offset, bytes: part.clone(), other: false },
            None => Place::Inline(part.to_vec().into()),
        }
    }

    /// Bytes of another file.
    pub fn external(&self, relative: &Path, offset: usize, size: usize) -> Result<Place, String> {
        let mut others = self.others.borrow_mut();
        if !others.contains_key(relative) {
            let path = beside(&self.path, relative);
            let opened = contained(&self.path, &path).and_then(|path| mapped(&path));
            others.insert(relative.to_owned(), opened.map_err(|error| format!("its data, {}: {error}", path.display()))?);
        }
        let (path, bytes) = &others[relative];
        let end = offset.checked_add(size).filter(|end| *end <= bytes.len());
        let end =
            end.ok_or_else(|| format!("its data, {size} bytes at {offset} of {}, are behind the end of that file", path.display()))?;
        Ok(Place::File { path: Arc::clone(path), offset, bytes: bytes.slice(offset..end), other: true })
    }
}

/// The file behind a path, which no link may lead out of the model's folder.
fn contained(model: &Path, path: &Path) -> io::Result<PathBuf> {
    let folder = model.parent().unwrap_or(Path::new("/"));
    let path = path.canonicalize()?;
    if path.starts_with(folder) {
        return Ok(path);
    }
    Err(io::Error::new(io::ErrorKind::PermissionDenied, "a link leads out of the model's folder"))
}

fn mapped(path: &Path) -> io::Result<(Arc<Path>, Bytes)> {
    let path = path.canonicalize()?;
    let bytes = Bytes::from_owner(map(&path)?);
    Ok((path.into(), bytes))
}
