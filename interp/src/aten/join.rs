//! Operators that join tensors, split one into several, or ask for its sizes.

use super::Arm::{self, Op};
use super::common::result_type;
use super::view::{item, sym_size};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar, promote};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, list, one, wrap_dim};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_ASSERT_ASYNC, Op(assert_async)),
    (_ASSERT_ASYNC_MSG, Op(assert_async)),
    (_ASSERT_SCALAR, Op(assert_scalar)),
    (_ASSERT_TENSOR_METADATA, Op(|_| Ok(vec![]))),
    (_CHUNK_CAT, Op(chunk_cat)),
    (_FUNCTIONAL_ASSERT_ASYNC_MSG, Op(|a| { assert_async(a)?; one(a.tensor("dep_token")?.clone()) })),
    (_LINALG_CHECK_ERRORS, Op(|_| Ok(vec![]))),
    (_LOCAL_SCALAR_DENSE, Op(item)),
    (BLOCK_DIAG, Op(block_diag)),
    (CARTESIAN_PROD, Op(cartesian_prod)),
    (CAT, Op(|a| { let t = a.tensors("tensors")?; one(cat(&t, a.int("dim")?)?) })),
    (CHUNK, Op(chunk)),
    (COLUMN_STACK, Op(column_stack)),
    (COMBINATIONS, Op(combinations)),
    (CONCAT, Op(|a| { let t = a.tensors("tensors")?; one(cat(&t, a.int("dim")?)?) })),
    (CONCATENATE, Op(|a| { let t = a.tensors("tensors")?; one(cat(&t, a.int("dim")?)?) })),
    (COPY, Op(copy)),
    (DSPLIT_ARRAY, Op(|a| split_at(a, 2, false))),
    (DSPLIT_INT, Op(|a| split_at(a, 2, true))),
    (DSTACK, Op(|a| stacked(a, 3, 2))),
    (HSPLIT_ARRAY, Op(|a| split_at(a, if a.tensor("self")?.rank() == 1 { 0 } else { 1 }, false))),
    (HSPLIT_INT, Op(|a| split_at(a, if a.tensor("self")?.rank() == 1 { 0 } else { 1 }, true))),
    (HSTACK, Op(hstack)),
    (ITEM, Op(item)),
    (MESHGRID, Op(meshgrid)),
    (MESHGRID_INDEXING, Op(meshgrid)),
    (PAD_SEQUENCE, Op(pad_sequence)),
    (SPLIT_TENSOR, Op(split)),
    (SPLIT_SIZES, Op(|a| split_sizes(a, "split_size"))),
    (SPLIT_COPY_TENSOR, Op(split)),
    (SPLIT_WITH_SIZES, Op(|a| split_sizes(a, "split_sizes"))),
    (SPLIT_WITH_SIZES_COPY, Op(|a| split_sizes(a, "split_sizes"))),
    (STACK, Op(|a| { let t = a.tensors("tensors")?; one(stack(&t, a.int("dim")?)?) })),
    (SYM_NUMEL, Op(|a| Ok(vec![Value::int(a.tensor("self")?.len() as i64)]))),
    (SYM_SIZE_INT, Op(sym_size)),
    (SYM_STORAGE_OFFSET, Op(|_| Ok(vec![Value::int(0)]))),
    (TENSOR_SPLIT_INDICES, Op(|a| tensor_split(a, "indices", false))),
    (TENSOR_SPLIT_SECTIONS, Op(|a| tensor_split(a, "sections", true))),
    (TENSOR_SPLIT_TENSOR_INDICES_OR_SECTIONS, Op(tensor_split_tensor)),
    (UNBIND_INT, Op(unbind)),
    (UNBIND_COPY_INT, Op(unbind)),
    (UNSAFE_CHUNK, Op(chunk)),
    (UNSAFE_SPLIT_TENSOR, Op(split)),
    (UNSAFE_SPLIT_WITH_SIZES, Op(|a| split_sizes(a, "split_sizes"))),
    (VSPLIT_ARRAY, Op(|a| split_at(a, 0, false))),
    (VSPLIT_INT, Op(|a| split_at(a, 0, true))),
    (VSTACK, Op(|a| stacked(a, 2, 0))),
];

/// The element type and tensors cast to it.
fn promoted(tensors: &[&Tensor]) -> Vec<Tensor> {
    let dtype = result_type(&tensors.iter().map(|&t| t.into()).collect::<Vec<_>>());
    tensors.iter().map(|t| t.cast(dtype)).collect()
}

