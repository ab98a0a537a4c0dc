//! The shared cache, against a real server that this test starts.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use strata_store::{Key, Kind, Lookup, Parts, Redis, Remote, Settings, Store, StoreError};

/// A server of Debian's `redis-server`, without a disk.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed (./x test installs it)");
        let server = Server { child, address: format!("redis://127.0.0.1:{port}") };
        let patience = Instant::now() + Duration::from_secs(20);
        // A client that failed once stays silent, so each look is a new one's.
        while Redis::open(&server.address).unwrap().get(&parts("none").key(Kind::Group)).is_err() {
            assert!(Instant::now() < patience, "the server does not answer");
            std::thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn stop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn parts(source: &str) -> Parts {
    Parts::new().with("source", source)
}

fn open(dir: &Path, address: &str) -> Store {
    Store::open(&Settings { dir: Some(dir.into()), size: Some(1 << 30), remote: Some(address.into()) }).unwrap().unwrap()
}

#[test]
fn a_team_shares_results() {
    let mut server = Server::start();
    let (mine, yours) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let key = open(mine.path(), &server.address).put(Kind::Artefact, &parts("a"), b"code").unwrap();
    let store = open(yours.path(), &server.address);
    assert_eq!(store.get(&key).data().as_deref(), Some(&b"code"[..]));
    assert!(matches!(store.get(&parts("b").key(Kind::Artefact)), Lookup::Miss));

    let damaged = parts("c").key(Kind::Artefact);
    Redis::open(&server.address).unwrap().put(&damaged, b"not an entry").unwrap();
    assert!(matches!(store.get(&damaged), Lookup::Unusable(_)), "what the server sends is checked");

    server.stop();
    assert!(matches!(store.get(&key), Lookup::Hit(_)), "what came once is on the disk");
    let failed: Result<Key, StoreError> = store.put(Kind::Artefact, &parts("d"), b"code");
    assert!(failed.unwrap_err().to_string().contains("remote cache"));
    assert!(matches!(store.get(&parts("d").key(Kind::Artefact)), Lookup::Hit(_)), "the disk has it all the same");
    store.put(Kind::Artefact, &parts("e"), b"code").expect("a server that is down is told once");
}

#[test]
fn an_address_that_is_none_is_an_error() {
    assert!(Redis::open("nowhere at all").is_err());
}
