//! A few values known by hand for every family.

use super::call;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Value, fail};
use strata_dialects::aten::{Operator, op};

type Done = Result<(), InterpError>;

fn floats(shape: &[usize], v: &[f64]) -> Result<Tensor, InterpError> {
    Tensor::from_floats(DType::F32, shape, v)
}

fn ints(shape: &[usize], v: &[i64]) -> Result<Tensor, InterpError> {
    Tensor::from_ints(shape, v)
}

/// The tensors that an op gives.
fn run(name: &str, args: Args) -> Result<Vec<Tensor>, InterpError> {
    let mut out = Vec::new();
    let operator = Operator::named(name).ok_or_else(|| fail(format!("PyTorch has no {name}")))?;
    for v in call(operator, &args)? {
        match v {
            Value::Tensor(t) => out.push(t),
            Value::Tensors(ts) => out.extend(ts.into_iter().flatten()),
            _ => {}
        }
    }
    Ok(out)
}

fn close(t: &Tensor, shape: &[usize], v: &[f64]) {
    assert_eq!(t.shape(), shape);
    for (got, want) in t.floats().iter().zip(v) {
        assert!((got - want).abs() < 1e-6 || (got.is_nan() && want.is_nan()), "{:?} is not {v:?}", t.floats());
    }
}

#[test]
fn promotion_prefers_dimensions_over_scalars() -> Done {
    let x = ints(&[2], &[1, 2])?.cast(DType::I32);
    let half = Value::float(0.5);
    assert_eq!(run("aten.add.Scalar", Args::new().with("self", x.clone()).with("other", Value::int(3)))?[0].dtype(), DType::I32);
    assert_eq!(run("aten.mul.Scalar", Args::new().with("self", x.clone()).with("other", half))?[0].dtype(), DType::F32);
    let zero_d = Tensor::scalar(DType::F64, Scalar::Float(1.0));
    assert_eq!(run("aten.mul.Tensor", Args::new().with("self", floats(&[1], &[1.0])?).with("other", zero_d))?[0].dtype(), DType::F32);
    assert_eq!(run("aten.div.Tensor", Args::new().with("self", x.clone()).with("other", x))?[0].dtype(), DType::F32);
    Ok(())
}

#[test]
fn division_and_remainder_follow_the_divisor() -> Done {
    let (a, b) = (ints(&[4], &[7, -7, 7, -7])?, ints(&[4], &[2, 2, -2, -2])?);
    let both = || Args::new().with("self", a.clone()).with("other", b.clone());
    close(&run("aten.floor_divide", both())?[0], &[4], &[3.0, -4.0, -4.0, 3.0]);
    close(&run("aten.remainder.Tensor", both())?[0], &[4], &[1.0, 1.0, -1.0, -1.0]);
    close(&run("aten.fmod.Tensor", both())?[0], &[4], &[1.0, -1.0, 1.0, -1.0]);
    let zero = Args::new().with("self", a.clone()).with("other", Value::int(0));
    assert!(run("aten.remainder.Scalar", zero).is_err());
    Ok(())
}

#[test]
fn rounding_is_half_to_even() -> Done {
    close(&run("aten.round", Args::new().with("self", floats(&[4], &[0.5, 1.5, 2.5, -0.5])?))?[0], &[4], &[0.0, 2.0, 2.0, 0.0]);
    Ok(())
}

#[test]
fn comparison_and_choice() -> Done {
    let x = floats(&[3], &[1.0, f64::NAN, 3.0])?;
    assert_eq!(run("aten.gt.Scalar", Args::new().with("self", x.clone()).with("other", Value::int(2)))?[0].ints(), [0, 0, 1]);
    close(&run("aten.clamp", Args::new().with("self", x.clone()).with("min", Value::int(2)))?[0], &[3], &[2.0, f64::NAN, 3.0]);
    let picked = Args::new()
        .with("condition", x.map(DType::Bool, |v| Scalar::Bool(v.is_nan())))
        .with("self", Value::int(0))
        .with("other", x.clone());
    close(&run("aten.where.ScalarSelf", picked)?[0], &[3], &[1.0, 0.0, 3.0]);
    Ok(())
}