/// Tensors one after another along a dimension. 1-d empty tensors are skipped.
pub fn cat(tensors: &[&Tensor], dim: i64) -> Result<Tensor, InterpError> {
    let dtype = tensors.iter().map(|t| t.dtype()).reduce(promote).ok_or_else(|| fail("nothing to concatenate"))?;
    let used: Vec<Tensor> = tensors.iter().filter(|t| t.shape() != [0]).map(|t| t.cast(dtype)).collect();
    let Some(first) = used.first() else { return Ok(tensors[0].cast(dtype)) };
    let d = wrap_dim(dim, first.rank())?;
    let mut shape = first.shape().to_vec();
    if shape.is_empty() {
        return Err(fail("0-d tensors cannot be concatenated"));
    }
    for t in &used[1..] {
        if t.rank() != shape.len() || (0..shape.len()).any(|k| k != d && t.shape()[k] != first.shape()[k]) {
            return Err(fail(format!("shapes {:?} and {:?} do not concatenate along {d}", first.shape(), t.shape())));
        }
        shape[d] += t.shape()[d];
    }
    Tensor::build(dtype, &shape, |i| {
        let (mut i, mut k) = (i.to_vec(), 0);
        while i[d] >= used[k].shape()[d] {
            i[d] -= used[k].shape()[d];
            k += 1;
        }
        used[k].get(&i)
    })
}

/// Tensors along a new dimension.
pub fn stack(tensors: &[&Tensor], dim: i64) -> Result<Tensor, InterpError> {
    let rank = tensors.first().ok_or_else(|| fail("nothing to stack"))?.rank();
    let d = wrap_dim(dim, rank + 1)?;
    let expanded: Vec<Tensor> = tensors.iter().map(|t| if d <= t.rank() { Ok(t.unsqueeze(d)) } else { Err(fail("shapes differ")) }).collect::<Result<_, _>>()?;
    cat(&expanded.iter().collect::<Vec<_>>(), d as i64)
}

fn stacked(args: &Args, rank: usize, dim: i64) -> Results {
    let tensors: Vec<Tensor> = args
        .tensors("tensors")?
        .into_iter()
        .map(|t| match (t.rank(), rank) {
            (0, n) => t.reshape(&vec![1; n]),
            (1, 2) => Ok(t.unsqueeze(0)),
            (1, 3) => Ok(t.unsqueeze(0).unsqueeze(2)),
            (2, 3) => Ok(t.unsqueeze(2)),
            _ => Ok(t.clone()),
        })
        .collect::<Result<_, _>>()?;
    one(cat(&tensors.iter().collect::<Vec<_>>(), dim)?)
}

fn hstack(args: &Args) -> Results {
    let tensors: Vec<Tensor> = args.tensors("tensors")?.into_iter().map(|t| if t.rank() == 0 { t.unsqueeze(0) } else { t.clone() }).collect();
    let dim = if tensors.first().is_some_and(|t| t.rank() == 1) { 0 } else { 1 };
    one(cat(&tensors.iter().collect::<Vec<_>>(), dim)?)
}

fn column_stack(args: &Args) -> Results {
    let tensors: Vec<Tensor> = args.tensors("tensors")?.into_iter().map(|t| if t.rank() < 2 { t.reshape(&[t.len(), 1]) } else { Ok(t.clone()) }).collect::<Result<_, _>>()?;
    one(cat(&tensors.iter().collect::<Vec<_>>(), 1)?)
}

fn copy(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(args.tensor("src")?.cast(x.dtype()).expand(x.shape())?)
}

fn assert_scalar(args: &Args) -> Results {
    asserted(args, args.scalar("self")?.truthy())
}

fn assert_async(args: &Args) -> Results {
    asserted(args, args.tensor("self")?.item()?.truthy())
}

fn asserted(args: &Args, holds: bool) -> Results {
    let text = || args.opt_str("assert_msg").map(|text| text.unwrap_or_default().to_string());
    if holds { Ok(vec![]) } else { Err(InterpError::Guard { text: text()?, location: String::new() }) }
}

/// Pieces between consecutive bounds.
fn pieces(x: &Tensor, d: usize, bounds: &[usize]) -> Results {
    list(bounds.windows(2).map(|w| x.slice(d, w[0], w[1].saturating_sub(w[0]), 1)).collect::<Result<Vec<_>, _>>()?)
}

