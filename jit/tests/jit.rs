//! Closures as functions: what they compute, when they are compiled again, and what they refuse.

mod common;

use std::cell::Cell;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use common::{close, floats, values};
use strata::nn::Linear;
use strata::{Argument, DType, Dynamic, Error, OnLimit, Tensor, TensorTree, call, jit, op};

#[test]
fn a_closure_runs_once_for_calls_of_one_kind() {
    let runs = Cell::new(0);
    let f = jit(|x: &Tensor| {
        runs.set(runs.get() + 1);
        x.mul(x).add_scalar(1.5)
    });
    for x in [floats(&[3, 4]), Tensor::new(&[2f32; 12], &[3, 4]).unwrap()] {
        close(&f.call(&x).unwrap(), values(&x).iter().map(|x| x * x + 1.5));
    }
    assert_eq!((runs.get(), f.entries()), (1, 1));
}

#[test]
fn the_second_size_makes_it_symbolic() {
    let f = jit(|x: &Tensor, y: &Tensor| x.add(y).sum_dim_intlist([1]));
    for rows in [4, 6, 9, 4, 2] {
        let x = floats(&[rows, 3]);
        close(&f.call(&x, &x).unwrap(), values(&x).chunks(3).map(|row| 2.0 * row.iter().sum::<f32>()));
    }
    assert_eq!((f.entries(), f.compilations()), (2, 2));
    // One row is broadcast: a program of its own, as it is with the other size given too.
    let (one, x) = (floats(&[1, 3]), floats(&[5, 3]));
    close(&f.call(&one, &x).unwrap(), values(&x).chunks(3).map(|row| row.iter().chain(&values(&one)).sum::<f32>()));
    assert_eq!(f.entries(), 3);
    let text = f.explain();
    assert!(text.contains("form 1: f32[s0, 3], f32[s0, 3]") && text.contains("value 0 is f32[6, 3], not f32[4, 3]"), "{text}");
}

#[test]
fn sizes_are_numbers_of_the_call() {
    let f = jit(|x: &Tensor| x.reshape([x.size(0) * x.size(1) / 2, 2.into()]).transpose_int(0, 1).reshape([-1]));
    for rows in [2i64, 3, 5] {
        let x = floats(&[rows, 4]);
        let (even, odd) = (values(&x).into_iter().step_by(2), values(&x).into_iter().skip(1).step_by(2));
        close(&f.call(&x).unwrap(), even.chain(odd));
    }
    assert_eq!(f.entries(), 2);
}

#[test]
fn other_types_ranks_and_numbers_have_their_own_forms() {
    let f = jit(|x: &Tensor, power: &f64, twice: &bool| {
        let y = x.pow_tensor_scalar(*power);
        if *twice { y.add(&y) } else { y }
    });
    let x = floats(&[6]);
    close(&f.call(&x, &2.0, &true).unwrap(), values(&x).iter().map(|x| 2.0 * x * x));
    close(&f.call(&x, &3.0, &false).unwrap(), values(&x).iter().map(|x| x * x * x));
    close(&f.call(&floats(&[2, 3]), &2.0, &true).unwrap(), values(&x).iter().map(|x| 2.0 * x * x));
    let double = Tensor::new(&[3f64], &[1]).unwrap();
    assert_eq!(f.call(&double, &2.0, &true).unwrap().to_vec::<f64>().unwrap(), [18.0]);
    assert_eq!(f.entries(), 4);
}

#[derive(Clone, TensorTree)]
struct Batch {
    x: Tensor,
    scale: Option<Tensor>,
    more: Vec<Tensor>,
    weight: f64,
}

