//! Numbers of a call: when they are inputs of the program, and when each has a form of its own.

mod common;

use common::{close, floats, values};
use strata::{Argument, HostScalar, OnLimit, State, Tensor, TensorTree, call, cond, jit, op, scan};

#[test]
fn a_number_that_differs_is_an_input() {
    let f = jit(|x: &Tensor, scale: &HostScalar, shift: &HostScalar| {
        x.mul_scalar(scale).add_scalar(shift).clamp_min(shift).pow_tensor_scalar(2.0)
    });
    for (rows, scale, shift) in [(3, 0.5, 1.0), (3, 0.25, 1.5), (4, -3.0, 0.0), (4, 1e30, 7.0), (2, 0.5, -1.0)] {
        let x = floats(&[rows]);
        let wanted = |x: &f32| {
            let y = (x * scale as f32 + shift as f32).max(shift as f32);
            y * y
        };
        let y = f.call(&x, &scale.into(), &shift.into()).unwrap();
        for (found, wanted) in values(&y).iter().zip(values(&x).iter().map(wanted)) {
            assert!(*found == wanted || (found - wanted).abs() <= 1e-5 * wanted.abs(), "{found} is not {wanted}");
        }
    }
    assert_eq!((f.entries(), f.compilations()), (3, 3));
    let text = f.explain();
    assert!(text.contains("form 1: f32[3], f64, f64") && text.contains("form 2: f32[s0], f64, f64"), "{text}");
    assert!(text.contains("value 1 is 0.25, not 0.5"), "{text}");
}

#[test]
fn integers_are_sizes_places_and_numbers() {
    let f = jit(|x: &Tensor, n: &HostScalar| {
        let part = x.narrow(0, 0, n).reshape([n.into(), strata::Size::from(1)]).expand([n.into(), strata::Size::from(n) * 2]);
        (part.add_scalar(n), x.select_int(0, n))
    });
    let x = floats(&[9]);
    for n in [3i64, 5, 2, 8] {
        let (part, one) = f.call(&x, &n.into()).unwrap();
        assert_eq!(part.value().unwrap().shape(), [n, 2 * n]);
        close(&part, values(&x)[..n as usize].iter().flat_map(|x| vec![x + n as f32; 2 * n as usize]));
        close(&one, [values(&x)[n as usize]]);
    }
    assert_eq!(f.entries(), 2);
    // One is broadcast: a program of its own.
    close(&f.call(&x, &1.into()).unwrap().1, [values(&x)[1]]);
    assert_eq!(f.entries(), 3);
    assert!(f.call(&x, &9.into()).unwrap_err().to_string().contains("out of"));
}

#[test]
fn a_number_that_is_asked_has_a_form_for_each_value() {
    let line = line!() + 2;
    let f = jit(|x: &Tensor, power: &HostScalar, scale: &HostScalar| {
        let y = if *power > 2.0 { x.mul(x) } else { x.clone() };
        y.mul_scalar(scale)
    });
    let mut calls = 0;
    for (power, scale) in [(1.0, 0.5), (3.0, 0.25), (3.0, 4.0), (1.0, 8.0), (1.0, 9.0)] {
        for rows in [3, 4, 5] {
            let x = floats(&[rows]);
            let y = f.call(&x, &power.into(), &scale.into()).unwrap();
            close(&y, values(&x).iter().map(|x| if power > 2.0 { x * x } else { *x } * scale as f32));
            calls += 1;
        }
    }
    let text = f.explain();
    assert!(text.contains("(not for all numbers: ") && text.contains(&format!("numbers.rs:{line}:")), "{text}");
    assert!(text.contains("the closure asks a number of the call: > 2"), "{text}");
    // The other number and the sizes are inputs all the same.
    assert!(text.contains("f32[s0], 3.0, f64") && f.entries() <= 5 && calls > f.entries(), "{text}");
}

#[test]
fn what_must_be_known_has_a_form_for_each_value() {
    // The number of repetitions decides the rank of nothing, but that of dims does.
    let f =
        jit(|x: &Tensor, dim: &HostScalar, scale: &HostScalar| call(op::SOFTMAX_INT, &[x.into(), dim.into()]).remove(0).mul_scalar(scale));
    let x = floats(&[2, 2, 2, 2]);
    for (dim, scale) in [(2i64, 1.0), (3, 2.0), (2, 3.0), (3, 4.0), (2, 5.0)] {
        let sum = f.call(&x, &dim.into(), &scale.into()).unwrap().sum_over(dim);
        close(&sum, vec![scale as f32; 8]);
    }
    assert!(f.entries() <= 5 && f.explain().contains("(not for all numbers: "), "{}", f.explain());
    // Numbers of plain types are part of the program.
    let plain =
        jit(|x: &Tensor, scale: &f64, twice: &bool| x.mul_scalar(if *twice { 2.0 * scale } else { *scale })).limit(3, OnLimit::Error);
    for (scale, twice) in [(0.5, false), (0.25, false), (0.25, true)] {
        close(
            &plain.call(&floats(&[2]), &scale, &twice).unwrap(),
            values(&floats(&[2])).iter().map(|x| x * scale as f32 * if twice { 2.0 } else { 1.0 }),
        );
    }
    assert_eq!(plain.entries(), 3);
}

