//! The promises of the store: what was put in comes out, what is damaged does not, and nobody is in anybody's way.

use std::fs;
use std::path::Path;
use strata_store::{Explanation, Key, Kind, Lookup, Parts, Place, Secret, Settings, Store, Unusable};

mod common;
use common::{parts, poisoned, settings, warnings_given};

fn open(dir: &Path, size: u64) -> Store {
    common::open(&Settings { size: Some(size), ..settings(dir) })
}

#[test]
fn gives_back_what_was_put_in_also_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    assert!(matches!(store.get(&parts("a").key(Kind::Group)), Lookup::Miss));
    let key = store.put(Kind::Group, &parts("a"), b"result").unwrap();
    let other = open(dir.path(), 1 << 30);
    assert_eq!(other.get(&key).data().as_deref(), Some(&b"result"[..]));
    assert!(matches!(other.get(&parts("a").key(Kind::Object)), Lookup::Miss), "kinds are apart");
    assert_eq!(Key::parse(&key.to_string()), Some(key));
}

#[test]
fn parts_do_not_run_into_each_other() {
    let one = Parts::new().with("a", "bc").key(Kind::Group);
    let two = Parts::new().with("ab", "c").key(Kind::Group);
    let three = Parts::new().with("a", "b").with("c", "").key(Kind::Group);
    assert!(one != two && one != three && two != three);
}

#[test]
fn every_flipped_byte_and_every_truncation_is_a_miss_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    let key = store.put(Kind::Object, &parts("a"), b"some machine code").unwrap();
    let path = store.path(&key);
    let whole = fs::read(&path).unwrap();
    let damaged = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        bytes
    });
    let short = (0..whole.len()).map(|len| whole[..len].to_vec());
    let longer = std::iter::once([whole.as_slice(), b"x"].concat());
    for bytes in damaged.chain(short).chain(longer) {
        fs::write(&path, &bytes).unwrap();
        assert!(matches!(store.get(&key), Lookup::Unusable(_)), "{bytes:?}");
        assert!(matches!(store.get(&key), Lookup::Miss), "a damaged entry is removed");
    }
    fs::write(&path, &whole).unwrap();
    assert!(matches!(store.get(&key), Lookup::Hit(_)));
}

#[test]
fn an_entry_in_anothers_place_is_not_used() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    let (a, b) = (store.put(Kind::Group, &parts("a"), b"a").unwrap(), store.put(Kind::Group, &parts("b"), b"b").unwrap());
    fs::copy(store.path(&a), store.path(&b)).unwrap();
    let verified = store.verify();
    assert_eq!((verified.whole, verified.authentic, verified.removed.len()), (2, 1, 1));
    assert!(matches!(store.get(&b), Lookup::Miss));
    assert!(matches!(store.get(&a), Lookup::Hit(_)));
}

/// Data that are mapped: see `region`.
#[test]
fn data_that_stay_in_their_file_are_found_there() {
    use std::os::unix::fs::FileExt;
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    let key = parts("a").key(Kind::Prepared);
    let data: Vec<u8> = (0..100_000u32).map(|at| at as u8).collect();
    assert!(store.region(&key).is_none());
    let made = store.begin(Kind::Prepared, parts("a"), data.len() as u64).unwrap().unwrap();
    let region = made.region().unwrap();
    region.file.write_all_at(&data, region.offset).unwrap();
    assert!(store.region(&key).is_none(), "it has no name yet");
    store.finish(made).unwrap();

    let read = || {
        let found = store.region(&key)?;
        let mut bytes = vec![0; found.bytes as usize];
        found.file.read_exact_at(&mut bytes, found.offset).unwrap();
        assert!(found.offset.is_multiple_of(1 << 16));
        Some(bytes)
    };
    assert_eq!(read().as_deref(), Some(&data[..]));
    assert_eq!(store.get(&key).data().as_deref(), Some(&data[..]), "an entry as every other");

    // What is before the data is checked, and how long they are.
    let whole = fs::read(store.path(&key)).unwrap();
    for at in [0, 9, 20, 60, 100, 130] {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        fs::write(store.path(&key), &bytes).unwrap();
        assert_eq!((read(), store.path(&key).exists()), (None, false), "byte {at}");
    }
    fs::write(store.path(&key), &whole[..whole.len() - 1]).unwrap();
    assert_eq!(read(), None);
    // The data themselves are for `verify`.
    let mut bytes = whole.clone();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(store.path(&key), &bytes).unwrap();
    assert!(read().is_some());
    assert_eq!(store.verify().removed.len(), 1);
    // Elsewhere it is nobody's.
    let other = parts("b").key(Kind::Prepared);
    fs::create_dir_all(store.path(&other).parent().unwrap()).unwrap();
    fs::write(store.path(&other), &whole).unwrap();
    assert!(store.region(&other).is_none());
}