#[test]
fn structs_lists_and_options_go_in_and_out() {
    let f = jit(|batch: &Batch| {
        let mut sum = batch.x.mul_scalar(batch.weight);
        for tensor in &batch.more {
            sum = sum.add(tensor);
        }
        let scaled = batch.scale.as_ref().map(|scale| sum.mul(scale));
        (Batch { x: sum, scale: scaled, ..batch.clone() }, vec![batch.x.neg()])
    });
    let x = floats(&[5]);
    let full = Batch { x: x.clone(), scale: Some(floats(&[5])), more: vec![x.clone(), x.clone()], weight: 0.5 };
    let (out, rest) = f.call(&full).unwrap();
    close(&out.x, values(&x).iter().map(|x| 2.5 * x));
    close(out.scale.as_ref().unwrap(), values(&x).iter().map(|x| 2.5 * x * x));
    close(&out.more[1], values(&x));
    close(&rest[0], values(&x).iter().map(|x| -x));
    let bare = Batch { scale: None, more: Vec::new(), ..full };
    let (out, _) = f.call(&bare).unwrap();
    close(&out.x, values(&x).iter().map(|x| 0.5 * x));
    assert!(out.scale.is_none());
    assert_eq!(f.entries(), 2);
}

#[test]
fn captured_tensors_are_weights_and_given_ones_inputs() {
    let (w, b) = (floats(&[2, 3]), floats(&[2]));
    let layer = Linear { weight: w, bias: Some(b) };
    let given = jit(|layer: &Linear, x: &Tensor| layer.forward(x));
    let x = floats(&[4, 3]);
    let wanted = values(&given.call(&layer, &x).unwrap());
    let captured = jit(move |x: &Tensor| layer.forward(x));
    close(&captured.call(&x).unwrap(), wanted);
}

#[test]
fn one_form_too_many_is_refused_or_replaces_the_oldest() {
    let f = jit(|x: &Tensor| x.exp()).dynamic(Dynamic::Off).limit(2, OnLimit::Error);
    f.call(&floats(&[2])).unwrap();
    f.call(&floats(&[3])).unwrap();
    let error = f.call(&floats(&[4])).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 2, .. }) && error.to_string().contains("value 0 is f32[4], not f32[3]"), "{error}");
    let f = jit(|x: &Tensor| x.exp()).dynamic(Dynamic::Off).limit(2, OnLimit::Replace);
    for size in [2, 3, 4, 3, 2] {
        close(&f.call(&floats(&[size])).unwrap(), values(&floats(&[size])).iter().map(|x| x.exp()));
    }
    assert_eq!((f.entries(), f.compilations()), (2, 4));
}

#[test]
fn wrong_calls_name_their_line() {
    let line = line!() + 1;
    let f = jit(|x: &Tensor| x.matmul(&x.unsqueeze(0).relu()).add_scalar(1.0));
    let error = f.call(&floats(&[2, 3])).unwrap_err().to_string();
    assert!(error.contains(&format!("jit.rs:{line}:")) && error.contains("aten.matmul"), "{error}");
    assert_eq!(f.entries(), 0);
    let outside = floats(&[2]).relu().to_vec::<f32>().unwrap_err().to_string();
    assert!(outside.contains("inside of `jit`"), "{outside}");
    let read = jit(|x: &Tensor| if x.to_vec::<f32>().is_ok() { x.relu() } else { x.neg() });
    close(&read.call(&floats(&[2])).unwrap(), values(&floats(&[2])).iter().map(|x| -x));
    let dim = jit(|x: &Tensor| x.reshape([x.size(5)])).call(&floats(&[2])).unwrap_err().to_string();
    assert!(dim.contains("dim 5"), "{dim}");
    let written = jit(|x: &Tensor| call(op::RELU_, &[x.into()]).remove(0)).call(&floats(&[2])).unwrap_err().to_string();
    assert!(written.contains("writes to an argument"), "{written}");
}

#[test]
fn tensors_of_another_call_have_no_value() {
    let kept = std::cell::RefCell::new(None);
    let f = jit(|x: &Tensor| {
        let old = kept.replace(Some(x.clone()));
        old.map_or_else(|| x.relu(), |old| x.add(&old))
    });
    f.call(&floats(&[2])).unwrap();
    assert!(f.call(&floats(&[2, 2])).unwrap_err().to_string().contains("another call of `jit`"));
}

