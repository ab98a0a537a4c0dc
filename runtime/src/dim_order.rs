//! The order in which the dims of a dense tensor lie in memory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The dims of a dense tensor from the outermost to the innermost in memory: `[0, 2, 3, 1]` is an image with its channels last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct DimOrder(Vec<usize>);

impl PartialEq for DimOrder {
    /// Dim by dim: lists are compared by `memcmp`, whose masked loads take 130 ns on some processors where both are empty and so point nowhere.
    #[inline]
    fn eq(&self, other: &DimOrder) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(dim, other)| dim == other)
    }
}

impl Eq for DimOrder {}

/// A list of dims that is no order of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} does not name each dim from 0 on once")]
pub struct NotAnOrder(pub Vec<usize>);

impl TryFrom<Vec<usize>> for DimOrder {
    type Error = NotAnOrder;

    fn try_from(dims: Vec<usize>) -> Result<DimOrder, NotAnOrder> {
        match (0..dims.len()).all(|dim| dims.contains(&dim)) {
            // Row-major tensors of any rank have one order.
            true if dims.is_sorted() => Ok(DimOrder::ROW_MAJOR),
            true => Ok(DimOrder(dims)),
            false => Err(NotAnOrder(dims)),
        }
    }
}

impl From<DimOrder> for Vec<usize> {
    fn from(order: DimOrder) -> Vec<usize> {
        order.0
    }
}

impl DimOrder {
    /// The order of dims themselves, of any number of them.
    pub const ROW_MAJOR: DimOrder = DimOrder(Vec::new());

    /// Whether the dims lie as they stand.
    pub fn is_row_major(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a tensor of so many dims can lie so.
    pub fn fits(&self, rank: usize) -> bool {
        self.is_row_major() || self.0.len() == rank
    }

    /// The dims from the innermost to the outermost; as they stand where a tensor of this rank cannot lie so.
    fn inside_out(&self, rank: usize) -> impl Iterator<Item = usize> {
        (0..rank).rev().map(move |place| if self.0.len() == rank { self.0[place] } else { place })
    }

    /// The strides in elements of a dense tensor of these sizes.
    pub fn strides(&self, shape: &[i64]) -> Vec<i64> {
        let (mut strides, mut next) = (vec![1; shape.len()], 1i64);
        for dim in self.inside_out(shape.len()) {
            strides[dim] = next;
            next = next.wrapping_mul(shape[dim].max(1));
        }
        strides
    }

    /// Whether elements with these strides lie dense in this order. Dims of size 1 and empty tensors ask nothing of strides.
    pub fn is_dense(&self, shape: &[i64], strides: &[i64]) -> bool {
        let mut expected = 1i64;
        let dense = self.inside_out(shape.len()).all(|dim| {
            let fits = shape[dim] == 1 || strides[dim] == expected;
            expected = expected.wrapping_mul(shape[dim]);
            fits
        });
        dense || shape.contains(&0)
    }
}

impl fmt::Display for DimOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims: Vec<_> = self.0.iter().map(usize::to_string).collect();
        write!(f, "({})", dims.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_strides_of_an_order_are_dense_in_it(
            shape in prop::collection::vec(0i64..5, 0..5), order in Just(vec![0, 1, 2, 3]).prop_shuffle(),
        ) {
            let dims: Vec<usize> = order.into_iter().filter(|&dim| dim < shape.len()).collect();
            let order = DimOrder::try_from(dims).unwrap();
            let strides = order.strides(&shape);
            prop_assert!(order.fits(shape.len()) && order.is_dense(&shape, &strides));
            // Row-major strides are dense in it only where dims of size 1 make the difference.
            let plain = DimOrder::ROW_MAJOR.strides(&shape);
            let same = shape.contains(&0) || shape.iter().zip(strides.iter().zip(&plain)).all(|(size, (a, b))| *size == 1 || a == b);
            prop_assert_eq!(order.is_dense(&shape, &plain), same);
        }
    }

    #[test]
    fn an_order_names_each_dim_once() {
        let of = |dims: &[usize]| DimOrder::try_from(dims.to_vec());
        assert_eq!(of(&[0, 1, 2]), Ok(DimOrder::ROW_MAJOR));
        assert_eq!(of(&[0, 2, 3, 1]).unwrap().strides(&[2, 3, 4, 5]), [60, 1, 15, 3]);
        for dims in [&[1][..], &[0, 0], &[1, 2], &[2, 0, 0]] {
            assert_eq!(of(dims), Err(NotAnOrder(dims.to_vec())));
        }
        assert!(serde_json::from_str::<DimOrder>("[1, 1]").is_err());
        assert!(!of(&[1, 0]).unwrap().fits(3) && DimOrder::ROW_MAJOR.fits(3));
    }
}
