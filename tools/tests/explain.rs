//! What `--explain-cache` says of a program that the team's cache has.

use std::io::{Read, Write};
use std::net::TcpListener;

use strata_store::{Kind, Parts, Secret, Settings, Store};
use strata_tools::cached;

#[test]
fn a_program_of_the_team_is_a_remote_hit_and_then_in_the_cache() {
    let (there, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = |dir: &tempfile::TempDir, remote: String| {
        let key = Some(Secret::new([7; 32]));
        Store::open(&Settings { dir: Some(dir.path().into()), size: Some(1 << 20), remote: Some(remote), key, warn: None })
            .unwrap()
            .unwrap()
    };
    let (parts, theirs) = (Parts::new().with("source", "a"), open(&there, String::new()));
    let entry = std::fs::read(theirs.path(&theirs.put(Kind::Artefact, &parts, b"code").unwrap())).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = open(&here, format!("redis://{}?connect_ms=10000&request_ms=20000", listener.local_addr().unwrap()));
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        stream.write_all(&[format!("${}\r\n", entry.len()).as_bytes(), &entry, b"\r\n"].concat()).unwrap();
    });
    assert_eq!(cached::explain(&ours, &parts), "remote hit: taken from the team's cache");
    assert_eq!(cached::explain(&ours, &parts), "in the cache");
}
