//! `./x fuzz remote`: servers that answer a cache with damaged, poisoned, cut and slow bytes. Nothing but what was put under a name
//! may come from it, no look-up may take longer than its time, and each process is warned once.

use std::cell::RefCell;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use strata_store::{Kind, Lookup, Parts, Secret, Settings, Store};

use crate::rng::Rng;

/// The times that the cache is given: the servers wait for longer at times.
const TIMES: &str = "?connect_ms=100&request_ms=100";
/// A look-up that takes this long has lost its deadline, however busy the machine is.
const HANG: Duration = Duration::from_secs(10);
/// What no warning may show.
const PASSWORD: &str = "never-to-be-seen";
/// What was put under the name that is asked for.
const DATA: &[u8] = b"the code of a program, which is longer than a line";

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// One thing that a server does with a connection.
enum Act {
    Hear,
    Send(Vec<u8>),
    Wait(Duration),
}

/// Runs servers for a time; true when none did harm.
pub fn remote(seed: u64, seconds: u64) -> std::io::Result<bool> {
    let folder = tempfile::tempdir()?;
    let good = entry(folder.path(), "wanted")?;
    let other = entry(folder.path(), "another")?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    // The server plays a script for each connection.
    let (scripts, script) = mpsc::channel::<Vec<Act>>();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(acts) = script.recv() else { return };
            std::thread::spawn(|| play(stream, acts));
        }
    });
    let start = Instant::now();
    let (mut seen, mut hits, mut wrong) = (0u64, 0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let case = seed.wrapping_add(seen);
        let mut rng = Rng::new(case, 7);
        let user = rng.pick(&["", ":never-to-be-seen@", "me:never-to-be-seen@"]);
        let database = rng.pick(&["", "/3"]);
        let handshake = usize::from(!user.is_empty()) + usize::from(!database.is_empty());
        if scripts.send(script_of(&mut rng, handshake, &good, &other)).is_err() {
            return Err(std::io::Error::other("the server ended"));
        }
        let place = folder.path().join(format!("case{case}"));
        match check(&place, &format!("redis://{user}{address}{database}{TIMES}")) {
            Ok(hit) => hits += u64::from(hit),
            Err(reason) => {
                println!("== case {case}: {reason}");
                wrong += 1;
            }
        }
        // A store that was not opened left nothing.
        let _ = std::fs::remove_dir_all(&place);
        seen += 1;
    }
    println!(
        "fuzz remote: {seen} servers, {hits} gave the entry, {wrong} did harm in {:.1} s; seeds from {seed}",
        start.elapsed().as_secs_f64()
    );
    Ok(wrong == 0)
}

fn parts(source: &str) -> Parts {
    Parts::new().with("source", source)
}

fn settings(dir: &Path, remote: &str) -> Settings {
    let warn: fn(&str) = |text| SAID.with_borrow_mut(|said| said.push(text.into()));
    Settings { dir: Some(dir.into()), size: Some(1 << 20), remote: Some(remote.into()), key: Some(Secret::new([7; 32])), warn: Some(warn) }
}

/// The bytes of an entry.
fn entry(dir: &Path, source: &str) -> std::io::Result<Vec<u8>> {
    let store = Store::open(&settings(dir, "")).map_err(std::io::Error::other)?.ok_or(std::io::ErrorKind::NotFound)?;
    let key = store.put(Kind::Artefact, &parts(source), DATA).map_err(std::io::Error::other)?;
    std::fs::read(store.path(&key))
}

/// Looks up, puts and looks up again; whether the server gave the entry, or what it did.
fn check(dir: &Path, address: &str) -> Result<bool, String> {
    SAID.take();
    let start = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let store = Store::open(&settings(dir, address)).map_err(|error| error.to_string())?.ok_or("there is no store")?;
        let key = parts("wanted").key(Kind::Artefact);
        let first = store.get(&key);
        let hit = matches!(first, Lookup::Hit(_));
        if first.data().is_some_and(|data| data != DATA) {
            return Err("another's data came".to_owned());
        }
        store.put(Kind::Group, &parts("new"), DATA).map_err(|error| error.to_string())?;
        match store.get(&parts("new").key(Kind::Group)).data() {
            Some(data) if data == DATA => Ok(hit),
            _ => Err("the work on disk went wrong".to_owned()),
        }
    }));
    let hit = done.unwrap_or_else(|_| Err("a panic".into()))?;
    let said = SAID.take();
    match () {
        () if start.elapsed() > HANG => Err(format!("it took {:.1} s", start.elapsed().as_secs_f64())),
        () if said.len() > 1 => Err(format!("more than one warning: {said:?}")),
        // (Without a password of its own the cache knows no text for one.)
        () if said.iter().any(|text| (address.contains(PASSWORD) && text.contains(PASSWORD)) || text.chars().any(char::is_control)) => {
            Err(format!("not to be shown: {said:?}"))
        }
        () => Ok(hit),
    }
}

