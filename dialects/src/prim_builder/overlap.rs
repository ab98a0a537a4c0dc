//! Windows added up where they overlap: the transpose of taking windows.

use super::{Scalar, Size, Tensor};

/// Neighbouring windows that reach one element, at most: more are added up by a sum and not one by one.
const MAX_NEIGHBOURS: i64 = 16;

impl<'c> Tensor<'c> {
    /// Adds up windows along `dim`, whose elements are the last dimension: element `k` of window `q` is one of element
    /// `q * stride + k * dilation` of the result, which has `size` elements there.
    pub fn overlap_add(self, dim: usize, stride: i64, dilation: i64, size: Size<'c>) -> Tensor<'c> {
        let width = self.size(self.rank() - 1).known().filter(|width| (width + stride - 1) / stride <= MAX_NEIGHBOURS);
        match width {
            Some(width) if dilation == 1 => by_phases(self, dim, stride, width, size),
            _ => by_rows(self, dim, stride, dilation, size),
        }
    }
}

/// Elements whose places differ by a stride are in the same phase: element `q * stride + r` of the result is element `r + stride * j` of
/// the window `q - j`, added up over the neighbours `j`.
fn by_phases<'c>(x: Tensor<'c>, dim: usize, stride: i64, width: i64, size: Size<'c>) -> Tensor<'c> {
    let zero = Scalar::Int(0);
    let neighbours = (width + stride - 1) / stride;
    let phases = x.move_dim(x.rank() - 1, dim + 1).pad_dim(dim + 1, zero, 0, neighbours * stride - width);
    let neighbour = |j: i64| phases.slice(dim + 1, j * stride, stride, 1).pad_dim(dim, zero, j, neighbours - 1 - j);
    let summed = (1..neighbours).fold(neighbour(0), |sum, j| sum + neighbour(j));
    let mut shape = summed.shape().to_vec();
    let length = shape.remove(dim) * stride;
    shape[dim] = length;
    summed.reshape(&shape).pad_dim(dim, zero, 0, size - length)
}

/// Rows of the windows' elements are written one after the other with a length that is `dilation` more than that of the result, and
/// read with that length: row `w` then begins `w * dilation` further on, and the sum over rows is the sum over what overlaps.
fn by_rows<'c>(x: Tensor<'c>, dim: usize, stride: i64, dilation: i64, size: Size<'c>) -> Tensor<'c> {
    let (last, windows, width) = (x.rank() - 1, x.size(dim), x.size(x.rank() - 1));
    let zero = x.number(Scalar::Int(0));
    let spread = (windows - 1) * stride + 1;
    let length = spread + (width - 1) * dilation;
    // Dims: the others, then the elements of the windows, then the positions.
    let rows = x.move_dim(dim, last);
    let (mut low, mut high, mut interior) = (vec![Size::Const(0); last + 1], vec![Size::Const(0); last + 1], vec![0; last + 1]);
    (low[last], high[last], interior[last]) = (Size::Const(0), length + dilation - spread, stride - 1);
    let rows = rows.pad(zero, &low, &high, &interior);
    let others = rows.shape()[..last - 1].to_vec();
    let flat = rows.reshape(&[others.as_slice(), &[width * (length + dilation)]].concat());
    let shifted = flat.slice(last - 1, 0, width * length, 1).reshape(&[others.as_slice(), &[width, length]].concat());
    let summed = shifted.reduce("sum", &[last - 1], false);
    summed.pad_dim(last - 1, Scalar::Int(0), 0, size - length).move_dim(last - 1, dim)
}
