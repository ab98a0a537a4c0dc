//! Servers that are dead, slow or lie: each costs a bounded time and one warning, and then the work is local.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use strata_store::{Kind, Lookup, Settings, Store};

mod common;
use common::{parts, poisoned, settings, warnings_given};

/// Times of these tests: short, for what is waited for in full.
const TIMES: &str = "?connect_ms=200&request_ms=300";
/// No test of a time limit may fail on a busy machine; without a limit each of these would hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that does this with each connection, one after the other.
fn server(mut serve: impl FnMut(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("redis://{}{TIMES}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().flatten().for_each(&mut serve));
    address
}

/// A server that reads a request and gives these bytes.
fn answering(answer: impl Into<Vec<u8>>) -> String {
    let answer = answer.into();
    server(move |mut stream| {
        // A client that went away is no fault of the server.
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(&answer);
    })
}

/// A look-up and a put, with the warning that they give.
fn use_it(address: &str) -> (Lookup, String) {
    let dir = tempfile::tempdir().unwrap();
    let store = common::open(&Settings { remote: Some(address.into()), ..settings(dir.path()) });
    let start = Instant::now();
    let found = store.get(&parts("a").key(Kind::Artefact));
    let key = store.put(Kind::Artefact, &parts("a"), b"code").expect("the disk is well");
    assert!(matches!(store.get(&key), Lookup::Hit(_)), "the local work goes on");
    assert!(store.remote_failed(), "it is asked no more");
    for other in 0..100 {
        assert!(matches!(store.get(&parts(&other.to_string()).key(Kind::Artefact)), Lookup::Miss));
    }
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    let mut warnings = warnings_given();
    assert_eq!(warnings.len(), 1, "one warning: {warnings:?}");
    assert!(warnings[0].starts_with("remote cache redis://") && warnings[0].contains("goes on with what is on disk"), "{warnings:?}");
    (found, warnings.remove(0))
}

/// The warning about a server that does harm.
fn check(address: &str, reason: &str) {
    let (found, warnings) = use_it(address);
    assert!(matches!(found, Lookup::Miss), "{found:?}");
    assert!(warnings.contains(reason), "{warnings}");
}

#[test]
fn a_server_that_is_not_there() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    check(&format!("redis://127.0.0.1:{port}"), "refused");
    check("redis://no-such-host.invalid", "");
}

#[test]
fn a_stopped_server() {
    // The system takes the connection; nobody reads.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    check(&format!("redis://{}{TIMES}", listener.local_addr().unwrap()), "no answer in time (200 ms to connect, 300 ms in all");
}

#[test]
fn a_server_that_takes_no_more_than_its_buffers() {
    let address = server(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"$-1\r\n");
        std::thread::sleep(PATIENCE);
    });
    let dir = tempfile::tempdir().unwrap();
    let store = common::open(&Settings { remote: Some(address), ..settings(dir.path()) });
    assert!(matches!(store.get(&parts("a").key(Kind::Artefact)), Lookup::Miss));
    store.put(Kind::Artefact, &parts("a"), &vec![1; 64 << 20]).unwrap();
    assert!(warnings_given()[0].contains("no answer in time"));
}

#[test]
fn a_byte_a_time() {
    let address = server(|mut stream| {
        for byte in b"$1000\r\n".iter().chain(std::iter::repeat(&b'a')) {
            std::thread::sleep(Duration::from_millis(20));
            if stream.write_all(&[*byte]).is_err() {
                break;
            }
        }
    });
    check(&address, "no answer in time");
}

#[test]
fn a_server_that_is_always_nearly_late() {
    let address = server(|mut stream| {
        while stream.read(&mut [0; 4096]).is_ok_and(|bytes| bytes > 0) {
            std::thread::sleep(Duration::from_millis(100));
            if stream.write_all(b"$-1\r\n").is_err() {
                break;
            }
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let store = common::open(&Settings { remote: Some(address), ..settings(dir.path()) });
    for other in 0..100 {
        assert!(matches!(store.get(&parts(&other.to_string()).key(Kind::Artefact)), Lookup::Miss));
    }
    let warnings = warnings_given();
    assert!(warnings.len() == 1 && (warnings[0].contains("too slow") || warnings[0].contains("no answer in time")), "{warnings:?}");
}

#[test]
fn lengths_that_are_not_read() {
    for length in ["4294967296", "18446744073709551616", "536870913"] {
        check(&answering(format!("${length}\r\nabc")), "more than the 536870912 that an entry may have");
    }
    // A length within the bound takes as much memory as comes.
    check(&answering("$536870912\r\nabc"), "ended the connection");
}

#[test]
fn an_entry_larger_than_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let store = common::open(&Settings { size: Some(1000), remote: Some(answering("$1001\r\n")), ..settings(dir.path()) });
    assert!(matches!(store.get(&parts("a").key(Kind::Artefact)), Lookup::Miss));
    assert!(warnings_given()[0].contains("1001 bytes, more than the 1000"));
}

#[test]
fn cut_answers() {
    for cut in ["", "$", "$10", "$10\r", "$10\r\n", "$10\r\nabc", "$3\r\nabc", "$3\r\nabc\r"] {
        check(&answering(cut), "");
    }
}

#[test]
fn answers_to_other_questions() {
    let nested = "*1\r\n".repeat(100_000);
    for wrong in [
        ":5\r\n",
        "+OK\r\n",
        "+PONG\r\n",
        "*-1\r\n",
        "*2147483647\r\n",
        &nested,
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "\0\0\0\0\r\n",
        "%1\r\n",
        "_\r\n",
    ] {
        check(&answering(wrong), "not one of Redis");
    }
    check(&answering("-NOAUTH Authentication required.\r\n"), "NOAUTH Authentication required");
    check(&answering("-\x1b[31mred\r\n"), "\\u{1b}[31mred");
}

#[test]
fn a_password_that_is_sent_back_is_not_shown() {
    let address = answering("-ERR you said s3cret! s3cret!\r\n").replace("redis://", "redis://me:s3cret%21@");
    let (_, warnings) = use_it(&address);
    assert!(warnings.contains("you said *** ***") && !warnings.contains("s3cret"), "{warnings}");
}

#[test]
fn entries_that_are_none_of_ours() {
    let dir = tempfile::tempdir().unwrap();
    let store = common::open(&settings(dir.path()));
    let read = |store: &Store, source| std::fs::read(store.path(&store.put(Kind::Artefact, &parts(source), b"code").unwrap())).unwrap();
    let good = read(&store, "a");
    for (bytes, reason) in [
        (poisoned(&good, b"evil"), "not authentic"),
        (read(&store, "b"), "not authentic"),
        (good[..good.len() - 1].to_vec(), "bytes of"),
        (b"no entry".to_vec(), "not an entry"),
        (Vec::new(), "not an entry"),
    ] {
        let answer = [format!("${}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
        let (found, warnings) = use_it(&answering(answer));
        assert!(matches!(found, Lookup::Unusable(_)) && warnings.contains(reason), "{found:?} {warnings}");
    }
}