fn dimension(args: &Args, x: &Tensor) -> Result<usize, InterpError> {
    if x.rank() == 0 {
        return Err(fail("a 0-d tensor cannot be split"));
    }
    args.dim("dim", x.rank())
}

fn every(x: &Tensor, d: usize, size: usize) -> Results {
    let n = x.shape()[d];
    if size == 0 {
        return if n == 0 { pieces(x, d, &[0, 0]) } else { Err(fail("pieces of size zero")) };
    }
    let mut bounds: Vec<usize> = (0..n).step_by(size).collect();
    if bounds.is_empty() {
        bounds.push(0);
    }
    bounds.push(n);
    pieces(x, d, &bounds)
}

fn split(args: &Args) -> Results {
    let x = args.tensor("self")?;
    every(x, dimension(args, x)?, usize::try_from(args.int("split_size")?).map_err(|_| fail("a negative size"))?)
}

fn chunk(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = dimension(args, x)?;
    let chunks = args.int("chunks")?;
    if chunks < 1 {
        return Err(fail("less than one chunk"));
    }
    let size = x.shape()[d].div_ceil(chunks as usize);
    if size == 0 {
        return pieces(x, d, &vec![0; chunks as usize + 1]);
    }
    every(x, d, size)
}

fn split_sizes(args: &Args, name: &str) -> Results {
    let x = args.tensor("self")?;
    let d = dimension(args, x)?;
    let mut bounds = vec![0];
    for s in args.sizes(name)? {
        bounds.push(bounds[bounds.len() - 1] + s);
    }
    if bounds.last() != Some(&x.shape()[d]) {
        return Err(fail("the sizes do not add up to the dimension"));
    }
    pieces(x, d, &bounds)
}

fn sections(x: &Tensor, d: usize, n: usize) -> Results {
    if n == 0 {
        return Err(fail("no sections"));
    }
    let (size, extra) = (x.shape()[d] / n, x.shape()[d] % n);
    pieces(x, d, &(0..=n).map(|k| k * size + k.min(extra)).collect::<Vec<_>>())
}

fn indices(x: &Tensor, d: usize, at: &[i64]) -> Results {
    let n = x.shape()[d] as i64;
    let mut bounds = vec![0];
    bounds.extend(at.iter().map(|&i| if i < 0 { (i + n).max(0) } else { i.min(n) } as usize));
    bounds.push(n as usize);
    pieces(x, d, &bounds)
}

fn tensor_split(args: &Args, name: &str, by_sections: bool) -> Results {
    let x = args.tensor("self")?;
    let d = dimension(args, x)?;
    if by_sections { sections(x, d, usize::try_from(args.int(name)?).map_err(|_| fail("a negative number of sections"))?) } else { indices(x, d, &args.ints(name)?) }
}

fn tensor_split_tensor(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = dimension(args, x)?;
    let at = args.tensor("tensor_indices_or_sections")?;
    let ints: Vec<i64> = at.ints().into_iter().map(|v| v as i64).collect();
    if at.rank() == 0 { sections(x, d, ints[0].max(0) as usize) } else { indices(x, d, &ints) }
}

fn split_at(args: &Args, d: usize, by_sections: bool) -> Results {
    let x = args.tensor("self")?;
    if d >= x.rank() {
        return Err(fail("too few dimensions to split"));
    }
    if by_sections { sections(x, d, args.int("sections")?.max(0) as usize) } else { indices(x, d, &args.ints("indices")?) }
}

fn unbind(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let d = dimension(args, x)?;
    list((0..x.shape()[d]).map(|k| x.select(d, k)).collect::<Result<Vec<_>, _>>()?)
}

fn meshgrid(args: &Args) -> Results {
    let tensors = args.tensors("tensors")?;
    let swap = args.opt_str("indexing")? == Some("xy") && tensors.len() > 1;
    let shape: Vec<usize> = tensors.iter().map(|t| t.len()).collect();
    list(
        tensors
            .iter()
            .enumerate()
            .map(|(d, t)| {
                let grid = Tensor::build(t.dtype(), &shape, |i| t.at(i[d]))?;
                if swap { grid.transpose(0, 1) } else { Ok(grid) }
            })
            .collect::<Result<Vec<_>, _>>()?,
    )
}

