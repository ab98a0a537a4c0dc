//! Branches and loops inside of one program: what they compute, and what they refuse.

mod common;

use common::{close, floats, values};
use strata::{Tensor, cond, jit, scan, while_loop};

/// The message of a call that fails, which names a line of this file.
fn refused<R>(result: Result<R, strata::Error>, line: u32, parts: &[&str]) {
    let error = result.err().expect("the call fails").to_string();
    assert!(error.contains(&format!("control.rs:{line}:")) && parts.iter().all(|part| error.contains(part)), "{error}");
}

#[test]
fn a_branch_is_chosen_at_each_call() {
    let w = floats(&[3]);
    let kept = w.clone();
    let f = jit(move |x: &Tensor| {
        let scale = x.abs().sum().add_scalar(1.0);
        cond(&x.sum().gt_scalar(1.0), || (x.mul(&w), x.neg()), || (x.div(&scale), w.add(&x.zeros_like())))
    });
    let w = values(&kept);
    for rows in [2, 3, 5] {
        for sign in [1.0, -1.0] {
            let x: Vec<f32> = (0..rows * 3).map(|k| sign * (1.0 + k as f32 / 8.0)).collect();
            let (a, b) = f.call(&Tensor::new(&x, &[rows, 3]).unwrap()).unwrap();
            let scale = 1.0 + x.iter().map(|x| x.abs()).sum::<f32>();
            let first = |(k, x): (usize, &f32)| if sign > 0.0 { x * w[k % 3] } else { x / scale };
            let second = |(k, x): (usize, &f32)| if sign > 0.0 { -x } else { w[k % 3] };
            close(&a, x.iter().enumerate().map(first));
            close(&b, x.iter().enumerate().map(second));
        }
    }
    assert_eq!((f.entries(), f.compilations()), (2, 2));
}

#[test]
fn branches_give_trees_and_stand_in_each_other() {
    let f = jit(|x: &Tensor| {
        let large = |y: &Tensor| y.amax().gt_scalar(2.0);
        let picked = cond(
            &large(x),
            || vec![cond(&x.amin().lt_scalar(0.0), || x.abs(), || x.clone()), x.add_scalar(1.0)],
            || vec![x.exp(), x.clone()],
        );
        picked[0].add(&picked[1])
    });
    for x in [[3.0f32, 1.0], [3.0, -1.0], [0.5, 0.25]] {
        let wanted = |v: &f32| match x {
            [a, _] if a > 2.0 => v.abs() + v + 1.0,
            _ => v.exp() + v,
        };
        close(&f.call(&Tensor::new(&x, &[2]).unwrap()).unwrap(), x.iter().map(wanted));
    }
    assert_eq!(f.compilations(), 1);
}

#[test]
fn branches_that_differ_are_refused() {
    let x = floats(&[2, 3]);
    let line = line!() + 1;
    let shapes = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || x.clone(), || x.sum_dim_intlist([1])));
    refused(shapes.call(&x), line, &["`cond`: tensor 0", "f32[2, 3] in the first", "f32[2] in the second"]);
    let line = line!() + 1;
    let sizes = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || x.clone(), || x.narrow(1, 0, 2)));
    refused(sizes.call(&x), line, &["f32[2, 3]", "f32[2, 2]"]);
    let line = line!() + 1;
    let types = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || x.clone(), || x.gt_scalar(0.0)));
    refused(types.call(&x), line, &["f32[2, 3]", "bool[2, 3]"]);
    let line = line!() + 1;
    let lists = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || vec![x.clone()], || vec![x.clone(), x.neg()]));
    refused(lists.call(&x), line, &["2 items, not 1 items"]);
    let line = line!() + 1;
    let several = jit(|x: &Tensor| cond(&x.gt_scalar(0.0), || x.clone(), || x.neg()));
    refused(several.call(&x), line, &["the predicate is bool[2, 3], not one bool"]);
    let line = line!() + 1;
    let float = jit(|x: &Tensor| cond(&x.sum(), || x.clone(), || x.neg()));
    refused(float.call(&x), line, &["the predicate is f32[], not one bool"]);
    let line = line!() + 1;
    let inside = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || x.matmul(&x.unsqueeze(0)), || x.neg()));
    refused(inside.call(&x), line, &["aten.matmul"]);
}

