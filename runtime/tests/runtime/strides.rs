//! Inputs that are not dense: spread, reversed, repeated, overlapping each other, in one buffer.

use strata_runtime::*;

use crate::program::{artefact, weights_file};
use crate::vector;

/// A view of a buffer: its size, its stride and where it begins, in elements.
type View = (i64, i64, usize);

/// Pairs of views of one buffer of 16 elements.
const PAIRS: [(&str, View, View); 14] = [
    ("dense", (5, 1, 0), (5, 1, 0)),
    ("dense, from the middle", (5, 1, 7), (5, 1, 2)),
    ("every second", (5, 2, 0), (5, 2, 1)),
    ("every third", (5, 3, 1), (5, 1, 0)),
    ("reversed", (5, -1, 15), (5, 1, 0)),
    ("reversed, every second", (4, -2, 9), (4, 2, 3)),
    ("repeated", (6, 0, 3), (6, 1, 0)),
    ("both repeated", (6, 0, 3), (6, 0, 3)),
    ("overlapping by all but one", (15, 1, 0), (15, 1, 1)),
    ("overlapping in opposite order", (16, 1, 0), (16, -1, 15)),
    ("interleaved", (8, 2, 0), (8, 2, 1)),
    ("one element with any stride", (1, 1 << 40, 4), (1, -7, 4)),
    ("nothing with any stride", (0, 7, 0), (0, -3, 15)),
    ("the last element", (1, 1, 15), (1, 0, 0)),
];

#[test]
fn views_of_one_buffer_are_read_as_they_are() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    let data: Vec<f32> = (0..16u8).map(|i| f32::from(i) + 0.5).collect();
    let buffer = vector(&data);
    let mut state = session.caller();
    for (name, x, y) in PAIRS {
        let (mut sizes, mut strides) = ([[x.0], [y.0]], [[x.1], [y.1]]);
        let mut views = [buffer.dlpack(), buffer.dlpack()];
        for (k, view) in views.iter_mut().enumerate() {
            view.byte_offset = [x, y][k].2 as u64 * 4;
            (view.shape, view.strides) = (sizes[k].as_mut_ptr(), strides[k].as_mut_ptr());
        }
        let at = |view: View, i: i64| data[(view.2 as i64 + i * view.1) as usize];
        let want: Vec<f32> = (0..x.0).map(|i| 4.0 * at(x, i) + at(y, i)).collect();
        let mut out = vector(&vec![0.0; want.len()]);
        let into = out.dlpack();
        // SAFETY: the views stay within the buffer, which is alive, as the output is.
        unsafe { session.run_dlpack(&mut state, &[&raw const views[0], &raw const views[1]], &[&raw const into]).unwrap() };
        assert_eq!(out.values::<f32>().unwrap(), want, "{name}");
        assert_eq!(out.bytes_mut().len(), want.len() * 4);
    }
    assert_eq!(buffer.values::<f32>().unwrap(), data, "the buffer is only read");
}

#[test]
fn a_file_holds_tensors_in_row_major_order() {
    let values: Vec<i16> = (0..24).collect();
    let tensor = Tensor::from_slice(DType::I16, &[2, 3, 4], &values).unwrap();
    let order = DimOrder::try_from(vec![2, 0, 1]).unwrap();
    let turned = tensor.in_order(&order).unwrap();
    // The last dim is the outermost: every fourth value, then the next ones.
    assert_eq!(turned.values::<i16>().unwrap()[..7], [0, 4, 8, 12, 16, 20, 1]);
    let file = tempfile::NamedTempFile::new().unwrap();
    TensorFile::write(file.path(), &[("x".into(), &turned)]).unwrap();
    let read = &TensorFile::read(file.path()).unwrap().tensors["x"];
    assert_eq!((read.shape(), read.bytes()), (tensor.shape(), tensor.bytes()));
    assert_eq!(turned.row_major().unwrap().bytes(), tensor.bytes());
    let rules = compare::Tolerance::default_for(DType::I16);
    assert_eq!(
        (compare::compare(&turned, &tensor, rules).unwrap().wrong, compare::preview(&turned, 3)),
        (0, "[0, 1, 2, ...] crc32 d319dd7c".into())
    );
}

/// A program with an order that its tensors cannot have is refused when it is loaded, not when it is called.
#[test]
fn an_order_has_the_rank_of_its_tensor() {
    let weights = weights_file();
    let mut program = artefact(weights.path());
    program.manifest.inputs[0].dim_order = DimOrder::try_from(vec![1, 0]).unwrap();
    let refused = Session::load(&program, None).unwrap_err().to_string();
    assert!(refused.contains("`x` has rank 1 and lies in the order (1, 0)"), "{refused}");
}
