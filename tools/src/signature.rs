//! Signatures of compiled programs: Ed25519 over all bytes of a `.strata` file, in a file beside it, `NAME.strata.sig`.
//!
//! Keys are PEM files as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write them; a signature is the 64 bytes that
//! `openssl pkeyutl -sign -rawin` writes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use ed25519_dalek::pkcs8::{DecodePrivateKey, DecodePublicKey};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

/// Why a file cannot be signed or is not believed.
#[derive(Debug, thiserror::Error)]
pub enum SignatureError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// No key that signs.
    #[error("{0}: not an Ed25519 private key in PEM; make one with `openssl genpkey -algorithm ed25519 -out FILE`")]
    SigningKey(PathBuf),
    /// No key that checks.
    #[error("{0}: not an Ed25519 public key in PEM; make it with `openssl pkey -in KEY -pubout -out FILE`")]
    VerifyingKey(PathBuf),
    /// Nobody signed it.
    #[error("{program} is not signed: {signature}: {source}; sign it with `rs-compile --sign-key`, or run it without --verify-key")]
    Unsigned {
        /// The program.
        program: PathBuf,
        /// Where its signature should be.
        signature: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Somebody else signed it, or something else was signed.
    #[error("{program}: {signature} is not a signature of it by the owner of {key}; the program was not loaded")]
    Wrong {
        /// The program.
        program: PathBuf,
        /// Its signature.
        signature: PathBuf,
        /// The public key.
        key: PathBuf,
    },
    /// Not a file that is signed.
    #[error("{0}: --verify-key is for .strata files; compile the model with `rs-compile --sign-key` first")]
    Kind(PathBuf),
}

fn io(path: &Path) -> impl FnOnce(std::io::Error) -> SignatureError {
    move |source| SignatureError::Io { path: path.into(), source }
}

/// Where the signature of a program is.
pub fn beside(program: &Path) -> PathBuf {
    let mut name = program.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// A key to sign with.
///
/// # Errors
/// When the file is no such key.
pub fn signing_key(path: &Path) -> Result<SigningKey, SignatureError> {
    let text = std::fs::read_to_string(path).map_err(io(path))?;
    SigningKey::from_pkcs8_pem(&text).map_err(|_| SignatureError::SigningKey(path.into()))
}

/// Writes the signature of a program beside the place of its file.
///
/// # Errors
/// When the file cannot be written.
pub fn sign(program: &Path, bytes: &[u8], key: &SigningKey) -> Result<(), SignatureError> {
    let path = beside(program);
    std::fs::write(&path, key.sign(bytes).to_bytes()).map_err(io(&path))
}

/// The bytes of a program that the owner of the public key signed. They are read once: what was checked is what is loaded.
///
/// # Errors
/// When it is not signed by that key.
pub fn read(program: &Path, key: &Path) -> Result<Vec<u8>, SignatureError> {
    let text = std::fs::read_to_string(key).map_err(io(key))?;
    let public = VerifyingKey::from_public_key_pem(&text).map_err(|_| SignatureError::VerifyingKey(key.into()))?;
    let bytes = std::fs::read(program).map_err(io(program))?;
    let (path, mut signature) = (beside(program), Vec::new());
    // One byte more than a signature has, to see that it ends.
    let length = Signature::BYTE_SIZE as u64 + 1;
    let read = File::open(&path).and_then(|file| file.take(length).read_to_end(&mut signature));
    read.map_err(|source| SignatureError::Unsigned { program: program.into(), signature: path.clone(), source })?;
    let good = Signature::from_slice(&signature).and_then(|signature| public.verify_strict(&bytes, &signature));
    good.map_err(|_| SignatureError::Wrong { program: program.into(), signature: path, key: key.into() })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files that OpenSSL wrote: `genpkey`, `pkey -pubout`, and `pkeyutl -sign -rawin` over the bytes `a program`.
    const PRIVATE: &str = include_str!("../../test/pipeline/Inputs/signing_key.pem");
    const PUBLIC: &str = include_str!("../../test/pipeline/Inputs/verifying_key.pem");
    const SIGNATURE: &str = "f11b680b15858f7ccbbfdffa00a439dc8a21b5773eab2ff0b1936faefa3d76cd\
        85514d309b7ae21db7f3cb0ce26ab1cc2fad6d0413758365b724aa53ce80cc02";

    #[test]
    fn signatures_are_those_of_openssl_and_of_these_bytes_alone() {
        let dir = tempfile::tempdir().unwrap();
        let [private, public, program] = ["private.pem", "public.pem", "x.strata"].map(|name| dir.path().join(name));
        std::fs::write(&private, PRIVATE).unwrap();
        std::fs::write(&public, PUBLIC).unwrap();
        std::fs::write(&program, b"a program").unwrap();
        assert!(matches!(read(&program, &public), Err(SignatureError::Unsigned { .. })));
        sign(&program, b"a program", &signing_key(&private).unwrap()).unwrap();
        let signature = std::fs::read(beside(&program)).unwrap();
        assert_eq!(signature.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), SIGNATURE);
        assert_eq!(read(&program, &public).unwrap(), b"a program");
        for at in 0..64 {
            let mut changed = signature.clone();
            changed[at] ^= 1;
            std::fs::write(beside(&program), changed).unwrap();
            assert!(matches!(read(&program, &public), Err(SignatureError::Wrong { .. })), "{at}");
        }
        for signature in [&signature[..63], &[signature.as_slice(), b"x"].concat(), b""] {
            std::fs::write(beside(&program), signature).unwrap();
            assert!(matches!(read(&program, &public), Err(SignatureError::Wrong { .. })));
        }
        std::fs::write(beside(&program), &signature).unwrap();
        std::fs::write(&program, b"a progran").unwrap();
        assert!(matches!(read(&program, &public), Err(SignatureError::Wrong { .. })));
        assert!(matches!(read(&program, &private), Err(SignatureError::VerifyingKey(_))));
        assert!(matches!(signing_key(&public), Err(SignatureError::SigningKey(_))));
    }
}