#[test]
fn a_loop_runs_as_long_as_its_test_holds() {
    let f = jit(|x: &Tensor, limit: &Tensor| {
        let start = (x.clone(), x.sum().zeros_like());
        while_loop(&start, |(x, _)| x.abs().sum().gt(limit), |(x, n)| (x.mul_scalar(0.5), n.add_scalar(1.0)))
    });
    let g = jit(|x: &Tensor| {
        // Both are read before one is written.
        let start = (x.clone(), x.neg(), x.sum());
        while_loop(&start, |(.., sum)| sum.lt_scalar(20.0), |(a, b, sum)| (b.clone(), a.clone(), sum.add_scalar(7.0)))
    });
    for rows in [2, 4, 3] {
        let x = floats(&[rows, 2]);
        let (mut wanted, mut steps) = (values(&x), 0.0);
        while wanted.iter().map(|x| x.abs()).sum::<f32>() > 0.3 {
            wanted.iter_mut().for_each(|x| *x *= 0.5);
            steps += 1.0;
        }
        let (halved, n) = f.call(&x, &Tensor::new(&[0.3f32], &[]).unwrap()).unwrap();
        close(&halved, wanted);
        close(&n, [steps]);
        let (same, none) = f.call(&x, &Tensor::new(&[1e9f32], &[]).unwrap()).unwrap();
        close(&same, values(&x));
        close(&none, [0.0]);
        let (mut sum, mut sign) = (values(&x).iter().sum::<f32>(), 1.0);
        while sum < 20.0 {
            (sum, sign) = (sum + 7.0, -sign);
        }
        let (a, b, last) = g.call(&x).unwrap();
        close(&a, values(&x).iter().map(|x| sign * x));
        close(&b, values(&x).iter().map(|x| -sign * x));
        close(&last, [sum]);
    }
    assert_eq!((f.entries(), g.entries()), (2, 2));
}

#[test]
fn a_loop_whose_state_changes_its_type_is_refused() {
    let x = floats(&[2, 3]);
    let below = |x: &Tensor| x.sum().lt_scalar(1.0);
    let line = line!() + 1;
    let grows = jit(|x: &Tensor| while_loop(x, below, |x| x.repeat([2, 1])));
    refused(grows.call(&x), line, &["`while_loop`: tensor 0 of what is carried is f32[2, 3], and f32[4, 3] behind a step"]);
    let line = line!() + 1;
    let other = jit(|x: &Tensor| while_loop(&(x.clone(), x.clone()), |(x, _)| below(x), |(x, _)| (x.clone(), x.gt_scalar(0.0))));
    refused(other.call(&x), line, &["tensor 1", "bool[2, 3]"]);
    let line = line!() + 1;
    let number = jit(|x: &Tensor| while_loop(&(x.clone(), 1i64), |(x, _)| below(x), |(x, n)| (x.exp(), n + 1)));
    refused(number.call(&x), line, &["value 0 is 2, not 1", "make a tensor"]);
    let line = line!() + 1;
    let test = jit(|x: &Tensor| while_loop(x, |x| x.sum(), |x| x.exp()));
    refused(test.call(&x), line, &["the predicate is f32[], not one bool"]);
    let line = line!() + 1;
    let outside = jit(|x: &Tensor| x.add(&while_loop(&Tensor::new(&[0f32], &[]).unwrap(), below, |n| n.add_scalar(1.0))));
    refused(outside.call(&x), line, &["make one of an argument"]);
}

#[test]
fn rows_are_gone_over_with_a_carry() {
    let w = floats(&[2, 2]);
    let kept = values(&w);
    let f = jit(move |h: &Tensor, xs: &(Tensor, Tensor)| {
        scan(h, xs, |h, (x, gate)| {
            let h = h.matmul(&w).tanh().mul(gate).add(x);
            (h.clone(), (h.relu(), h.sum_dim_intlist([0])))
        })
    });
    for (steps, batch) in [(4, 3), (6, 5), (3, 3)] {
        let (h, x, gate) = (floats(&[batch, 2]), floats(&[steps, batch, 2]), floats(&[steps, 1, 2]));
        let (last, (all, sums)) = f.call(&h, &(x.clone(), gate.clone())).unwrap();
        let (mut state, x, gate) = (values(&h), values(&x), values(&gate));
        let (mut rows, mut totals) = (Vec::new(), Vec::new());
        for step in 0..steps as usize {
            let mut next = Vec::new();
            for row in 0..batch as usize {
                for column in 0..2 {
                    let product: f32 = (0..2).map(|k| state[row * 2 + k] * kept[k * 2 + column]).sum();
                    next.push(product.tanh() * gate[step * 2 + column] + x[(step * batch as usize + row) * 2 + column]);
                }
            }
            rows.extend(next.iter().map(|x| x.max(0.0)));
            totals.extend((0..2).map(|column| next.iter().skip(column).step_by(2).sum::<f32>()));
            state = next;
        }
        close(&last, state);
        close(&all, rows);
        close(&sums, totals);
        assert_eq!(all.value().unwrap().shape(), [steps, batch, 2]);
    }
    assert_eq!((f.entries(), f.compilations()), (2, 2));
}

#[test]
fn no_row_gives_the_carry_and_no_rows() {
    let f = jit(|h: &Tensor, xs: &Tensor| scan(h, xs, |h, x| (h.add(x), h.exp())));
    let (last, all) = f.call(&floats(&[2]), &Tensor::new::<f32>(&[], &[0, 2]).unwrap()).unwrap();
    close(&last, values(&floats(&[2])));
    assert_eq!(all.value().unwrap().shape(), [0, 2]);
}