#[test]
fn all_arguments_by_call_and_lists_of_tensors() {
    let f = jit(|x: &Tensor, y: &Tensor| {
        let both = call(op::CAT, &[[x.clone(), y.clone()].as_slice().into(), 1.into()]).remove(0);
        call(op::SUM_DIM_INTLIST, &[(&both).into(), [0].into(), true.into(), DType::F64.into()]).remove(0)
    });
    let y = f.call(&floats(&[2, 1]), &floats(&[2, 1])).unwrap();
    assert_eq!((y.dtype(), y.rank()), (Some(DType::F64), 2));
    let g = jit(|x: &Tensor| call(op::ADD_TENSOR, &[x.into(), x.into(), 2.into()]).remove(0));
    close(&g.call(&floats(&[3])).unwrap(), values(&floats(&[3])).iter().map(|x| 3.0 * x));
    let h = jit(|x: &Tensor| call(op::CLAMP, &[x.into(), Argument::None, 0.25.into()]).remove(0));
    close(&h.call(&floats(&[9])).unwrap(), values(&floats(&[9])).iter().map(|x| x.min(0.25)));
}

#[test]
fn a_function_inside_of_a_function_is_a_part_of_it() {
    let inner = jit(|x: &Tensor| x.mul_scalar(3.0));
    let outer = jit(|x: &Tensor| inner.call(x).unwrap().add(x));
    close(&outer.call(&floats(&[4])).unwrap(), values(&floats(&[4])).iter().map(|x| 4.0 * x));
    assert_eq!(inner.entries(), 0);
}

#[test]
fn threads_share_a_function_and_compile_side_by_side() {
    let (both, inside) = (Barrier::new(2), AtomicUsize::new(0));
    let f = jit(|x: &Tensor| {
        // Passed only if two closures are traced at the same time.
        if inside.fetch_add(1, Relaxed) < 2 {
            both.wait();
        }
        x.tanh()
    });
    let f = &f;
    thread::scope(|scope| {
        for x in [floats(&[3]), floats(&[3, 2])] {
            scope.spawn(move || close(&f.call(&x).unwrap(), values(&x).iter().map(|x| x.tanh())));
        }
    });
    assert_eq!(f.entries(), 2);
}

#[test]
fn numbers_drawn_in_a_closure_differ_from_call_to_call() {
    let f = jit(|x: &Tensor| x.rand_like());
    let (a, b) = (values(&f.call(&floats(&[64])).unwrap()), values(&f.call(&floats(&[64])).unwrap()));
    assert!(a != b && a.iter().chain(&b).all(|x| (0.0..1.0).contains(x)));
}

#[test]
fn a_number_of_the_host_breaks_a_closure_into_segments() {
    let runs = Cell::new(0);
    let f = jit(|x: &Tensor, w: &Tensor| {
        runs.set(runs.get() + 1);
        let y = x.mul(w);
        let scaled = if y.sum().item() > 1.0 { y.mul_scalar(0.5) } else { y.exp() };
        if scaled.amax().item() >= 2.0 { scaled.neg().add(x) } else { scaled.add(w) }
    });
    let wanted = |x: &[f32], w: &[f32]| -> Vec<f32> {
        let y: Vec<f32> = x.iter().zip(w).map(|(x, w)| x * w).collect();
        let large = y.iter().sum::<f32>() > 1.0;
        let scaled: Vec<f32> = y.iter().map(|y| if large { 0.5 * y } else { y.exp() }).collect();
        let high = scaled.iter().any(|value| *value >= 2.0);
        scaled.iter().zip(x.iter().zip(w)).map(|(s, (x, w))| if high { x - s } else { s + w }).collect()
    };
    let calls = [[1.0f32, 2.0, 3.0], [0.1, 0.2, 0.3], [3.0, 3.0, 3.0], [0.5, 1.5, 0.25], [-1.0, -2.0, 0.5], [2.0, -3.0, 0.5]];
    for _ in 0..2 {
        for x in &calls {
            let w = [1.0f32, 0.5, 1.5];
            let (given, weight) = (Tensor::new(x, &[3]).unwrap(), Tensor::new(&w, &[3]).unwrap());
            close(&f.call(&given, &weight).unwrap(), wanted(x, &w));
        }
    }
    // Once for each way: later calls run what was compiled.
    assert_eq!((f.entries(), runs.get() as u64), (1, f.compilations()));
    assert!(runs.get() <= 4, "{}", runs.get());
    let text = f.explain();
    assert!(text.contains("> 1 at ") && text.contains(">= 2 at ") && text.contains("jit.rs:") && text.contains("true"), "{text}");
}

