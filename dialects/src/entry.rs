//! Descriptions as attributes: dictionaries of entries from a closed set.
//!
//! A schedule is one, the target another. The macro `entries` makes a Rust type of the table of its entries: how they are read from a dictionary,
//! checked, written, and shown in the reference.

use std::fmt::Display;
use strata_core::ir::{Attr, Cx};

/// Copies, threads, registers: the largest that anybody asks for has a few dozen or hundred.
pub(crate) const MAX_COUNT: i64 = 1 << 12;

/// The value of an entry: how it is read, checked and written.
pub trait Entry {
    /// What it is in Rust.
    type Value: Clone + PartialEq;
    /// Reads the attribute.
    fn read(attr: Attr<'_>) -> Option<Self::Value>;
    /// Makes the attribute.
    fn attr<'c>(value: &Self::Value, cx: Cx<'c>) -> Attr<'c>;
    /// Whether it may stand at a kernel of so many dims.
    fn fits(_value: &Self::Value, _dims: usize) -> bool {
        true
    }
    /// What it should be, for a message.
    fn wanted(dims: impl Display) -> String;
    /// What is wrong with a part of it.
    fn refuse(_attr: Attr<'_>, _dims: usize) -> Option<String> {
        None
    }
}

/// Implements [`Entry`] for a kind that is one whole number.
macro_rules! number {
    ($kind:ident, $value:ty, $least:expr, $most:expr, $fits:expr, $dims:ident => $wanted:expr) => {
        impl Entry for $kind {
            type Value = $value;
            fn read(attr: Attr<'_>) -> Option<$value> {
                attr.as_int().filter(|number| ($least..=$most).contains(number))?.try_into().ok()
            }
            fn attr<'c>(value: &$value, cx: Cx<'c>) -> Attr<'c> {
                cx.i64_attr(*value as i64)
            }
            fn fits(value: &$value, dims: usize) -> bool {
                let fits: fn($value, usize) -> bool = $fits;
                fits(*value, dims)
            }
            fn wanted($dims: impl Display) -> String {
                let _ = &$dims;
                $wanted
            }
        }
    };
}
pub(crate) use number;

/// Implements [`Entry`] for a kind that is a dictionary of entries of its own.
macro_rules! nested {
    ($kind:ident, $value:ty) => {
        impl Entry for $kind {
            type Value = $value;
            fn read(attr: Attr<'_>) -> Option<$value> {
                attr.as_dict().map(|_| <$value>::read(attr))
            }
            fn attr<'c>(value: &$value, cx: Cx<'c>) -> Attr<'c> {
                value.attr(cx)
            }
            fn wanted(_: impl Display) -> String {
                "a dictionary".to_owned()
            }
            fn refuse(attr: Attr<'_>, dims: usize) -> Option<String> {
                <$value>::refuse(attr, dims)
            }
        }
    };
}
pub(crate) use nested;

/// A number of copies, of threads, of registers, or of what is taken together.
pub struct Count;
/// Whether something is so.
pub struct Flag;

number!(Count, i64, 1, MAX_COUNT, |_, _| true, dims => format!("a number from 1 to {MAX_COUNT}"));

impl Entry for Flag {
    type Value = bool;
    fn read(attr: Attr<'_>) -> Option<bool> {
        attr.as_bool()
    }
    fn attr<'c>(value: &bool, cx: Cx<'c>) -> Attr<'c> {
        cx.bool_attr(*value)
    }
    fn wanted(_: impl Display) -> String {
        "true or false".to_owned()
    }
}

/// An entry as the reference shows it.
pub struct Described {
    /// Its printed name.
    pub name: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// What it may hold.
    pub wanted: fn(&str) -> String,
}

/// A description: a struct with a field for each entry, read from and written to a dictionary.
///
/// Entries without a value are optional. Those of a description whose entries all have one (`entry: Kind = value`) are plain fields, and
/// what a dictionary leaves out has that value.
macro_rules! entries {
    ($(#[$doc:meta])* pub struct $name:ident of $what:literal { $(#[doc = $entry_doc:literal] $field:ident: $kind:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $(#[doc = $entry_doc] pub $field: Option<<$kind as Entry>::Value>,)*
        }

        impl $name {
            /// Reads a dictionary. An entry that is not what it should be, which the verifier refuses, is taken for none.
            pub fn read(attr: Attr<'_>) -> Self {
                Self { $($field: attr.entry(stringify!($field)).and_then(<$kind as Entry>::read),)* }
            }

            /// As a dictionary.
            pub fn attr<'c>(&self, cx: Cx<'c>) -> Attr<'c> {
                let mut entries: Vec<(&str, Attr<'c>)> = Vec::new();
                $(entries.extend(self.$field.as_ref().map(|value| (stringify!($field), <$kind as Entry>::attr(value, cx))));)*
                cx.dict_attr(&entries)
            }
        }

        entries!(table $name $what { $($entry_doc $field $kind)* });
    };

    ($(#[$doc:meta])* pub struct $name:ident of $what:literal {
        $(#[doc = $entry_doc:literal] $field:ident: $kind:ident = $value:expr,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(#[doc = $entry_doc] pub $field: <$kind as Entry>::Value,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $value,)* }
            }
        }

        impl $name {
            /// Reads a dictionary; what it leaves out is as in [`Self::default`].
            pub fn read(attr: Attr<'_>) -> Self {
                let entry = |name: &str| attr.entry(name);
                Self { $($field: entry(stringify!($field)).and_then(<$kind as Entry>::read).unwrap_or_else(|| $value),)* }
            }

            /// As a dictionary of all entries.
            pub fn attr<'c>(&self, cx: Cx<'c>) -> Attr<'c> {
                cx.dict_attr(&[$((stringify!($field), <$kind as Entry>::attr(&self.$field, cx)),)*])
            }
        }

        entries!(table $name $what { $($entry_doc $field $kind)* });
    };

    (table $name:ident $what:literal { $($entry_doc:literal $field:ident $kind:ident)* }) => {
        impl $name {
            /// All entries, by name.
            pub const ENTRIES: &[Described] =
                &[$(Described { name: stringify!($field), doc: $entry_doc, wanted: |dims| <$kind as Entry>::wanted(dims) },)*];

            /// What is wrong with a dictionary at a kernel of so many dims: the first entry that is not known, or not what it should be.
            pub(crate) fn refuse(attr: Attr<'_>, dims: usize) -> Option<String> {
                let known = |name: &str, attr: Attr<'_>| match name {
                    $(stringify!($field) => {
                        let fits = <$kind as Entry>::read(attr).is_some_and(|value| <$kind as Entry>::fits(&value, dims));
                        match fits {
                            true => <$kind as Entry>::refuse(attr, dims),
                            false => Some(format!(concat!("the ", $what, "'s '{}' is not {}"), name, <$kind as Entry>::wanted(dims))),
                        }
                    })*
                    _ => Some(format!(concat!("the ", $what, " has no entry '{}'"), name)),
                };
                attr.as_dict()?.into_iter().find_map(|(name, value)| known(&name, value))
            }
        }
    };
}
pub(crate) use entries;
