//! Weights in the artefact: read without their file, and refused where they are not what it says.

use strata_runtime::weights::Weights;
use strata_runtime::*;

use crate::program::{artefact, weights_file, weights_with};
use crate::vector;

fn packed() -> Artefact {
    artefact(weights_file().path()).pack(None).unwrap()
}

fn out(artefact: &Artefact, weights: Option<&std::path::Path>) -> f32 {
    let (session, one) = (Session::load(artefact, weights).unwrap(), vector(&[1.0]));
    session.run(&[one.clone(), one]).unwrap()[0].values::<f32>().unwrap()[0]
}

#[test]
fn a_packed_program_needs_no_other_file() {
    let (packed, folder) = (packed(), tempfile::tempdir().unwrap());
    let path = folder.path().join("packed.strata");
    packed.write(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), packed.to_bytes());
    for read in [packed.clone(), Artefact::read(&path).unwrap(), Artefact::from_bytes(&packed.to_bytes()).unwrap()] {
        assert_eq!(out(&read, None), 5.0);
        assert_eq!(out(&read, Some(weights_with(9.0).path())), 10.0, "another file stands in for them");
        assert!(Weights::of(&read, None).unwrap().pointers().iter().all(|pointer| (*pointer as usize).is_multiple_of(64)));
    }
}

#[test]
fn what_is_not_where_the_manifest_says_is_refused() {
    let check = |change: fn(&mut manifest::PackedWeights), wanted: &str| {
        let mut artefact = packed();
        change(artefact.manifest.packed.as_mut().unwrap());
        let bytes = artefact.to_bytes();
        let found = Artefact::from_bytes(&bytes).map_err(|error| error.to_string());
        let found = found.and_then(|artefact| Session::load(&artefact, None).map_err(|error| error.to_string()));
        assert!(found.as_ref().is_err_and(|error| error.contains(wanted)), "{:?} is not {wanted}", found.err());
    };
    check(|packed| packed.bytes += 1, "the file ends before");
    check(|packed| packed.bytes = u64::MAX, "the file ends before");
    check(|packed| packed.bytes = u64::MAX - 4096, "the file ends before");
    check(|packed| packed.crc32 ^= 1, "the checksum of the packed weights does not match");
    check(|packed| packed.offsets.truncate(1), "1 places of packed weights for 2 weights");
    check(|packed| packed.offsets[1] = packed.bytes, "weight `calls` is not among the packed ones");
    check(|packed| packed.offsets[1] = u64::MAX, "weight `calls` is not among the packed ones");
}