#[test]
fn values_of_numbers_are_guards_and_drawn_numbers_are_drawn_once() {
    let f = jit(|x: &Tensor| {
        let noise = x.rand_like();
        let above = noise.mean().item() > 0.5;
        (noise.clone(), if above { noise.add_scalar(1.0) } else { noise.sub_scalar(1.0) })
    });
    for _ in 0..20 {
        let (noise, moved) = f.call(&floats(&[4])).unwrap();
        let noise = values(&noise);
        let by = if noise.iter().sum::<f32>() > 2.0 { 1.0 } else { -1.0 };
        close(&moved, noise.iter().map(|value| value + by));
    }
    let count = jit(|x: &Tensor| match x.amax().item().value() {
        strata::Scalar::Int(n) => (0..n).fold(x.clone(), |sum, _| sum.add(x)),
        _ => x.neg(),
    })
    .limit(2, OnLimit::Error);
    for n in [2i64, 3, 2] {
        let x = Tensor::new(&[n, 1], &[2]).unwrap();
        assert_eq!(count.call(&x).unwrap().to_vec::<i64>().unwrap(), [n * (n + 1), n + 1]);
    }
    let error = count.call(&Tensor::new(&[4i64, 1], &[2]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 2, .. }), "{error}");
}

#[test]
fn numbers_that_are_none_are_errors_of_the_call() {
    let several = jit(|x: &Tensor| if x.item() > 0.0 { x.relu() } else { x.neg() });
    let error = several.call(&floats(&[2])).unwrap_err().to_string();
    assert!(error.contains("only a tensor of one real element"), "{error}");
    let wrong = jit(|x: &Tensor| if x.matmul(&x.unsqueeze(0).unsqueeze(0)).sum().item() > 0.0 { x.relu() } else { x.neg() });
    let error = wrong.call(&floats(&[2, 3])).unwrap_err().to_string();
    assert!(error.contains("aten.matmul"), "{error}");
}

#[test]
fn sizes_are_symbolic_beside_breaks_or_have_their_own_forms() {
    let f = jit(|x: &Tensor| if x.sum().item() > 0.0 { x.mul(x) } else { x.abs() });
    for rows in [2, 3, 5, 7] {
        let x = floats(&[rows]);
        let positive = values(&x).iter().sum::<f32>() > 0.0;
        close(&f.call(&x).unwrap(), values(&x).iter().map(|x| if positive { x * x } else { x.abs() }));
    }
}

#[test]
fn places_outside_of_a_symbolic_size_are_errors_of_the_call() {
    let select = jit(|x: &Tensor| x.select_int(0, 5));
    let narrow = jit(|x: &Tensor| x.narrow(0, 2, 5));
    let last = jit(|x: &Tensor| x.narrow(0, x.size(0) - 3, 3));
    for rows in [8, 9, 7] {
        let x = floats(&[rows]);
        close(&select.call(&x).unwrap(), [values(&x)[5]]);
        close(&narrow.call(&x).unwrap(), values(&x)[2..7].iter().copied());
        close(&last.call(&x).unwrap(), values(&x)[rows as usize - 3..].iter().copied());
    }
    assert_eq!((select.entries(), narrow.entries(), last.entries()), (2, 2, 2));
    for (error, text) in [
        (select.call(&floats(&[5])), "index 5 is out of bounds for a dimension of size 5"),
        (narrow.call(&floats(&[6])), "start 2 and length 5 exceed a dimension of size 6"),
        (last.call(&floats(&[2])), "start -1 and length 3 exceed a dimension of size 2"),
    ] {
        let error = error.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn a_call_that_is_wrong_for_its_own_sizes_makes_no_form_of_all() {
    let line = line!() + 1;
    let f = jit(|x: &Tensor, y: &Tensor| x.add(y));
    for rows in [8, 9] {
        f.call(&floats(&[rows]), &floats(&[rows])).unwrap();
    }
    let error = f.call(&floats(&[5]), &floats(&[4])).unwrap_err().to_string();
    assert!(error.contains(&format!("jit.rs:{line}:")) && error.contains("sizes 5 and 4 do not broadcast"), "{error}");
    assert_eq!(f.entries(), 2);
}
