//! Why something is not in the store: the entry that comes nearest, and the parts in which it differs.

use crate::{Kind, Lookup, Parts, Place, Store};

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The part.
    pub name: String,
    /// What is wanted; `None` when the part is not asked for.
    pub wanted: Option<String>,
    /// What the entry was made of; `None` when it has no such part.
    pub found: Option<String>,
}

/// What the store has for some parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// The entry itself, and where it was.
    Hit(Place),
    /// An entry that differs in these parts and no more.
    Nearest(Vec<Difference>),
    /// Nothing of that kind.
    Nothing,
}

impl Store {
    /// Looks the entry up; without it, compares the parts with those of all entries of the kind.
    pub fn explain(&self, kind: Kind, parts: &Parts) -> Explanation {
        if let Lookup::Hit(entry) = self.get(&parts.key(kind)) {
            return Explanation::Hit(entry.place);
        }
        let entries = self.files(kind).filter_map(|file| Some((self.read_meta(&file).ok()?, file.used)));
        let differing = entries.map(|(meta, used)| (differences(parts, &meta.parts), used));
        // Of those that differ in as many parts, the one used last.
        let nearest = differing.min_by_key(|(differences, used)| (differences.len(), std::cmp::Reverse(*used)));
        nearest.map_or(Explanation::Nothing, |(differences, _)| Explanation::Nearest(differences))
    }
}

fn differences(wanted: &Parts, found: &Parts) -> Vec<Difference> {
    let here = wanted.iter().filter(|(name, value)| found.get(name) != Some(value)).map(|(name, value)| Difference {
        name: name.into(),
        wanted: Some(value.into()),
        found: found.get(name).map(Into::into),
    });
    let gone = found.iter().filter(|(name, _)| wanted.get(name).is_none()).map(|(name, value)| Difference {
        name: name.into(),
        wanted: None,
        found: Some(value.into()),
    });
    here.chain(gone).collect()
}