#[test]
fn creation_counts_exactly() -> Done {
    let range = Args::new().with("start", Value::int(5)).with("end", Value::int(-2)).with("step", Value::int(-3));
    assert_eq!(run("aten.arange.start_step", range)?[0].ints(), [5, 2, -1]);
    let line = Args::new().with("start", Value::int(0)).with("end", Value::int(1)).with("steps", Value::int(5));
    close(&run("aten.linspace", line)?[0], &[5], &[0.0, 0.25, 0.5, 0.75, 1.0]);
    Ok(())
}

#[test]
fn views_wrap_and_clamp_like_python() -> Done {
    let x = ints(&[5], &[0, 1, 2, 3, 4])?;
    let slice = |start: i64, end: i64, step: i64| {
        Args::new()
            .with("self", x.clone())
            .with("dim", Value::int(0))
            .with("start", Value::int(start))
            .with("end", Value::int(end))
            .with("step", Value::int(step))
    };
    assert_eq!(run("aten.slice.Tensor", slice(-3, 100, 2))?[0].ints(), [2, 4]);
    assert_eq!(run("aten.slice.Tensor", slice(4, 2, 1))?[0].shape(), [0]);
    let parts = run("aten.chunk", Args::new().with("self", x.clone()).with("chunks", Value::int(3)).with("dim", Value::int(0)))?;
    assert_eq!(parts.iter().map(|p| p.len()).collect::<Vec<_>>(), [2, 2, 1]);
    let rolled = Args::new().with("self", x).with("shifts", Value::ints(&[2])).with("dims", Value::ints(&[0]));
    assert_eq!(run("aten.roll", rolled)?[0].ints(), [3, 4, 0, 1, 2]);
    Ok(())
}

#[test]
fn reductions_keep_nan_and_first_positions() -> Done {
    let x = floats(&[2, 2], &[1.0, f64::NAN, 4.0, 4.0])?;
    let over = |name: &str| run(name, Args::new().with("self", x.clone()).with("dim", Value::ints(&[1])));
    close(&over("aten.amax")?[0], &[2], &[f64::NAN, 4.0]);
    let positions = run("aten.argmax", Args::new().with("self", x.clone()).with("dim", Value::int(1)))?;
    assert_eq!(positions[0].ints(), [1, 0]);
    close(&over("aten.nansum")?[0], &[2], &[1.0, 8.0]);
    assert_eq!(run("aten.sum", Args::new().with("self", ints(&[2], &[1, 2])?.cast(DType::U8)))?[0].dtype(), DType::I64);
    Ok(())
}

#[test]
fn products_of_matrices() -> Done {
    let (a, b) = (floats(&[2, 2], &[1.0, 2.0, 3.0, 4.0])?, floats(&[2], &[1.0, -1.0])?);
    close(&run("aten.matmul", Args::new().with("self", a.clone()).with("other", b.clone()))?[0], &[2], &[-1.0, -1.0]);
    let traces = Args::new().with("equation", Value::Str("bii->b".into())).with("tensors", Value::Tensors(vec![Some(a.unsqueeze(0))]));
    close(&run("aten.einsum", traces)?[0], &[1], &[5.0]);
    let solved = Args::new().with("A", a).with("B", b).with("left", Value::int(1));
    close(&run("aten.linalg_solve", solved)?[0], &[2], &[-3.0, 2.0]);
    Ok(())
}

#[test]
fn convolution_and_pooling() -> Done {
    let x = floats(&[1, 1, 4], &[1.0, 2.0, 3.0, 4.0])?;
    let w = floats(&[1, 1, 2], &[1.0, -1.0])?;
    let one = || Value::ints(&[1]);
    let conv = Args::new()
        .with("input", x.clone())
        .with("weight", w)
        .with("stride", one())
        .with("padding", Value::ints(&[1]))
        .with("dilation", one())
        .with("groups", Value::int(1));
    close(&run("aten.conv1d", conv)?[0], &[1, 1, 5], &[-1.0, -1.0, -1.0, -1.0, 4.0]);
    let pool = |pad: i64, include: i64| {
        Args::new()
            .with("self", x.clone())
            .with("kernel_size", Value::ints(&[2]))
            .with("stride", Value::ints(&[2]))
            .with("padding", Value::ints(&[pad]))
            .with("ceil_mode", Value::int(0))
            .with("count_include_pad", Value::int(include))
    };
    close(&run("aten.avg_pool1d", pool(1, 1))?[0], &[1, 1, 3], &[0.5, 2.5, 2.0]);
    close(&run("aten.avg_pool1d", pool(1, 0))?[0], &[1, 1, 3], &[1.0, 2.5, 4.0]);
    close(&run("aten.max_pool1d", pool(0, 0))?[0], &[1, 1, 2], &[2.0, 4.0]);
    Ok(())
}

