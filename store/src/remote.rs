//! A cache that a team shares, behind the one on disk: a Redis server, which need not be trusted.
//!
//! It never hurts: every request has a deadline, what it sends is bounded before it is read and checked before it is used, and
//! after its first failure a process goes on without it.

use crate::address::Address;
use crate::entry::VERSION;
use crate::resp::{Reply, RespError, ask};
use crate::stream::Stream;
use crate::{Key, Secret, StoreError};
use std::io::{BufReader, ErrorKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longest value that a Redis server keeps unless it is reason otherwise (`proto-max-bulk-len`).
const LONGEST: u64 = 512 << 20;
/// A server is too slow when its answers take this part of a request's time on average...
const SLOW: u32 = 4;
/// ...over as long as this many requests may take: one that is late now and then is not.
const PATIENCE: u32 = 5;

/// A Redis server; it evicts by its own rules (`maxmemory-policy`).
pub struct Remote {
    address: Address,
    limit: u64,
    state: Mutex<Server>,
}

/// The server as this process knows it.
struct Server {
    state: State,
    /// How many times it answered.
    answers: u32,
    /// How long they took.
    waited: Duration,
}

/// How the server was when it was last asked.
enum State {
    Untried,
    Open(BufReader<Stream>),
    /// It failed once: this process goes on without it instead of waiting again and again.
    Down,
}

impl Remote {
    /// A server by its address. It is connected to when it is first needed. Entries have at most `limit` bytes.
    pub fn open(address: &str, limit: u64) -> Result<Remote, StoreError> {
        Ok(Remote {
            address: Address::parse(address)?,
            limit: limit.min(LONGEST),
            state: Mutex::new(Server { state: State::Untried, answers: 0, waited: Duration::ZERO }),
        })
    }

    /// Whether the server has failed.
    pub fn is_down(&self) -> bool {
        matches!(self.server().state, State::Down)
    }

    /// The bytes of an entry.
    pub fn get(&self, key: &Key, secret: &Secret) -> Result<Option<Vec<u8>>, StoreError> {
        match self.ask(&[b"GET", name(key, secret).as_bytes()])? {
            None | Some(Reply::Nothing) => Ok(None),
            Some(Reply::Value(bytes)) => Ok(Some(bytes)),
            Some(Reply::Done) => Err(self.fail(RespError::Protocol)),
        }
    }

    /// Keeps the bytes of an entry; one that is too large to be read is not sent.
    pub fn put(&self, key: &Key, secret: &Secret, bytes: &[u8]) -> Result<(), StoreError> {
        if bytes.len() as u64 > self.limit {
            return Ok(());
        }
        match self.ask(&[b"SET", name(key, secret).as_bytes(), bytes])? {
            None | Some(Reply::Done) => Ok(()),
            Some(_) => Err(self.fail(RespError::Protocol)),
        }
    }

    /// Goes on without the server, for a reason.
    pub(crate) fn fail(&self, reason: impl std::fmt::Display) -> StoreError {
        self.server().state = State::Down;
        StoreError::Remote { address: self.address.to_string(), reason: reason.to_string() }
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        // Nothing that is done under the lock panics; a connection in the middle of an answer would be caught as one that lies.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server; `None` when it is down. The failure itself is reason once.
    fn ask(&self, words: &[&[u8]]) -> Result<Option<Reply>, StoreError> {
        let mut server = self.server();
        let start = Instant::now();
        let deadline = start + self.address.request;
        let stream = match std::mem::replace(&mut server.state, State::Down) {
            State::Down => return Ok(None),
            State::Open(mut stream) => {
                stream.get_mut().set_deadline(deadline);
                Ok(stream)
            }
            State::Untried => self.connect(deadline),
        };
        let answer = stream.and_then(|mut stream| ask(&mut stream, words, self.limit).map(|reply| (reply, stream)));
        server.answers = server.answers.saturating_add(1);
        server.waited += start.elapsed();
        match answer {
            Ok(_) if self.is_slow(&server) => {
                let reason = format!("it is too slow: {} answers took {:.1} s", server.answers, server.waited.as_secs_f64());
                drop(server);
                Err(self.fail(reason))
            }
            Ok((reply, stream)) => {
                server.state = State::Open(stream);
                Ok(Some(reply))
            }
            Err(error) => {
                drop(server);
                Err(self.fail(self.explain(error)))
            }
        }
    }

    fn is_slow(&self, server: &Server) -> bool {
        server.waited > self.address.request * PATIENCE && server.waited / server.answers > self.address.request / SLOW
    }

    fn connect(&self, deadline: Instant) -> Result<BufReader<Stream>, RespError> {
        let mut stream = BufReader::new(Stream::connect(&self.address, deadline)?);
        let Address { user, password, database, .. } = &self.address;
        if !password.is_empty() {
            let words: &[&[u8]] =
                if user.is_empty() { &[b"AUTH", password.as_bytes()] } else { &[b"AUTH", user.as_bytes(), password.as_bytes()] };
            done(ask(&mut stream, words, 0)?)?;
        }
        if let Some(number) = database {
            done(ask(&mut stream, &[b"SELECT", number.to_string().as_bytes()], 0)?)?;
        }
        Ok(stream)
    }

    /// The failure in words that say what to do about it, and that are fit to be shown.
    fn explain(&self, error: RespError) -> String {
        match error {
            RespError::Io(error) if error.kind() == ErrorKind::TimedOut => format!(
                "no answer in time ({} ms to connect, {} ms in all; connect_ms and request_ms in its address set these)",
                self.address.connect.as_millis(),
                self.address.request.as_millis()
            ),
            RespError::Io(error) if error.kind() == ErrorKind::UnexpectedEof => "the server ended the connection".into(),
            RespError::Refused(text) => RespError::Refused(self.address.hide(&text)).to_string(),
            error => error.to_string(),
        }
    }
}

fn done(reply: Reply) -> Result<(), RespError> {
    if reply == Reply::Done { Ok(()) } else { Err(RespError::Protocol) }
}

/// The name of an entry. Who has another key could not use it, so theirs are apart: they neither find nor replace each other's.
fn name(key: &Key, secret: &Secret) -> String {
    format!("strata:v{VERSION}:{}:{key}", secret.id())
}
