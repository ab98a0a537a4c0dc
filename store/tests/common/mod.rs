//! What the tests share: stores with a key of their own, and the warnings that they gave.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::cell::RefCell;
use std::path::Path;
use strata_store::{Parts, Secret, Settings, Store};

thread_local! {
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What stores of this thread have warned of since this was last asked.
pub fn warnings_given() -> Vec<String> {
    WARNINGS.take()
}

/// Settings that leave the user's own key alone.
pub fn settings(dir: &Path) -> Settings {
    let warn: fn(&str) = |text| WARNINGS.with_borrow_mut(|warnings| warnings.push(text.into()));
    Settings { dir: Some(dir.into()), size: Some(1 << 30), remote: None, key: Some(Secret::new([7; 32])), warn: Some(warn) }
}

pub fn open(settings: &Settings) -> Store {
    Store::open(settings).expect("the settings are good").expect("the size is not zero")
}

pub fn parts(source: &str) -> Parts {
    Parts::new().with("source", source).with("target", "znver5")
}

/// An entry's bytes with other data of the same length and a checksum that is right: what somebody without the key can make.
pub fn poisoned(bytes: &[u8], data: &[u8]) -> Vec<u8> {
    let at = bytes.len() - data.len();
    let mut bytes = [&bytes[..at], data].concat();
    bytes[56..88].copy_from_slice(blake3::hash(data).as_bytes());
    bytes
}
