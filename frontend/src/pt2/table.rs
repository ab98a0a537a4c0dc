//! Tables of the JSON: insertion order is kept, and a repeated key is an error instead of a silent overwrite.

use std::{collections::HashMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

/// A map from names to `T`.
#[derive(Debug, Clone)]
pub struct Table<T> {
    entries: Vec<(String, T)>,
    index: HashMap<String, usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), index: HashMap::new() }
    }
}

impl<T> Table<T> {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.index.get(name).map(|&place| &self.entries[place].1)
    }

    /// All entries in file order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = Table::default();
                while let Some((name, value)) = map.next_entry::<String, T>()? {
                    if table.index.insert(name.clone(), table.entries.len()).is_some() {
                        return Err(A::Error::custom(format!("the name `{name}` is there twice")));
                    }
                    table.entries.push((name, value));
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData))
    }
}
