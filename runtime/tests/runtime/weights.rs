//! Weights in stored zip entries: mapped where dense, copied where strided, refused where they do not fit.

use std::io::Write;

use strata_runtime::manifest::*;
use strata_runtime::weights::Weights;
use strata_runtime::{DType, Manifest};
use zip::write::SimpleFileOptions;

/// An archive as `torch.export.save` writes it: stored, aligned, under a root folder.
fn archive() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut zip = zip::ZipWriter::new(file.reopen().unwrap());
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).with_alignment(64);
    zip.start_file("model/data/weights/weight_0", stored).unwrap();
    let values: Vec<u8> = (0..12).flat_map(|v| (v as f32).to_le_bytes()).collect();
    zip.write_all(&values).unwrap();
    zip.finish().unwrap();
    file
}

fn weight(file: &std::path::Path, shape: &[i64], byte_offset: u64, strides: &[i64]) -> Manifest {
    let mut manifest = Manifest::new("weights", Target::host());
    let source = WeightSource {
        file: file.display().to_string(),
        entry: "data/weights/weight_0".into(),
        byte_offset,
        strides: strides.to_vec(),
        zeros: false,
    };
    manifest.weights = vec![Weight { name: "w".into(), dtype: DType::F32, shape: shape.to_vec(), source }];
    manifest
}

#[test]
fn dense_and_strided_weights_are_found() {
    let file = archive();
    for (shape, offset, strides, want) in [
        (vec![3i64, 4], 0, vec![], (0..12).collect::<Vec<_>>()),
        (vec![4, 3], 0, vec![1, 4], vec![0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]),
        (vec![2, 2], 24, vec![2, 1], vec![6, 7, 8, 9]),
        (vec![2, 2], 4, vec![0, 3], vec![1, 4, 1, 4]),
        (vec![0, 5], 48, vec![5, 1], vec![]),
    ] {
        let weights = Weights::open(&weight(file.path(), &shape, offset, &strides), None).unwrap();
        let data = weights.pointers()[0].cast::<f32>();
        assert_eq!(data as usize % 64, 0);
        // SAFETY: the weight has as many elements as its shape says.
        let found: Vec<i32> = (0..want.len()).map(|k| unsafe { *data.add(k) } as i32).collect();
        assert_eq!(found, want);
    }
}

#[test]
fn weights_that_do_not_fit_are_refused() {
    let file = archive();
    for (shape, offset, strides) in [
        (vec![13i64], 0, vec![]),
        (vec![12], 4, vec![]),
        (vec![3, 4], 0, vec![5, 1]),
        (vec![2], 0, vec![-1]),
        (vec![2, 2], 0, vec![1]),
        (vec![i64::MAX, 4], 0, vec![i64::MAX, 1]),
        (vec![-1], 0, vec![]),
        (vec![1], u64::MAX, vec![]),
    ] {
        let error = Weights::open(&weight(file.path(), &shape, offset, &strides), None).unwrap_err().to_string();
        assert!(error.starts_with("weight `w` (entry `data/weights/weight_0` of "), "{error}");
    }
    std::fs::write(file.path(), b"PK but not a zip").unwrap();
    assert!(Weights::open(&weight(file.path(), &[1], 0, &[]), None).is_err());
}