#[test]
fn no_entry_takes_most_of_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 20);
    assert!(store.begin(Kind::Prepared, parts("a"), (1 << 18) + 1).unwrap().is_none());
    assert!(store.begin(Kind::Prepared, parts("a"), 1 << 18).unwrap().is_some());
}

#[test]
fn what_was_used_longest_ago_goes_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    let data = vec![7; 10_000];
    let keys: Vec<_> = (0..20).map(|at| store.put(Kind::Group, &parts(&at.to_string()), &data).unwrap()).collect();
    for (age, key) in keys.iter().enumerate() {
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(1000 - age as u64);
        fs::File::open(store.path(key)).unwrap().set_modified(time).unwrap();
    }
    assert!(matches!(store.get(&keys[0]), Lookup::Hit(_)), "this use counts");
    let bounded = open(dir.path(), 110_000);
    let freed = bounded.gc().unwrap();
    assert!(freed.entries >= 9, "{freed:?}");
    let kept: u64 = bounded.stat().iter().map(|(_, stat)| stat.bytes).sum();
    assert!(kept <= 110_000 && kept > 80_000, "{kept}");
    assert!(matches!(bounded.get(&keys[0]), Lookup::Hit(_)));
    assert!(matches!(bounded.get(&keys[1]), Lookup::Miss));
    assert!(matches!(bounded.get(&keys[19]), Lookup::Hit(_)));
}

#[test]
fn says_which_part_differs() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    assert_eq!(store.explain(Kind::Artefact, &parts("a")), Explanation::Nothing);
    store.put(Kind::Artefact, &Parts::new().with("source", "a").with("target", "znver4"), b"").unwrap();
    store.put(Kind::Artefact, &Parts::new().with("source", "z").with("target", "skylake"), b"").unwrap();
    let Explanation::Nearest(differences) = store.explain(Kind::Artefact, &parts("a")) else { panic!("there is an entry") };
    assert_eq!(differences.len(), 1);
    assert_eq!((differences[0].name.as_str(), differences[0].found.as_deref()), ("target", Some("znver4")));
    store.put(Kind::Artefact, &parts("a"), b"").unwrap();
    assert_eq!(store.explain(Kind::Artefact, &parts("a")), Explanation::Hit(Place::Disk));
}

/// Whoever can write to the cache and lacks the key.
#[test]
fn a_poisoned_entry_is_a_miss_that_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path(), 1 << 30);
    let key = store.put(Kind::Artefact, &parts("a"), b"good code").unwrap();
    let good = fs::read(store.path(&key)).unwrap();
    let poison = poisoned(&good, b"evil code");
    fs::write(store.path(&key), &poison).unwrap();
    assert!(matches!(store.get(&key), Lookup::Unusable(Unusable::NotAuthentic)));
    let warnings = warnings_given();
    assert!(warnings.len() == 1 && warnings[0].contains("not authentic") && warnings[0].contains("STRATA_CACHE_KEY"), "{warnings:?}");
    assert!(matches!(store.get(&key), Lookup::Miss), "it is removed");

    fs::write(store.path(&key), &poison).unwrap();
    assert!(matches!(store.get(&key), Lookup::Unusable(_)));
    assert!(warnings_given().is_empty(), "one warning is enough");
    fs::write(store.path(&key), &poison).unwrap();
    assert_eq!(store.explain(Kind::Artefact, &parts("a")), Explanation::Nothing);
    fs::write(store.path(&key), &poison).unwrap();
    assert_eq!(store.explain(Kind::Artefact, &parts("b")), Explanation::Nothing, "not even what it says about itself is believed");

    let damaged = store.put(Kind::Group, &parts("a"), b"good code").unwrap();
    let mut bytes = fs::read(store.path(&damaged)).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(store.path(&damaged), bytes).unwrap();
    let verified = store.verify();
    assert_eq!((verified.whole, verified.authentic, verified.removed.len()), (1, 0, 2));
    let reasons: Vec<_> = verified.removed.iter().map(|(_, reason)| reason.clone()).collect();
    assert_eq!(reasons, [Unusable::NotAuthentic, Unusable::Checksum]);
}