trait SumOver {
    fn sum_over(&self, dim: i64) -> Tensor;
}

impl SumOver for Tensor {
    fn sum_over(&self, dim: i64) -> Tensor {
        jit(move |x: &Tensor| x.sum_dim_intlist([dim])).call(self).unwrap()
    }
}

#[derive(Clone, TensorTree)]
struct Step {
    x: Tensor,
    rate: HostScalar,
    plain: i64,
}

#[test]
fn numbers_stand_in_trees_and_come_out_as_they_are() {
    let f = jit(|step: &Step| Step { x: step.x.mul_scalar(&step.rate), ..step.clone() });
    for (rate, plain) in [(0.5, 1), (0.25, 1), (0.75, 1), (0.5, 2)] {
        let out = f.call(&Step { x: floats(&[3]), rate: rate.into(), plain }).unwrap();
        close(&out.x, values(&floats(&[3])).iter().map(|x| x * rate as f32));
        assert_eq!((out.rate.value(), out.plain), (strata::Scalar::Float(rate), plain));
    }
    // What comes out is known: one form for each.
    assert_eq!(f.entries(), 4);
}

#[test]
fn numbers_stand_beside_breaks_branches_loops_and_states() {
    let f = jit(|sum: &State, x: &Tensor, rate: &HostScalar| {
        let y = cond(&x.sum().gt_scalar(rate), || x.mul_scalar(rate), || x.sub_scalar(rate));
        let (total, _) = scan(&y.sum().zeros_like(), &y, |total, y| (total.add(&y.mul_scalar(rate)), y.clone()));
        sum.update(|sum| sum.add(&total));
        if total.item() > 1.0 { y.add_scalar(rate) } else { y.neg() }
    });
    let sum = State::new(Tensor::new(&[0f32], &[]).unwrap());
    let mut all = 0.0;
    for (x, rate) in [([1.0f32, 2.0], 0.5), ([1.0, 2.0], 0.75), ([1.0, -2.0], 0.25), ([4.0, 2.0], 2.0), ([4.0, 3.0], 1.5)] {
        let y: Vec<f32> = x.iter().map(|v| if x[0] + x[1] > rate { v * rate } else { v - rate }).collect();
        let total = (y[0] + y[1]) * rate;
        all += total;
        let found = f.call(&sum, &Tensor::new(&x, &[2]).unwrap(), &f64::from(rate).into()).unwrap();
        close(&found, y.iter().map(|y| if total > 1.0 { y + rate } else { -y }));
        close(&sum.value(), [all]);
    }
    assert_eq!(f.entries(), 2);
}

#[test]
fn a_number_of_a_tensor_is_an_argument_too() {
    let f = jit(|x: &Tensor| x.mul_scalar(x.sum().item()));
    for x in [[1.0f32, 2.0], [0.5, 0.25]] {
        close(&f.call(&Tensor::new(&x, &[2]).unwrap()).unwrap(), x.map(|v| v * (x[0] + x[1])));
    }
    let g = jit(|x: &Tensor, n: &HostScalar| x.reshape([n]));
    let error = g.call(&floats(&[2]), &0.5.into()).unwrap_err().to_string();
    assert!(error.contains("Float(0.5) is no size"), "{error}");
    let inner = jit(|x: &Tensor, scale: &HostScalar| x.mul_scalar(scale));
    let fixed = floats(&[2]);
    let outer = jit(|x: &Tensor, scale: &HostScalar| inner.call(x, scale).unwrap().add(&inner.call(x, &2.0.into()).unwrap()));
    for scale in [0.5, 1.5, 4.0] {
        close(&outer.call(&fixed, &scale.into()).unwrap(), values(&fixed).iter().map(|x| x * (scale as f32 + 2.0)));
    }
    assert_eq!((outer.entries(), inner.entries()), (2, 0));
    assert!(matches!(Argument::from(0.5), Argument::Scalar(_)));
}
