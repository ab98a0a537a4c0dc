//! A cache that a team shares, behind the one on disk.

use crate::{Key, StoreError};
use redis::Commands;
use std::sync::Mutex;
use std::time::Duration;

/// Something that keeps entries elsewhere. Bytes are checked after they come back, so it need not be trusted to keep them well.
pub trait Remote: Send + Sync {
    /// The bytes of an entry.
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError>;
    /// Keeps the bytes of an entry.
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError>;
}

/// Longest wait for a server: a compilation must not hang on its cache.
const PATIENCE: Duration = Duration::from_secs(2);

/// A Redis server; it evicts by its own rules (`maxmemory-policy`).
pub struct Redis {
    address: String,
    client: redis::Client,
    state: Mutex<State>,
}

/// How the server was when it was last asked.
enum State {
    Untried,
    Open(redis::Connection),
    /// It failed once: this process goes on without it instead of waiting again and again.
    Down,
}

impl Redis {
    /// A server by its address, as in `redis://host:6379/0`. It is connected to when it is first needed.
    pub fn open(address: &str) -> Result<Redis, StoreError> {
        let client =
            redis::Client::open(address).map_err(|error| StoreError::Remote { address: address.into(), reason: error.to_string() })?;
        Ok(Redis { address: address.into(), client, state: Mutex::new(State::Untried) })
    }

    /// Asks the server; `None` when it is down. The failure itself is told once.
    fn with<T>(&self, ask: impl FnOnce(&mut redis::Connection) -> redis::RedisResult<T>) -> Result<Option<T>, StoreError> {
        // A panic in another thread may have left the connection in the middle of an answer.
        let mut state = self.state.lock().unwrap_or_else(|poisoned| {
            let mut state = poisoned.into_inner();
            *state = State::Down;
            state
        });
        let answer = match &mut *state {
            State::Down => return Ok(None),
            State::Open(connection) => ask(connection),
            State::Untried => self.connect().and_then(|mut connection| {
                let answer = ask(&mut connection);
                *state = State::Open(connection);
                answer
            }),
        };
        answer.map(Some).map_err(|error| {
            *state = State::Down;
            StoreError::Remote { address: self.address.clone(), reason: error.to_string() }
        })
    }

    fn connect(&self) -> redis::RedisResult<redis::Connection> {
        let connection = self.client.get_connection_with_timeout(PATIENCE)?;
        connection.set_read_timeout(Some(PATIENCE))?;
        connection.set_write_timeout(Some(PATIENCE))?;
        Ok(connection)
    }
}

fn name(key: &Key) -> String {
    format!("strata:v1:{key}")
}

impl Remote for Redis {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.with(|connection| connection.get(name(key)))?.flatten())
    }

    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.with(|connection| connection.set(name(key), bytes)).map(Option::unwrap_or_default)
    }
}