#[test]
fn softmax_and_norms() -> Done {
    let x = floats(&[1, 2], &[0.0, 3f64.ln()])?;
    close(&run("aten.softmax.int", Args::new().with("self", x.clone()).with("dim", Value::int(-1)))?[0], &[1, 2], &[0.25, 0.75]);
    // Elements so large that the sum's logarithm is lost beside them.
    let low = floats(&[1, 2], &[-3e38, -3e38])?;
    close(&run("aten.softmax.int", Args::new().with("self", low).with("dim", Value::int(-1)))?[0], &[1, 2], &[0.5, 0.5]);
    let layer =
        Args::new().with("input", floats(&[1, 2], &[1.0, 3.0])?).with("normalized_shape", Value::ints(&[2])).with("eps", Value::float(0.0));
    close(&run("aten.layer_norm", layer)?[0], &[1, 2], &[-1.0, 1.0]);
    Ok(())
}

#[test]
fn indexing_wraps_and_refuses() -> Done {
    let x = ints(&[3], &[10, 20, 30])?;
    let at = |k: i64| {
        Args::new().with("self", x.clone()).with("indices", Value::Tensors(vec![Some(Tensor::scalar(DType::I64, Scalar::Int(k as i128)))]))
    };
    assert_eq!(run("aten.index.Tensor", at(-1))?[0].ints(), [30]);
    assert!(run("aten.index.Tensor", at(3)).is_err());
    let add = Args::new()
        .with("self", x.clone())
        .with("dim", Value::int(0))
        .with("index", ints(&[3], &[0, 0, 2])?)
        .with("src", ints(&[3], &[1, 2, 3])?);
    assert_eq!(run("aten.scatter_add", add)?[0].ints(), [13, 20, 33]);
    Ok(())
}

#[test]
fn sorting_is_stable_with_nan_last() -> Done {
    let x = floats(&[4], &[2.0, f64::NAN, 1.0, 2.0])?;
    let sorted = run("aten.sort", Args::new().with("self", x).with("dim", Value::int(0)))?;
    close(&sorted[0], &[4], &[1.0, 2.0, 2.0, f64::NAN]);
    assert_eq!(sorted[1].ints(), [2, 0, 3, 1]);
    Ok(())
}

#[test]
fn recurrent_cells() -> Done {
    let (x, h) = (floats(&[1, 1], &[1.0])?, floats(&[1, 1], &[0.5])?);
    let w = floats(&[1, 1], &[1.0])?;
    let cell = Args::new().with("input", x).with("hx", h).with("w_ih", w.clone()).with("w_hh", w);
    close(&run("aten.rnn_tanh_cell", cell)?[0], &[1, 1], &[1.5f64.tanh()]);
    Ok(())
}

#[test]
fn losses_and_their_gradients() -> Done {
    let (x, y) = (floats(&[2], &[1.0, 3.0])?, floats(&[2], &[0.0, 1.0])?);
    let pair = |code: i64| Args::new().with("self", x.clone()).with("target", y.clone()).with("reduction", Value::int(code));
    close(&run("aten.mse_loss", pair(1))?[0], &[], &[2.5]);
    let grad = pair(1).with("grad_output", floats(&[], &[1.0])?);
    close(&run("aten.mse_loss_backward", grad)?[0], &[2], &[1.0, 2.0]);
    Ok(())
}

