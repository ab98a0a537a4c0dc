//! Prepared weights in files that outlive the session.

use std::cell::Cell;
use std::fs::File;

use strata_runtime::*;

use crate::program::{artefact, weights_file, weights_with};
use crate::vector;

/// One file, as the store would keep it, its data behind a page.
struct Kept {
    file: tempfile::NamedTempFile,
    made: Cell<u32>,
    filled: Cell<bool>,
    refuses: bool,
}

const OFFSET: u64 = 1 << 16;

impl Kept {
    fn new(refuses: bool) -> Kept {
        Kept { file: tempfile::NamedTempFile::new().unwrap(), made: Cell::new(0), filled: Cell::new(false), refuses }
    }
}

impl PreparedFiles for Kept {
    fn find(&self, bytes: u64) -> Option<(File, u64)> {
        assert_eq!(bytes, 64, "one number, aligned");
        self.filled.get().then(|| (File::open(self.file.path()).unwrap(), OFFSET))
    }

    fn make(&self, bytes: u64) -> Option<(File, u64)> {
        self.made.set(self.made.get() + 1);
        self.file.as_file().set_len(OFFSET + bytes).unwrap();
        (!self.refuses).then(|| (self.file.as_file().try_clone().unwrap(), OFFSET))
    }

    fn finish(&self) {
        self.filled.set(true);
    }
}

fn result(session: &Session) -> f32 {
    let one = vector(&[1.0]);
    session.run(&[one.clone(), one]).unwrap()[0].values::<f32>().unwrap()[0]
}

#[test]
fn one_session_prepares_for_all_others() {
    let (weights, kept) = (weights_file(), Kept::new(false));
    let artefact = artefact(weights.path());
    let load = || Session::load_keeping(&artefact, None, Some(&kept)).unwrap();
    let first = load();
    assert_eq!((result(&first), kept.made.get()), (5.0, 1));
    // What is in the file counts from now on: others do not compute it.
    let root = std::fs::read(kept.file.path()).unwrap()[OFFSET as usize..][..4].to_vec();
    assert_eq!(root, 2f32.to_le_bytes());
    assert_eq!((result(&load()), kept.made.get()), (5.0, 1));
    assert_eq!(result(&first), 5.0);
}

#[test]
fn without_a_file_or_with_weights_that_cannot_be_prepared_nothing_is_kept() {
    let (weights, bad, kept) = (weights_file(), weights_with(-2.0), Kept::new(true));
    let good = artefact(weights.path());
    assert_eq!(result(&Session::load_keeping(&good, None, Some(&kept)).unwrap()), 5.0);
    let kept = Kept::new(false);
    let refused = Session::load_keeping(&good, Some(bad.path()), Some(&kept)).unwrap_err().to_string();
    assert_eq!((refused.as_str(), kept.filled.get()), ("the weights cannot be prepared: -2 has no root", false));
}

/// Pages of files are let go while weights are prepared; packed weights in memory have no file to come back from.
#[test]
fn packed_weights_stay_when_pages_of_files_are_let_go() {
    let weights = weights_file();
    let packed = artefact(weights.path()).pack(None).unwrap();
    for _ in 0..2 {
        assert_eq!(result(&Session::load(&packed, None).unwrap()), 5.0);
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    packed.write(file.path()).unwrap();
    let mapped = Artefact::read(file.path()).unwrap();
    assert_eq!(result(&Session::load(&mapped, None).unwrap()), 5.0);
    assert_eq!(result(&Session::load(&mapped, None).unwrap()), 5.0);
}
