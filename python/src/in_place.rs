//! Arguments that a program changes, and whose new values it writes over the old ones.

use std::ffi::c_void;

use strata_runtime::dlpack::DLTensor;
use strata_runtime::manifest::{Input, Output};

/// The bytes that the elements of a tensor lie in: where they begin and end.
///
/// # Safety
/// The tensor describes memory.
unsafe fn range(tensor: &DLTensor, size: usize) -> (usize, usize) {
    // SAFETY: the caller's promise.
    let (sizes, strides) = unsafe { (tensor.sizes(), tensor.stride_list()) };
    let start = tensor.first_element() as usize;
    if sizes.contains(&0) {
        return (start, start);
    }
    let reach = match strides {
        None => sizes.iter().product::<i64>(),
        Some(strides) => 1 + sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride.abs()).sum::<i64>(),
    };
    (start, start + reach as usize * size)
}

/// For each output the memory of the argument that it is the new value of, where it may be written there: where the argument is dense in the
/// output's order, and no other argument lies in its memory. `others` are arguments that are no inputs, with the bytes of an element;
/// `written` says which output is the new value of which input.
///
/// # Safety
/// The tensors describe memory.
pub unsafe fn places<'t>(
    (declared, inputs): (&[Input], &'t [DLTensor]),
    others: impl Iterator<Item = (usize, &'t DLTensor)>,
    outputs: &[Output],
    written: impl Iterator<Item = (usize, usize)>,
) -> Vec<Option<*mut c_void>> {
    let mut places = vec![None; outputs.len()];
    let wanted: Vec<_> = written.filter(|&(output, _)| outputs[output].in_place).collect();
    if wanted.is_empty() {
        return places;
    }
    let all = declared.iter().map(|input| input.dtype.size()).zip(inputs).chain(others);
    // SAFETY: the caller's promise.
    let mut ranges: Vec<_> = all.map(|(size, tensor)| unsafe { range(tensor, size) }).zip(0..).collect();
    // Whoever begins before another one ends shares memory with it.
    let mut apart = vec![true; ranges.len()];
    ranges.retain(|((start, end), _)| start < end);
    ranges.sort_unstable();
    let mut furthest: Option<(usize, usize)> = None;
    for ((start, end), k) in ranges {
        if let Some((until, other)) = furthest.filter(|&(until, _)| start < until) {
            (apart[k], apart[other]) = (false, false);
            if end <= until {
                continue;
            }
        }
        furthest = Some((end, k));
    }
    for (output, input) in wanted {
        let (tensor, result) = (&inputs[input], &outputs[output]);
        // SAFETY: the caller's promise.
        let (sizes, dense) = unsafe { (tensor.sizes(), tensor.is_dense(&result.dim_order)) };
        let same = tensor.dtype == result.dtype.dlpack() && sizes.iter().copied().map(Some).eq(result.shape.iter().copied());
        if apart[input] && dense && same && declared[input].dim_order == result.dim_order {
            places[output] = Some(tensor.first_element().cast());
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use strata_runtime::manifest::{InputKind, OutputKind};
    use strata_runtime::{DType, Tensor};

    use super::*;

    /// Which of two arguments of eight numbers are written in place, the second of which lies so many elements behind the first.
    fn written(behind: usize, strides: Option<&[i64]>) -> Vec<bool> {
        let input = |name: &str| Input {
            name: name.into(),
            kind: InputKind::Tensor,
            dtype: DType::F32,
            shape: vec![Some(8)],
            sample: Vec::new(),
            dim_order: Default::default(),
            value: None,
        };
        let output = |name: &str| Output {
            kind: OutputKind::Mutation,
            name: name.into(),
            dtype: DType::F32,
            shape: vec![Some(8)],
            dim_order: Default::default(),
            in_place: true,
        };
        let memory = Tensor::uninit(DType::F32, &[64]).unwrap();
        let first = Tensor::uninit(DType::F32, &[8]).unwrap();
        let mut tensors = [first.dlpack(), first.dlpack()];
        tensors[0].data = memory.dlpack().data;
        tensors[1].data = tensors[0].data.cast::<f32>().wrapping_add(behind).cast();
        if let Some(strides) = strides {
            tensors[0].strides = strides.as_ptr().cast_mut();
        }
        let (inputs, outputs) = ([input("x"), input("y")], [output("x"), output("y")]);
        // SAFETY: the tensors lie in `memory`.
        let places = unsafe { places((&inputs, &tensors), std::iter::empty(), &outputs, [(0, 0), (1, 1)].into_iter()) };
        places.iter().map(Option::is_some).collect()
    }

    #[test]
    fn arguments_that_share_memory_are_not_written_in_place() {
        assert_eq!(written(8, None), [true, true]);
        assert_eq!(written(7, None), [false, false]);
        assert_eq!(written(0, None), [false, false]);
        // Every other element: not dense, and the other one lies between.
        assert_eq!(written(8, Some(&[2])), [false, false]);
        assert_eq!(written(16, Some(&[2])), [false, true]);
    }
}
