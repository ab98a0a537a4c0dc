//! What an entry of a schedule may hold, and the table of entries as a struct.

use super::super::MAX_SIZE;
use std::fmt::Display;
use strata_core::ir::{Attr, Cx};

/// Copies of a body that a schedule may have written out; those that are chosen have a few dozen.
pub(super) const MAX_COPIES: i64 = 1 << 12;

/// Lanes of a vector: the widest registers hold 64 bytes, and code for a vector of many registers takes long to make.
const MAX_LANES: i64 = 1 << 8;

/// Elements along one dim of a tile or a block: a whole dim, rounded up to so many steps.
const MAX_EXTENT: i64 = MAX_SIZE + (1 << 20);

/// The value of an entry: how it is read, checked and written.
pub trait Entry {
    /// What it is in Rust.
    type Value: Clone + PartialEq;
    /// Reads the attribute.
    fn read(attr: Attr<'_>) -> Option<Self::Value>;
    /// Makes the attribute.
    fn attr<'c>(value: &Self::Value, cx: Cx<'c>) -> Attr<'c>;
    /// Whether it may stand in the schedule of a kernel of so many dims.
    fn fits(value: &Self::Value, dims: usize) -> bool;
    /// What it should be, for a message.
    fn wanted(dims: impl Display) -> String;
    /// What is wrong with a part of it.
    fn refuse(_attr: Attr<'_>, _dims: usize) -> Option<String> {
        None
    }
}

/// A number of copies, of threads, or of what is taken together.
pub struct Count;
/// A whole number of any sign.
pub struct Offset;
/// Numbers of copies.
pub struct Numbers;
/// Elements along dims.
pub struct Extents;
/// A power of two.
pub struct Lanes;
/// A dim of the kernel.
pub struct DimIndex;
/// Different dims of the kernel.
pub struct Dims;
/// The position of an operand.
pub struct Index;
/// Whether something is done.
pub struct Flag;
/// The entries of an [`OnlineSchedule`](super::OnlineSchedule).
pub struct Online;

/// Implements [`Entry`] for a kind that is one number.
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

/// Implements [`Entry`] for a kind that is a list of numbers.
macro_rules! list {
    ($kind:ident, $value:ty, $least:expr, $most:expr, $fits:expr, $dims:ident => $wanted:expr) => {
        impl Entry for $kind {
            type Value = Vec<$value>;
            fn read(attr: Attr<'_>) -> Option<Vec<$value>> {
                attr.as_i64s()?.into_iter().map(|number| (($least..=$most).contains(&number)).then_some(number as $value)).collect()
            }
            fn attr<'c>(value: &Vec<$value>, cx: Cx<'c>) -> Attr<'c> {
                cx.i64s_attr(&value.iter().map(|&number| number as i64).collect::<Vec<_>>())
            }
            fn fits(value: &Vec<$value>, dims: usize) -> bool {
                let fits: fn(&[$value], usize) -> bool = $fits;
                fits(value, dims)
            }
            fn wanted($dims: impl Display) -> String {
                let _ = &$dims;
                $wanted
            }
        }
    };
}

number!(Count, i64, 1, MAX_COPIES, |_, _| true, dims => format!("a number from 1 to {MAX_COPIES}"));
number!(Offset, i64, -MAX_SIZE, MAX_SIZE, |_, _| true, dims => format!("a number from -{MAX_SIZE} to {MAX_SIZE}"));
number!(Lanes, i64, 1, MAX_LANES, |n, _| n & (n - 1) == 0, dims => format!("a power of two up to {MAX_LANES}"));
number!(DimIndex, usize, 0, i64::MAX, |dim, dims| dim < dims, dims => format!("one of the {dims} dims of the kernel"));
number!(Index, usize, 0, MAX_COPIES, |_, _| true, dims => "the position of an operand".to_owned());
list!(Numbers, i64, 1, MAX_COPIES, |_, _| true, dims => format!("a list of numbers from 1 to {MAX_COPIES}"));
list!(Extents, i64, 0, MAX_EXTENT, |_, _| true, dims => format!("a list of numbers from 0 to {MAX_EXTENT}"));
list!(
    Dims,
    usize,
    0,
    i64::MAX,
    |list, dims| list.iter().enumerate().all(|(at, dim)| *dim < dims && !list[..at].contains(dim)),
    dims => format!("a list of different ones of the {dims} dims of the kernel")
);

impl Entry for Flag {
    type Value = bool;
    fn read(attr: Attr<'_>) -> Option<bool> {
        attr.as_bool()
    }
    fn attr<'c>(value: &bool, cx: Cx<'c>) -> Attr<'c> {
        cx.bool_attr(*value)
    }
    fn fits(_: &bool, _: usize) -> bool {
        true
    }
    fn wanted(_: impl Display) -> String {
        "true or false".to_owned()
    }
}

impl Entry for Online {
    type Value = super::OnlineSchedule;
    fn read(attr: Attr<'_>) -> Option<super::OnlineSchedule> {
        attr.as_dict().map(|_| super::OnlineSchedule::read(attr))
    }
    fn attr<'c>(value: &super::OnlineSchedule, cx: Cx<'c>) -> Attr<'c> {
        value.attr(cx)
    }
    fn fits(_: &super::OnlineSchedule, _: usize) -> bool {
        true
    }
    fn wanted(_: impl Display) -> String {
        "a dictionary".to_owned()
    }
    fn refuse(attr: Attr<'_>, dims: usize) -> Option<String> {
        super::OnlineSchedule::refuse(attr, dims)
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

/// A schedule: a struct with an optional field for each entry, read from and written to a dictionary.
macro_rules! entries {
    ($(#[$doc:meta])* pub struct $name:ident { $(#[doc = $entry_doc:literal] $field:ident: $kind:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq)]
        pub struct $name {
            $(#[doc = $entry_doc] pub $field: Option<<$kind as Entry>::Value>,)*
        }

        impl $name {
            /// All entries, by name.
            pub const ENTRIES: &[Described] =
                &[$(Described { name: stringify!($field), doc: $entry_doc, wanted: |dims| <$kind as Entry>::wanted(dims) },)*];

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

            /// What is wrong with a dictionary: the first entry that is not known, or not what it should be.
            pub(super) fn refuse(attr: Attr<'_>, dims: usize) -> Option<String> {
                let known = |name: &str, attr: Attr<'_>| match name {
                    $(stringify!($field) => {
                        let fits = <$kind as Entry>::read(attr).is_some_and(|value| <$kind as Entry>::fits(&value, dims));
                        match fits {
                            true => <$kind as Entry>::refuse(attr, dims),
                            false => Some(format!("the schedule's '{name}' is not {}", <$kind as Entry>::wanted(dims))),
                        }
                    })*
                    _ => Some(format!("the schedule has no entry '{name}'")),
                };
                attr.as_dict()?.into_iter().find_map(|(name, value)| known(&name, value))
            }
        }
    };
}
pub(super) use entries;