/// What a server sends: good answers, of which some are made bad.
fn script_of(rng: &mut Rng, handshake: usize, good: &[u8], other: &[u8]) -> Vec<Act> {
    let mut acts = Vec::new();
    let harmless = rng.chance(20);
    for at in 0..handshake + 2 {
        let mut bytes = match at {
            _ if at < handshake => b"+OK\r\n".to_vec(),
            _ if at == handshake => answer(&value(rng, good, other, harmless)),
            _ => b"+OK\r\n".to_vec(),
        };
        if !harmless && rng.chance(15) {
            bytes = line(rng);
        }
        for _ in 0..if harmless { 0 } else { rng.below(3) } {
            damage(rng, &mut bytes);
        }
        if harmless || rng.chance(80) {
            acts.push(Act::Hear);
        }
        // All at once, in pieces, or a byte at a time.
        let piece = rng.pick(&[usize::MAX, usize::MAX, usize::MAX, 7, 1]);
        for piece in bytes.chunks(piece.min(bytes.len().max(1))) {
            acts.push(Act::Send(piece.to_vec()));
        }
        if !harmless && rng.chance(5) {
            acts.push(Act::Wait(Duration::from_millis(rng.below(300) as u64)));
        }
    }
    acts
}

fn answer(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

/// An entry: the one that is asked for, another's, or one whose data somebody changed together with its checksum.
fn value(rng: &mut Rng, good: &[u8], other: &[u8], harmless: bool) -> Vec<u8> {
    let mut bytes = good.to_vec();
    match rng.below(5) {
        _ if harmless => {}
        0 => bytes = other.to_vec(),
        1 => {
            let data = bytes.len() - DATA.len();
            let at = data + rng.below(DATA.len());
            bytes[at] ^= 1 << rng.below(8);
            let sum = blake3::hash(&bytes[data..]);
            bytes[56..88].copy_from_slice(sum.as_bytes());
        }
        2 => damage(rng, &mut bytes),
        _ => {}
    }
    bytes
}

/// A line that Redis might send, to this or another question.
fn line(rng: &mut Rng) -> Vec<u8> {
    let number = rng.bits() >> rng.below(64);
    let kind = rng.pick(&["+", "-", ":", "$", "*", "_", "#", ",", "(", "!", "=", "%", "~", ">", "|"]);
    let rest = match rng.below(6) {
        0 => number.to_string(),
        1 => format!("-{number}"),
        2 => format!("{number}{number}{number}"),
        3 => "OK".into(),
        4 => format!("ERR {PASSWORD} \u{1b}[2J"),
        _ => "1\r\n*".repeat(rng.below(2000)),
    };
    format!("{kind}{rest}\r\n").into_bytes()
}

/// Flips, inserts, removes, repeats or cuts bytes.
fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let at = rng.below(bytes.len() + 1);
    match rng.below(5) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
        1 => bytes.insert(at, rng.bits() as u8),
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 => bytes.extend_from_within(at..),
        _ => bytes.truncate(at),
    }
}

fn play(mut stream: TcpStream, acts: Vec<Act>) {
    // A client that went away, or sends nothing, is no fault of the server.
    let _ = stream.set_read_timeout(Some(Duration::from_millis(50)));
    for act in acts {
        match act {
            Act::Hear => drop(stream.read(&mut [0; 1 << 12])),
            Act::Send(bytes) => drop(stream.write_all(&bytes)),
            Act::Wait(time) => std::thread::sleep(time),
        }
    }
}
