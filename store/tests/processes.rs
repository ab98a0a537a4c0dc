//! Many processes, some of them killed while they write: this test starts itself as the others.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use strata_store::{Kind, Lookup, Parts, Settings, Store};

mod common;

/// The folder that a started process works in.
const FOLDER: &str = "STORE_TEST_FOLDER";

fn open(dir: &Path, size: u64) -> Store {
    common::open(&Settings { size: Some(size), ..common::settings(dir) })
}

fn data(at: u64) -> Vec<u8> {
    (0..20_000 + at % 7 * 1000).map(|byte| (byte * 31 + at) as u8).collect()
}

fn parts(at: u64) -> Parts {
    Parts::new().with("number", at.to_string())
}

fn start(dir: &Path) -> Child {
    run("works_as_one_of_many", dir, Command::new(std::env::current_exe().unwrap()))
}

/// Starts one test of this file by the command, in a folder.
fn run(test: &str, dir: &Path, mut command: Command) -> Child {
    command.args(["--exact", test, "--nocapture"]).env(FOLDER, dir).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// What each started process does; on its own it does nothing.
#[test]
fn works_as_one_of_many() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let store = open(Path::new(&dir), 3 << 20);
    for round in 0..400u64 {
        let at = (round * 17 + u64::from(std::process::id())) % 200;
        match store.get(&parts(at).key(Kind::Object)) {
            Lookup::Hit(entry) => assert_eq!(entry.data, data(at), "a wrong result"),
            Lookup::Miss => {
                let key = store.put(Kind::Object, &parts(at), &data(at)).expect("there is room");
                // It may have been evicted by another already, but never be damaged.
                assert!(!matches!(store.get(&key), Lookup::Unusable(_)), "what was reported as written is damaged");
            }
            Lookup::Unusable(reason) => panic!("entry {at}: {reason}"),
        }
    }
}

#[test]
fn eight_processes_share_a_store_under_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..8).map(|_| start(dir.path())).collect();
    for child in children {
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let store = open(dir.path(), 3 << 20);
    store.gc().unwrap();
    assert!(store.verify().removed.is_empty());
    assert!(store.stat().iter().map(|(_, stat)| stat.bytes).sum::<u64>() <= 3 << 20);
}

#[test]
fn killed_writers_leave_no_half_entry() {
    let dir = tempfile::tempdir().unwrap();
    let mut seed = 12345u64;
    for _ in 0..200 {
        let mut child = start(dir.path());
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_micros(1000 + seed % 12_000));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let verified = open(dir.path(), 3 << 20).verify();
    assert!(verified.removed.is_empty(), "{:?}", verified.removed);
    assert!(verified.whole > 0, "some wrote before they were killed");
}

/// What a process does that may write small files only; on its own it does nothing.
#[test]
fn writes_to_a_full_disk() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let store = open(Path::new(&dir), 1 << 30);
    let key = store.put(Kind::Group, &parts(1), b"small").expect("there is room for it");
    assert!(store.put(Kind::Group, &parts(2), &[1; 100_000]).is_err());
    assert!(matches!(store.get(&parts(2).key(Kind::Group)), Lookup::Miss));
    assert!(matches!(store.get(&key), Lookup::Hit(_)));
}

#[test]
fn a_full_disk_loses_nothing_that_was_reported_as_written() {
    let dir = tempfile::tempdir().unwrap();
    let mut limited = Command::new("sh");
    // Without the signal a write past the limit fails with an error, as on a full disk.
    limited.args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
    let done = run("writes_to_a_full_disk", dir.path(), limited).wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let store = open(dir.path(), 1 << 30);
    assert_eq!((store.verify().whole, store.verify().removed.len()), (1, 0));
    assert_eq!(std::fs::read_dir(store.root().join("tmp")).unwrap().count(), 0, "the part that was written is removed");
}