#[test]
fn resampling_keeps_corners() -> Done {
    let x = floats(&[1, 1, 2], &[0.0, 1.0])?;
    let up =
        |align: i64| Args::new().with("self", x.clone()).with("output_size", Value::ints(&[4])).with("align_corners", Value::int(align));
    close(&run("aten.upsample_linear1d", up(1))?[0], &[1, 1, 4], &[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
    close(&run("aten.upsample_linear1d", up(0))?[0], &[1, 1, 4], &[0.0, 0.25, 0.75, 1.0]);
    Ok(())
}

#[test]
fn transforms_invert() -> Done {
    let x = floats(&[4], &[1.0, 2.0, 3.0, 4.0])?;
    let spectrum = run("aten.fft_rfft", Args::new().with("self", x).with("dim", Value::int(-1)))?.remove(0);
    assert_eq!(spectrum.shape(), [3]);
    close(&run("aten.fft_irfft", Args::new().with("self", spectrum).with("dim", Value::int(-1)))?[0], &[4], &[1.0, 2.0, 3.0, 4.0]);
    Ok(())
}

#[test]
fn an_op_without_an_arm_says_so() {
    assert!(matches!(call(op::_PHILOX_KEY_SPLIT, &Args::new()), Err(InterpError::Unsupported { .. })));
}

#[test]
fn paddings_that_pytorch_refuses() -> Done {
    let pad = |sizes: &[usize], list: &[i64], mode: &str| {
        let x = floats(sizes, &vec![1.0; sizes.iter().product()])?;
        run("aten.pad", Args::new().with("self", x).with("pad", Value::ints(list)).with("mode", Value::Str(mode.to_owned())))
    };
    close(&pad(&[1, 4], &[3, 3], "reflect")?[0], &[1, 10], &[1.0; 10]);
    close(&pad(&[1, 4], &[4, 4], "circular")?[0], &[1, 12], &[1.0; 12]);
    assert!(pad(&[1, 4], &[4, 0], "reflect").is_err());
    assert!(pad(&[1, 4], &[5, 0], "circular").is_err());
    assert!(pad(&[1, 0], &[1, 1], "replicate").is_err());
    assert!(pad(&[1, 4], &[-2, -2], "replicate").is_err());
    Ok(())
}

#[test]
fn operators_of_two_steps() -> Done {
    let (x, y) = (floats(&[2, 2], &[1.0, -2.0, 3.0, -4.0])?, floats(&[2, 2], &[1.0, 0.0, 0.0, 1.0])?);
    let both = || Args::new().with("self", x.clone()).with("other", y.clone()).with("alpha", Value::int(2));
    close(&run("aten._add_relu.Tensor", both())?[0], &[2, 2], &[3.0, 0.0, 3.0, 0.0]);
    close(
        &run("aten._add_relu.Scalar", Args::new().with("self", x.clone()).with("other", Value::int(3)))?[0],
        &[2, 2],
        &[4.0, 1.0, 6.0, 0.0],
    );
    let product = Args::new().with("self", y.clone()).with("mat1", x.clone()).with("mat2", y.clone());
    close(&run("aten._addmm_activation", product.clone())?[0], &[2, 2], &[2.0, 0.0, 3.0, 0.0]);
    close(
        &run("aten._addmm_activation", product.with("use_gelu", Value::Scalar(Scalar::Bool(true))))?[0],
        &[2, 2],
        &[1.9544997, -0.0455003, 2.9959502, -0.0040497],
    );
    let rows = Args::new().with("x1", x.clone()).with("x2", y.clone());
    close(&run("aten._euclidean_dist", rows)?[0], &[2, 2], &[2.0, 10f64.sqrt(), 20f64.sqrt(), 34f64.sqrt()]);
    close(
        &run("aten._reshape_copy", Args::new().with("self", x.clone()).with("size", Value::ints(&[4, -1])))?[0],
        &[4, 1],
        &[1.0, -2.0, 3.0, -4.0],
    );
    let sums = |p: f64| {
        run("aten.linalg__powsum", Args::new().with("self", x.clone()).with("ord", Value::float(p)).with("dim", Value::ints(&[1])))
    };
    close(&sums(2.0)?[0], &[2], &[5.0, 25.0]);
    close(&sums(0.0)?[0], &[2], &[2.0, 2.0]);
    Ok(())
}
