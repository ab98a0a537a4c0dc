//! A program as a shared library, read back. (`strata-c` has the test that links it into a C program.)

use strata_runtime::{Session, shared};

use crate::program::{artefact, weights_file};
use crate::vector;

#[test]
fn a_library_is_a_program_too() {
    let (weights, folder) = (weights_file(), tempfile::tempdir().unwrap());
    let path = folder.path().join("libaxpy.so");
    std::fs::write(&path, shared::library(&artefact(weights.path()), "libaxpy.so").unwrap()).unwrap();
    let session = Session::load(&shared::read(&path).unwrap(), None).unwrap();
    assert_eq!(session.run(&[vector(&[2.0]), vector(&[1.0])]).unwrap()[0].values::<f32>().unwrap(), [9.0]);
    std::fs::write(&path, "no library").unwrap();
    assert!(shared::read(&path).unwrap_err().to_string().contains("not a Strata artefact"));
}
