//! `tensor`: tensors as values.

use super::ops;

ops! {
    /// The same tensor as a type that knows more or less of its sizes.
    cast Cast "tensor.cast" cast(x);
    /// The size of a dimension.
    op Dim "tensor.dim";
    /// One element.
    op Extract "tensor.extract";
    /// A tensor of scalars.
    op FromElements "tensor.from_elements";
}