#[test]
fn scans_that_do_not_fit_are_refused() {
    let (h, x) = (floats(&[2]), floats(&[3, 2]));
    let line = line!() + 1;
    let carry = jit(|h: &Tensor, x: &Tensor| scan(h, x, |h, x| (h.outer(x), x.clone())));
    refused(carry.call(&h, &x), line, &["`scan`: tensor 0 of what is carried is f32[2], and f32[2, 2] behind a step"]);
    let line = line!() + 1;
    let counts = jit(|h: &Tensor, x: &Tensor| scan(h, &(x.clone(), h.clone()), |h, (x, _)| (h.add(x), x.clone())));
    refused(counts.call(&h, &x), line, &["its tensors have 3 rows and 2"]);
    let line = line!() + 1;
    let none = jit(|h: &Tensor, _: &Tensor| scan(h, &h.sum(), |h, x| (h.add(x), x.clone())));
    refused(none.call(&h, &x), line, &["a tensor of rank 0 has no rows"]);
    // Of symbolic numbers of rows only a call knows whether they are equal.
    let line = line!() + 3;
    let both = jit(|a: &Tensor, b: &Tensor| {
        let a = a.narrow(0, 1, a.size(0) - 1);
        scan(&a.sum().zeros_like(), &(a, b.clone()), |n, (a, b)| (n.add(a), a.add(b)))
    });
    for (a, b) in [(3, 2), (4, 3), (6, 5)] {
        both.call(&floats(&[a]), &floats(&[b])).unwrap();
    }
    assert_eq!(both.entries(), 2);
    refused(both.call(&floats(&[5]), &floats(&[5])), line, &["4 rows and 5"]);
}

#[test]
fn a_body_has_no_numbers_and_keeps_what_it_makes() {
    let x = floats(&[3]);
    let line = line!() + 1;
    let asks = jit(|x: &Tensor| cond(&x.sum().gt_scalar(0.0), || if x.sum().item() > 1.0 { x.neg() } else { x.exp() }, || x.clone()));
    refused(asks.call(&x), line, &["`item` inside of a body"]);
    let line = line!() + 7;
    let escapes = jit(|x: &Tensor| {
        let kept = std::cell::RefCell::new(x.clone());
        let y = cond(&x.sum().gt_scalar(0.0), || kept.replace(x.exp()), || x.clone());
        assert_eq!(y.rank(), 1);
        let kept = kept.into_inner();
        // Made inside, used outside.
        kept.add(&y)
    });
    refused(escapes.call(&x), line, &["used outside of it"]);
}

#[test]
fn control_flow_stands_beside_breaks() {
    let f = jit(|x: &Tensor| {
        let y = cond(&x.sum().gt_scalar(1.0), || x.mul_scalar(2.0), || x.neg());
        if y.amax().item() > 3.0 {
            while_loop(&y, |y| y.amax().gt_scalar(1.0), |y| y.mul_scalar(0.5))
        } else {
            scan(&y.sum(), x, |sum, x| (sum.add(x), x.add(&y.sum()))).1
        }
    });
    for x in [[2.0f32, 1.0], [0.25, 0.5], [-4.0, 1.0]] {
        let y: Vec<f32> = x.iter().map(|v| if x[0] + x[1] > 1.0 { 2.0 * v } else { -v }).collect();
        let mut wanted: Vec<f32> = y.clone();
        if y[0].max(y[1]) > 3.0 {
            while wanted[0].max(wanted[1]) > 1.0 {
                wanted.iter_mut().for_each(|v| *v *= 0.5);
            }
        } else {
            wanted = x.iter().map(|v| v + y[0] + y[1]).collect();
        }
        for _ in 0..2 {
            close(&f.call(&Tensor::new(&x, &[2]).unwrap()).unwrap(), wanted.iter().copied());
        }
    }
    assert_eq!(f.entries(), 1);
}

#[test]
fn each_step_draws_its_own_numbers() {
    let f = jit(|h: &Tensor, xs: &Tensor| scan(h, xs, |h, x| (h.add(&x.rand_like()), x.rand_like())));
    let mut drawn = Vec::new();
    for rows in [4, 5, 6] {
        let (_, noise) = f.call(&floats(&[rows]), &floats(&[4, rows])).unwrap();
        drawn.extend(values(&noise));
    }
    assert!(drawn.iter().all(|x| (0.0..1.0).contains(x)));
    drawn.sort_by(f32::total_cmp);
    // Equal numbers among so few are those of a step that drew nothing.
    assert!(drawn.windows(2).filter(|pair| pair[0] == pair[1]).count() <= 1, "{drawn:?}");
}
