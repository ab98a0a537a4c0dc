//! Parameters, buffers and constants: where each lies in the archive, and its dense bytes.
//!
//! Nothing is loaded when a program is opened. A dense weight is a slice of the mapped file.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    archive::Archive,
    dtype::ScalarType,
    error::Pt2Error,
    schema::{SymInt, TensorMeta},
    table::Table,
};

/// More dimensions than PyTorch allows.
const MAX_RANK: usize = 64;
/// A weight that repeats its storage (stride 0) may become this much larger when it is made dense.
const MAX_EXPANSION: usize = 64 << 20;

/// Where a weight lies. All numbers were checked against the entry, so every element exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weight {
    /// The archive entry that holds the storage.
    pub entry: String,
    /// Element type.
    pub dtype: ScalarType,
    /// Sizes.
    pub sizes: Vec<usize>,
    /// Strides in elements.
    pub strides: Vec<usize>,
    /// First element.
    pub offset: usize,
}

#[derive(Deserialize)]
struct Config {
    config: Table<Item>,
}

#[derive(Deserialize)]
struct Item {
    path_name: String,
    #[expect(dead_code, reason = "PyTorch's reader needs it, and no value of another type may stand there")]
    is_param: bool,
    use_pickle: bool,
    #[serde(deserialize_with = "Option::deserialize")]
    tensor_meta: Option<TensorMeta>,
}

/// Reads one of the two tables of weights; `folder` is `weights` or `constants`.
pub(super) fn read(archive: &Archive, folder: &str) -> Result<Vec<(String, Weight)>, Pt2Error> {
    let entry = format!("data/{folder}/model_{folder}_config.json");
    if !archive.has(&entry) {
        return Ok(Vec::new());
    }
    let config: Config = super::program::json(archive, &entry)?;
    config
        .config
        .iter()
        .map(|(name, item)| {
            let field = format!("config.{name}");
            if item.use_pickle {
                return Err(Pt2Error::unsupported(&entry, field, "the value is pickled, which only Python can read"));
            }
            let meta = item.tensor_meta.as_ref();
            let meta = meta.ok_or_else(|| Pt2Error::unsupported(&entry, &field, "the value is not a tensor"))?;
            let data = format!("data/{folder}/{}", item.path_name);
            let weight = Weight::new(archive, data, meta).map_err(|error| match error {
                Problem::Meta(why) => Pt2Error::field(&entry, field, why),
                Problem::Entry(error) => error,
            })?;
            Ok((name.to_owned(), weight))
        })
        .collect()
}

enum Problem {
    Meta(String),
    Entry(Pt2Error),
}

impl Weight {
    fn new(archive: &Archive, entry: String, meta: &TensorMeta) -> Result<Self, Problem> {
        let storage = archive.bytes(&entry).map_err(Problem::Entry)?;
        let sizes = plain("tensor_meta.sizes", &meta.sizes)?;
        let strides = plain("tensor_meta.strides", &meta.strides)?;
        let offset = plain("tensor_meta.storage_offset", std::slice::from_ref(&meta.storage_offset))?[0];
        let weight = Self { entry, dtype: meta.dtype, sizes, strides, offset };
        weight.check(storage.len()).map_err(Problem::Meta)?;
        Ok(weight)
    }

    /// A weight of a TorchScript archive: its element type, sizes, strides and offset.
    pub(crate) fn at(
        archive: &Archive,
        entry: String,
        (dtype, sizes, strides, offset): (ScalarType, Vec<usize>, Vec<usize>, usize),
    ) -> Result<Self, String> {
        let storage = archive.bytes(&entry).map_err(|error| error.to_string())?.len();
        let weight = Self { entry, dtype, sizes, strides, offset };
        weight.check(storage)?;
        Ok(weight)
    }