#[test]
fn a_key_of_another_opens_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let key = open(dir.path(), 1 << 30).put(Kind::Artefact, &parts("a"), b"code").unwrap();
    let other = common::open(&Settings { key: Some(Secret::new([8; 32])), ..settings(dir.path()) });
    assert_eq!(other.explain(Kind::Artefact, &parts("b")), Explanation::Nothing);
    assert!(matches!(other.get(&key), Lookup::Unusable(Unusable::NotAuthentic)));
}

#[test]
fn a_folder_of_others_is_no_cache() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let key = open(dir.path(), 1 << 30).put(Kind::Artefact, &parts("a"), b"code").unwrap();
    let root = open(dir.path(), 1 << 30).root().to_owned();
    for (folder, mode) in [(dir.path(), 0o777), (dir.path(), 0o770), (&root, 0o702)] {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
        let error = Store::open(&settings(dir.path())).err().expect("others may write to it").to_string();
        assert!(error.contains("others may write") && error.contains("chmod go-w"), "{error}");
        assert!(Store::open_or_warn(&settings(dir.path())).is_none());
        assert!(warnings_given()[0].contains("goes on without a cache"));
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Only root can give a folder away.
    if std::os::unix::fs::chown(dir.path(), Some(12345), None).is_ok() {
        let error = Store::open(&settings(dir.path())).err().expect("it belongs to another").to_string();
        assert!(error.contains("belongs to the user 12345") && error.contains("STRATA_CACHE_DIR"), "{error}");
        std::os::unix::fs::chown(dir.path(), Some(0), None).unwrap();
    }
    assert!(matches!(open(dir.path(), 1 << 30).get(&key), Lookup::Hit(_)));
}

#[test]
fn goes_to_another_machine_in_one_file() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, other) = (open(here.path(), 1 << 30), open(there.path(), 1 << 30));
    let key = store.put(Kind::Artefact, &parts("a"), b"code").unwrap();
    let damaged = store.put(Kind::Artefact, &parts("b"), b"code").unwrap();
    fs::write(store.path(&damaged), b"no entry").unwrap();
    let poison = store.put(Kind::Artefact, &parts("c"), b"good").unwrap();
    fs::write(store.path(&poison), poisoned(&fs::read(store.path(&poison)).unwrap(), b"evil")).unwrap();
    let file = here.path().join("export.zip");
    let moved = store.export(&file, None).unwrap();
    assert_eq!((moved.entries, moved.strange, moved.damaged), (1, 1, 1));
    let stranger = common::open(&Settings { key: Some(Secret::new([8; 32])), ..settings(there.path()) });
    let moved = stranger.import(&file).unwrap();
    assert_eq!((moved.entries, moved.strange, moved.damaged), (0, 1, 0));
    assert!(matches!(other.get(&key), Lookup::Miss), "nothing was taken in");
    assert_eq!(other.import(&file).unwrap().entries, 1);
    assert_eq!(other.get(&key).data().as_deref(), Some(&b"code"[..]));
    fs::write(&file, b"no archive").unwrap();
    assert!(other.import(&file).is_err());
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, b"in the way").unwrap();
    let store = open(&file, 1 << 30);
    assert!(matches!(store.get(&parts("a").key(Kind::Group)), Lookup::Miss));
    let error = store.put(Kind::Group, &parts("a"), b"x").unwrap_err();
    assert!(error.to_string().contains("STRATA_CACHE_DIR"), "{error}");
}

#[test]
fn a_size_of_zero_is_no_store() {
    let settings = Settings { size: Some(0), ..settings(Path::new("/nowhere")) };
    assert!(Store::open(&settings).unwrap().is_none());
}