fn block_diag(args: &Args) -> Results {
    let blocks: Vec<Tensor> = promoted(&args.tensors("tensors")?)
        .into_iter()
        .map(|t| match t.rank() {
            0 => t.reshape(&[1, 1]),
            1 => Ok(t.unsqueeze(0)),
            _ => Ok(t),
        })
        .collect::<Result<_, _>>()?;
    let dtype = blocks.first().map_or(DType::F32, Tensor::dtype);
    let mut out = Tensor::zeros(dtype, &[blocks.iter().map(|b| b.shape()[0]).sum(), blocks.iter().map(|b| b.shape()[1]).sum()])?;
    let (mut row, mut col) = (0, 0);
    for b in &blocks {
        crate::tensor::each(b.shape(), |i| out.set(&[row + i[0], col + i[1]], b.get(i)));
        row += b.shape()[0];
        col += b.shape()[1];
    }
    one(out)
}

fn cartesian_prod(args: &Args) -> Results {
    let tensors = promoted(&args.tensors("tensors")?);
    if let [only] = &tensors[..] {
        return one(only.clone());
    }
    let mut rows: Vec<Vec<Scalar>> = vec![Vec::new()];
    for t in &tensors {
        rows = rows.iter().flat_map(|r| t.scalars().map(move |v| [r.clone(), vec![v]].concat())).collect();
    }
    let dtype = tensors.first().map_or(DType::F32, Tensor::dtype);
    one(Tensor::from_scalars(dtype, &[rows.len(), tensors.len()], rows.into_iter().flatten())?)
}

fn combinations(args: &Args) -> Results {
    let x = args.tensor("self")?;
    let r = usize::try_from(args.int("r")?).map_err(|_| fail("a negative length"))?;
    if r == 0 {
        return one(Tensor::zeros(x.dtype(), &[0])?);
    }
    let again = args.flag("with_replacement")?;
    let mut rows: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..r {
        rows = rows
            .into_iter()
            .flat_map(|row| {
                let from = row.last().map_or(0, |&l| if again { l } else { l + 1 });
                (from..x.len()).map(move |k| [row.clone(), vec![k]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    one(Tensor::from_scalars(x.dtype(), &[rows.len(), r], rows.into_iter().flatten().map(|k| x.at(k)))?)
}

fn chunk_cat(args: &Args) -> Results {
    let tensors = promoted(&args.tensors("tensors")?);
    let chunks = usize::try_from(args.int("num_chunks")?).ok().filter(|&n| n > 0).ok_or_else(|| fail("no chunks"))?;
    let rank = tensors.first().ok_or_else(|| fail("no tensors"))?.rank();
    let d = wrap_dim(args.int("dim")?, rank)?;
    // Every tensor is padded to a multiple of the chunks, then its chunks are flattened side by side.
    let flat: Vec<Tensor> = tensors
        .iter()
        .map(|t| {
            let size = t.shape()[d].div_ceil(chunks);
            let mut shape = t.shape()[..d].to_vec();
            shape.push(size * chunks);
            shape.extend(&t.shape()[d + 1..]);
            let padded = Tensor::build(t.dtype(), &shape, |i| if i[d] < t.shape()[d] { t.get(i) } else { Scalar::Int(0) })?;
            let mut out = t.shape()[..d].to_vec();
            out.push(chunks);
            let lead: usize = out.iter().product();
            out.push(padded.len() / lead.max(1));
            padded.reshape(&out)
        })
        .collect::<Result<_, InterpError>>()?;
    one(cat(&flat.iter().collect::<Vec<_>>(), d as i64 + 1)?)
}

/// Sequences filled up to the longest.
fn pad_sequence(args: &Args) -> Results {
    let (list, value) = (args.tensors("sequences")?, args.scalar("padding_value")?);
    let longest = list.iter().filter_map(|t| t.shape().first().copied()).max().unwrap_or(0);
    let left = args.opt_str("padding_side")? == Some("left");
    let rows = list.iter().map(|t| {
        let mut shape = t.shape().to_vec();
        let first = shape.first_mut().ok_or_else(|| fail("a sequence of rank 0"))?;
        let begin = if left { longest - *first } else { 0 };
        let end = begin + std::mem::replace(first, longest);
        Tensor::build(t.dtype(), &shape, |i| match i[0] {
            k if (begin..end).contains(&k) => t.get(&[&[k - begin], &i[1..]].concat()),
            _ => value,
        })
    });
    let rows = rows.collect::<Result<Vec<_>, InterpError>>()?;
    one(stack(&rows.iter().collect::<Vec<_>>(), if args.flag("batch_first")? { 0 } else { 1 })?)
}
