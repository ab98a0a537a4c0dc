//! Where a remote is: `redis://host:6379`, or `rediss://user:password@host:6380/0?connect_ms=250&request_ms=2000` over TLS.

use crate::StoreError;
use std::time::Duration;
use url::Url;

/// Longest wait for a connection: some tens of round trips to another continent.
const CONNECT: Duration = Duration::from_millis(250);
/// Longest time of a request in all: a compilation must not hang on its cache.
const REQUEST: Duration = Duration::from_secs(2);
/// No request takes longer than this, whatever the address says.
const LONGEST: Duration = Duration::from_secs(600);
/// The port of Redis if the address has none.
const PORT: u16 = 6379;

/// An address, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub host: String,
    pub port: u16,
    pub tls: bool,
    pub user: String,
    pub password: String,
    /// The database's number; the server's first one if there is none.
    pub database: Option<u32>,
    pub connect: Duration,
    pub request: Duration,
}

impl Address {
    pub fn parse(text: &str) -> Result<Address, StoreError> {
        let bad = |reason: &str| StoreError::Address(reason.into());
        let url = Url::parse(text).map_err(|error| StoreError::Address(format!("it is no address ({error})")))?;
        let tls = match url.scheme() {
            "redis" => false,
            "rediss" => true,
            _ => return Err(bad("it begins neither with redis:// nor with rediss://")),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad("it has no host"))?;
        let decoded = |text: &str| {
            let text = percent_encoding::percent_decode_str(text).decode_utf8();
            text.map(String::from).map_err(|_| bad("its user or password is no UTF-8"))
        };
        let (user, password) = (decoded(url.username())?, decoded(url.password().unwrap_or_default())?);
        if password.is_empty() && !user.is_empty() {
            return Err(bad("it has a user without a password; a password alone is written redis://:password@host"));
        }
        let database = match url.path().trim_start_matches('/') {
            "" => None,
            number => Some(number.parse().map_err(|_| bad("what follows the host is no number of a database"))?),
        };
        let mut address = Address {
            host: host.trim_matches(['[', ']']).into(),
            port: url.port().unwrap_or(PORT),
            tls,
            user,
            password,
            database,
            connect: CONNECT,
            request: REQUEST,
        };
        for (name, value) in url.query_pairs() {
            let time = value.parse().ok().map(Duration::from_millis).filter(|time| !time.is_zero() && *time <= LONGEST);
            let time = time.ok_or_else(|| bad(&format!("a time is a number of milliseconds from 1 to {}", LONGEST.as_millis())));
            match &*name {
                "connect_ms" => address.connect = time?,
                "request_ms" => address.request = time?,
                _ => return Err(bad("behind the question mark it may have connect_ms=.. and request_ms=.. only")),
            }
        }
        Ok(address)
    }

    /// A text of the server's, fit to be shown: no password, no control characters, not too long.
    pub fn hide(&self, text: &str) -> String {
        let text = if self.password.is_empty() { text.into() } else { text.replace(&self.password, "***") };
        text.chars().take(200).flat_map(char::escape_debug).collect()
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (scheme, bracket) = (if self.tls { "rediss" } else { "redis" }, self.host.contains(':'));
        let (open, close) = if bracket { ("[", "]") } else { ("", "") };
        write!(f, "{scheme}://{open}{}{close}:{}", self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_parts() {
        let all = Address::parse("rediss://me:p%40ss@cache.example:6380/3?connect_ms=10&request_ms=500").ok().unwrap();
        assert_eq!((all.tls, &*all.user, &*all.password, all.database), (true, "me", "p@ss", Some(3)));
        assert_eq!((all.connect, all.request), (Duration::from_millis(10), Duration::from_millis(500)));
        assert_eq!(all.to_string(), "rediss://cache.example:6380", "no password is shown");
        assert_eq!(all.hide("ERR p@ss\u{1b}[2J"), "ERR ***\\u{1b}[2J");
        let bare = Address::parse("redis://[::1]").ok().unwrap();
        assert_eq!((&*bare.host, bare.port, bare.connect, bare.request), ("::1", 6379, CONNECT, REQUEST));
        assert_eq!(bare.to_string(), "redis://[::1]:6379");
    }

    #[test]
    fn an_address_that_is_none_is_told_without_its_password() {
        for bad in [
            "hidden at all",
            "http://:hidden@host",
            "redis://",
            "redis://hidden@host",
            "redis://:hidden@host/x",
            "redis://:hidden@host:99999",
            "redis://:hidden@host?timeout=3",
            "redis://:hidden@host?connect_ms=0",
            "redis://:hidden@host?request_ms=18446744073709551615",
            "redis://:hidden%ff@host",
        ] {
            let error = Address::parse(bad).err().expect(bad).to_string();
            assert!(error.contains("STRATA_CACHE_REMOTE") && !error.contains("hidden"), "{error}");
        }
    }
}
