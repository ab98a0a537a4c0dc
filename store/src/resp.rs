//! The four requests that a cache makes of a Redis server, and the answers to them: RESP, its protocol.
//!
//! A client library reads whatever length the server claims, and its time limit is one per read. Here a length is
//! checked before anything is read, and the stream knows the deadline.

use std::io::{self, BufRead, BufReader, Read, Write};

/// Longest line of an answer: a length or an error message.
const LINE: u64 = 1 << 10;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It did it.
    Done,
    /// There is no such value.
    Nothing,
    /// The value.
    Value(Vec<u8>),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RespError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("the server says: {0}")]
    Refused(String),
    #[error("the server's value has {found} bytes, more than the {limit} that an entry may have")]
    Large { found: u64, limit: u64 },
    #[error("the server's answer is not one of Redis to this request")]
    Protocol,
}

/// The bytes of a request.
fn request(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

/// Sends a request and reads its answer; a value of more than `limit` bytes is not read.
pub(crate) fn ask<S: Read + Write>(stream: &mut BufReader<S>, words: &[&[u8]], limit: u64) -> Result<Reply, RespError> {
    stream.get_mut().write_all(&request(words))?;
    stream.get_mut().flush()?;
    reply(stream, limit)
}

/// Reads an answer.
fn reply(stream: &mut impl BufRead, limit: u64) -> Result<Reply, RespError> {
    let line = line(stream)?;
    let (kind, rest) = line.split_first().ok_or(RespError::Protocol)?;
    let text = std::str::from_utf8(rest).map_err(|_| RespError::Protocol)?;
    match (kind, text) {
        (b'+', "OK") => Ok(Reply::Done),
        (b'-', text) => Err(RespError::Refused(text.into())),
        (b'$', "-1") => Ok(Reply::Nothing),
        (b'$', digits) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
            // More digits than a length can have are too large a length.
            let found = digits.parse().unwrap_or(u64::MAX);
            if found > limit {
                return Err(RespError::Large { found, limit });
            }
            // Memory grows with what comes, not with what is claimed.
            let mut value = Vec::new();
            stream.take(found).read_to_end(&mut value)?;
            let mut end = [0; 2];
            stream.read_exact(&mut end)?;
            if value.len() as u64 == found && end == *b"\r\n" { Ok(Reply::Value(value)) } else { Err(RespError::Protocol) }
        }
        _ => Err(RespError::Protocol),
    }
}

/// A line without its end.
fn line(stream: &mut impl BufRead) -> Result<Vec<u8>, RespError> {
    let mut line = Vec::new();
    stream.take(LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    match line.strip_suffix(b"\r\n") {
        Some(line) => Ok(line.to_vec()),
        None => Err(RespError::Protocol),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_far_as_they_are_believed() {
        let read = |mut bytes: &[u8]| reply(&mut bytes, 5).map_err(|error| error.to_string());
        assert_eq!(read(b"+OK\r\n"), Ok(Reply::Done));
        assert_eq!(read(b"$-1\r\n"), Ok(Reply::Nothing));
        assert_eq!(read(b"$5\r\na\r\nb!\r\n"), Ok(Reply::Value(b"a\r\nb!".to_vec())));
        assert_eq!(read(b"$0\r\n\r\n"), Ok(Reply::Value(Vec::new())));
        assert!(read(b"-ERR no\r\n").unwrap_err().contains("ERR no"));
        for large in [&b"$6\r\n"[..], b"$4294967296\r\n", b"$99999999999999999999999999\r\n"] {
            assert!(read(large).unwrap_err().contains("more than the 5"));
        }
        for wrong in [
            &b""[..],
            b"+OK",
            b"+NO\r\n",
            b":5\r\n",
            b"*1\r\n$1\r\na\r\n",
            b"$\r\n",
            b"$-2\r\n",
            b"$+1\r\na\r\n",
            b"$3\r\nabcde\r\n",
            b"$3\r\na",
            b"\r\n",
            b"\xff\xff\r\n",
            &[b'$'; 5000],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