    /// Every element must lie in the storage, and the dense form must have a sane size.
    fn check(&self, storage: usize) -> Result<(), String> {
        if self.sizes.len() != self.strides.len() {
            return Err(format!("there are {} sizes and {} strides", self.sizes.len(), self.strides.len()));
        }
        if self.sizes.len() > MAX_RANK {
            return Err(format!("{} dimensions are more than {MAX_RANK}", self.sizes.len()));
        }
        let item = self.dtype.size();
        let count = self.sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
        let bytes = count.and_then(|count| count.checked_mul(item));
        let bytes = bytes.ok_or_else(|| format!("sizes {:?} overflow", self.sizes))?;
        if bytes == 0 {
            return Ok(());
        }
        let steps = self.sizes.iter().zip(&self.strides);
        let last = steps.clone().try_fold(self.offset, |last, (&size, &stride)| last.checked_add((size - 1).checked_mul(stride)?));
        let end = last.and_then(|last| last.checked_add(1)?.checked_mul(item));
        if end.is_none_or(|end| end > storage) {
            return Err(format!(
                "sizes {:?}, strides {:?} and offset {} of {item}-byte elements reach outside of `{}`, which has {storage} bytes",
                self.sizes, self.strides, self.offset, self.entry
            ));
        }
        if bytes > storage.saturating_add(MAX_EXPANSION) {
            return Err(format!("the tensor repeats {storage} bytes of storage into {bytes}"));
        }
        Ok(())
    }

    /// Number of elements.
    pub fn count(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether the elements lie next to each other in row-major order.
    pub fn is_dense(&self) -> bool {
        let mut want = 1;
        self.sizes.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
            let dense = size == 1 || stride == want;
            want *= size;
            dense
        })
    }

    /// The number that every element is, of a tensor of signed integers or of bytes that is not empty.
    pub fn uniform(&self, archive: &Archive) -> Result<Option<i64>, Pt2Error> {
        let whole = matches!(self.dtype, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 | ScalarType::U8);
        if !whole || self.count() == 0 {
            return Ok(None);
        }
        let (dense, item) = (self.dense(archive)?, self.dtype.size());
        let (first, rest) = dense.split_at(item);
        if rest.chunks_exact(item).any(|element| element != first) {
            return Ok(None);
        }
        let negative = self.dtype != ScalarType::U8 && first[item - 1] >= 0x80;
        let mut bytes = [if negative { 0xff } else { 0 }; 8];
        bytes[..item].copy_from_slice(first);
        Ok(Some(i64::from_le_bytes(bytes)))
    }

    /// The elements in row-major order: a slice of the file when they lie there like that.
    pub fn dense<'a>(&self, archive: &'a Archive) -> Result<Cow<'a, [u8]>, Pt2Error> {
        let storage = archive.bytes(&self.entry)?;
        let item = self.dtype.size();
        let outside = || Pt2Error::entry(&self.entry, "the weight reaches outside of its storage");
        self.check(storage.len()).map_err(|_| outside())?;
        if self.count() == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        if self.is_dense() {
            let start = self.offset * item;
            return Ok(Cow::Borrowed(storage.get(start..start + self.count() * item).ok_or_else(outside)?));
        }
        let mut dense = Vec::with_capacity(self.count() * item);
        let mut index = vec![0usize; self.sizes.len()];
        for _ in 0..self.count() {
            let at = self.offset + index.iter().zip(&self.strides).map(|(&i, &stride)| i * stride).sum::<usize>();
            dense.extend_from_slice(storage.get(at * item..(at + 1) * item).ok_or_else(outside)?);
            for (place, &size) in index.iter_mut().zip(&self.sizes).rev() {
                *place += 1;
                if *place < size {
                    break;
                }
                *place = 0;
            }
        }
        Ok(Cow::Owned(dense))
    }
}

/// Sizes of a weight are plain numbers from zero up.
fn plain(field: &str, values: &[SymInt]) -> Result<Vec<usize>, Problem> {
    let plain = |value: &SymInt| match value {
        SymInt::Int(value) => usize::try_from(*value)
            .map_err(|_| Problem::Meta(format!("`{field}` holds {value}, and sizes, strides and offsets are not negative"))),
        SymInt::Expr(_) => Err(Problem::Meta(format!("`{field}` is symbolic, and a weight has a fixed shape"))),
    };
    values.iter().map(plain).collect()
}
