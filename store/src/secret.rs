//! The key that says who wrote an entry: the user's own, made at first use, or a team's.
//!
//! An entry is code. It carries a message authentication code (MAC) under this key, which is checked before anything of the entry is
//! used. So whoever can write to the cache, but does not have the key, can make it miss and no more.

use crate::folder::{self, Trust};
use crate::{KEY_VARIABLE, Key, StoreError};
use std::fs::{DirBuilder, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a key, as BLAKE3 takes them.
const BYTES: usize = 32;
/// The file of the user's own key.
const FILE: &str = "cache.key";

/// A key, as what it is used for.
#[derive(Clone)]
pub struct Secret {
    mac: [u8; BYTES],
    id: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.id)
    }
}

impl Secret {
    /// A key of 32 random bytes.
    pub fn new(key: [u8; BYTES]) -> Secret {
        let id = blake3::derive_key("strata cache key id, version 1", &key);
        Secret {
            mac: blake3::derive_key("strata cache entry MAC, version 1", &key),
            id: blake3::Hash::from_bytes(id).to_hex()[..16].into(),
        }
    }

    /// The key that `STRATA_CACHE_KEY` names, or the user's own, which is made if there is none yet.
    pub fn of_environment() -> Result<Secret, StoreError> {
        let Some(text) = std::env::var_os(KEY_VARIABLE).filter(|text| !text.is_empty()) else {
            let path = own()?;
            return read(&path)?.map_or_else(|| make(&path), Ok);
        };
        let path = Path::new(&text);
        match parse(text.as_encoded_bytes()) {
            Some(secret) => Ok(secret),
            None if path.components().count() > 1 => read(path)?.ok_or_else(|| bad(path.display(), "there is no such file")),
            // It may be a key with a typing error, so it is not repeated.
            None => Err(bad(KEY_VARIABLE, "it is neither 64 hexadecimal digits nor a path; a path has a `/` in it, as in ./team.key")),
        }
    }

    /// What tells this key from others, without telling the key.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The MAC of an entry under its name: an authentic entry is none in the place of another.
    pub(crate) fn mac(&self, name: &Key, header: &[u8]) -> blake3::Hash {
        blake3::Hasher::new_keyed(&self.mac).update(header).update(name.to_string().as_bytes()).finalize()
    }
}

/// Where the user's own key lies.
fn own() -> Result<PathBuf, StoreError> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")));
    config.map(|folder| folder.join("strata").join(FILE)).ok_or_else(|| bad(FILE, "neither XDG_CONFIG_HOME nor HOME is set"))
}

/// Reads a key's file; `None` if there is none.
fn read(path: &Path) -> Result<Option<Secret>, StoreError> {
    let refused = |reason: String| bad(path.display(), reason);
    // A pipe would be waited for.
    let file = match File::options().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| refused(error.to_string()))?,
    };
    let meta = file.metadata().map_err(|error| refused(error.to_string()))?;
    let only_me = format!("take that from them: chmod 600 {}", path.display());
    match folder::trust(meta.uid(), meta.mode(), rustix::process::geteuid().as_raw()) {
        _ if !meta.is_file() => return Err(refused("it is no file".into())),
        Trust::Foreign => return Err(refused(format!("it belongs to the user {}, who may know it", meta.uid()))),
        Trust::Writable => return Err(refused(format!("others may write to it; {only_me}"))),
        Trust::Own if meta.mode() & 0o077 != 0 => return Err(refused(format!("others may read it; {only_me}"))),
        // Who may read the administrator's file is the administrator's choice.
        Trust::Own | Trust::Root => {}
    }
    let mut text = Vec::new();
    file.take(4096).read_to_end(&mut text).map_err(|error| refused(error.to_string()))?;
    let secret = parse(text.trim_ascii()).ok_or_else(|| refused("it does not hold 64 hexadecimal digits and nothing else".into()))?;
    Ok(Some(secret))
}

/// Makes the user's own key, if no other process makes it at the same time: then it is that one's.
fn make(path: &Path) -> Result<Secret, StoreError> {
    write(path).map_err(|error| bad(path.display(), error))?;
    read(path)?.ok_or_else(|| bad(path.display(), "somebody removed it as it was made"))
}

fn write(path: &Path) -> std::io::Result<()> {
    let mut key = [0; BYTES];
    getrandom::fill(&mut key)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // A temporary file is the user's alone.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{}", blake3::Hash::from_bytes(key).to_hex())?;
    // A key that a power cut left empty would be an error for ever.
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => Err(error.error),
        _ => Ok(()),
    }
}

fn parse(text: &[u8]) -> Option<Secret> {
    blake3::Hash::from_hex(text).ok().map(|key| Secret::new(*key.as_bytes()))
}

fn bad(place: impl std::fmt::Display, reason: impl std::fmt::Display) -> StoreError {
    StoreError::Key { place: place.to_string(), reason: reason.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_sixty_four_hexadecimal_digits() {
        let whole = "0123456789abcdef".repeat(4);
        assert!(parse(whole.as_bytes()).is_some());
        for bad in ["", &whole[1..], &format!("{whole}0"), &whole.replace('a', "g")] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_id_tells_keys_apart_and_is_no_key() {
        let (one, two) = (Secret::new([1; 32]), Secret::new([2; 32]));
        assert_ne!(one.id(), two.id());
        assert!(!format!("{one:?}").contains("0101"));
    }
}
