//! States: what calls make of them, that no call's change is lost, and what is refused.

mod common;

use std::thread;

use common::{close, floats, values};
use strata::{State, Tensor, TensorTree, cond, jit};

fn scalar(value: f32) -> Tensor {
    Tensor::new(&[value], &[]).unwrap()
}

fn refused<R>(result: Result<R, strata::Error>, parts: &[&str]) {
    let error = result.err().expect("the call fails").to_string();
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

/// Attention's keys of one layer, and how many there are.
#[derive(Clone, TensorTree)]
struct Cache {
    keys: State,
    length: State,
    scale: f64,
}

#[test]
fn a_cache_is_filled_call_by_call() {
    let step = jit(|cache: &Cache, x: &Tensor| {
        let at = cache.length.get();
        cache.keys.update(|keys| keys.index_copy(0, &at, x));
        cache.length.update(|length| length.add_scalar(1));
        cache.keys.get().mul_scalar(cache.scale).sum_dim_intlist([0])
    });
    let keys = State::new(Tensor::new(&[0f32; 12], &[6, 2]).unwrap());
    let cache = Cache { keys: keys.clone(), length: State::new(Tensor::new(&[0i64], &[1]).unwrap()), scale: 0.5 };
    let (mut wanted, mut sums) = (vec![0f32; 12], [0f32; 2]);
    for row in 0..4usize {
        let x = [row as f32 + 1.0, -2.0 * row as f32];
        close(&step.call(&cache, &Tensor::new(&x, &[1, 2]).unwrap()).unwrap(), {
            wanted[2 * row..2 * row + 2].copy_from_slice(&x);
            sums = [sums[0] + x[0], sums[1] + x[1]];
            sums.map(|sum| 0.5 * sum)
        });
        close(&keys.value(), wanted.iter().copied());
        assert_eq!(cache.length.value().to_vec::<i64>().unwrap(), [row as i64 + 1]);
    }
    assert_eq!((step.entries(), step.compilations()), (1, 1));
}

#[test]
fn a_state_may_grow() {
    let push = jit(|all: &State, x: &Tensor| {
        all.update(|all| strata::call(strata::op::CAT, &[[all.clone(), x.clone()].as_slice().into(), 0.into()]).remove(0));
        all.get().sum()
    });
    let all = State::new(floats(&[2, 3]));
    let mut wanted = values(&all.value());
    for rows in [2, 3, 2, 4] {
        let x = floats(&[rows, 3]);
        wanted.extend(values(&x));
        close(&push.call(&all, &x).unwrap(), [wanted.iter().sum()]);
        close(&all.value(), wanted.iter().copied());
    }
    assert_eq!(push.entries(), 2);
}

#[test]
fn old_values_stay_what_they_were() {
    let swap = jit(|a: &State, b: &State| {
        let (old, other) = (a.get(), b.get());
        a.set(&other);
        b.set(&old);
        old.sub(&other)
    });
    let (a, b) = (State::new(scalar(3.0)), State::new(scalar(1.0)));
    let before = a.value();
    close(&swap.call(&a, &b).unwrap(), [2.0]);
    close(&swap.call(&a, &b).unwrap(), [-2.0]);
    close(&swap.call(&a, &b).unwrap(), [2.0]);
    close(&before, [3.0]);
    close(&a.value(), [1.0]);
    a.set(&scalar(7.0));
    close(&swap.call(&b, &a).unwrap(), [-4.0]);
    close(&a.value(), [3.0]);
}

#[test]
fn states_stand_beside_breaks_and_branches() {
    let f = jit(|best: &State, x: &Tensor| {
        let loss = x.abs().sum();
        let better = loss.lt(&best.get());
        let kept = cond(&better, || loss.clone(), || best.get());
        best.set(&kept);
        if better.item().truth() { x.neg() } else { x.clone() }
    });
    let best = State::new(scalar(10.0));
    for (x, wanted) in [(4.0, 4.0), (6.0, 4.0), (-1.0, 1.0), (2.0, 1.0)] {
        let old = values(&best.value())[0];
        let y = f.call(&best, &scalar(x)).unwrap();
        close(&y, [if x.abs() < old { -x } else { x }]);
        close(&best.value(), [wanted]);
    }
    assert_eq!(f.entries(), 1);
}

#[test]
fn a_call_that_fails_changes_nothing() {
    let f = jit(|sum: &State, x: &Tensor, at: &Tensor| {
        sum.update(|sum| sum.add_scalar(1.0));
        x.index_select(0, at)
    });
    let sum = State::new(scalar(0.0));
    let at = |place: i64| Tensor::new(&[place], &[1]).unwrap();
    f.call(&sum, &floats(&[3]), &at(2)).unwrap();
    refused(f.call(&sum, &floats(&[3]), &at(3)), &["out of bounds"]);
    close(&sum.value(), [1.0]);
    f.call(&sum, &floats(&[3]), &at(0)).unwrap();
    close(&sum.value(), [2.0]);
}

#[test]
fn a_function_inside_changes_the_states_of_its_closure() {
    let inner = jit(|count: &State, x: &Tensor| {
        count.update(|count| count.add_scalar(1.0));
        x.mul(&count.get())
    });
    let outer = jit(|count: &State, x: &Tensor| inner.call(count, &inner.call(count, x).unwrap()).unwrap());
    let count = State::new(scalar(0.0));
    close(&outer.call(&count, &scalar(1.0)).unwrap(), [2.0]);
    close(&outer.call(&count, &scalar(1.0)).unwrap(), [12.0]);
    close(&count.value(), [4.0]);
    assert_eq!(inner.entries(), 0);
}

#[test]
fn no_change_of_a_thread_is_lost() {
    const CALLS: usize = 200;
    let f = jit(|from: &State, to: &State, x: &Tensor| {
        from.update(|from| from.sub(x));
        to.update(|to| to.add(x));
        to.get()
    });
    let (a, b) = (State::new(scalar(0.0)), State::new(scalar(0.0)));
    thread::scope(|scope| {
        for thread in 0..4 {
            // Both orders, so that calls that wait for each other would hang.
            let (from, to) = if thread % 2 == 0 { (&a, &b) } else { (&b, &a) };
            let f = &f;
            let x = scalar(if thread % 2 == 0 { 2.0 } else { 1.0 });
            scope.spawn(move || (0..CALLS).for_each(|_| drop(f.call(from, to, &x).unwrap())));
        }
    });
    // Two threads move 2 from a to b, two move 1 back.
    close(&a.value(), [-(2.0 * CALLS as f32)]);
    close(&b.value(), [2.0 * CALLS as f32]);
    assert_eq!(f.entries(), 1);
}

#[test]
fn states_from_elsewhere_are_refused() {
    let state = State::new(scalar(1.0));
    let twice = jit(|a: &State, b: &State| a.get().add(&b.get()));
    refused(twice.call(&state, &state.clone()), &["given to a call twice"]);
    let line = line!() + 1;
    let read = jit(|x: &Tensor| x.add(&state.get()));
    refused(read.call(&scalar(1.0)), &[&format!("state.rs:{line}:"), "no argument of the call"]);
    let line = line!() + 2;
    let written = jit(|x: &Tensor| {
        state.set(&x.exp());
        x.clone()
    });
    refused(written.call(&scalar(1.0)), &[&format!("state.rs:{line}:"), "no argument of the call"]);
    let told = std::cell::RefCell::new(Vec::new());
    let given = jit(|x: &Tensor| {
        for other in [&state, &State::new(x.clone())] {
            told.borrow_mut().push(twice.call(other, &State::new(x.clone())).unwrap_err().to_string());
        }
        x.clone()
    });
    given.call(&scalar(1.0)).unwrap();
    assert!(told.take().iter().all(|error| error.contains("no argument of the closure")));
    close(&state.value(), [1.0]);
    let result = jit(|state: &State| state.clone());
    refused(result.call(&state), &["no result of a closure"]);
    let line = line!() + 6;
    let body = jit(|state: &State, x: &Tensor| {
        let y = x.exp();
        cond(
            &x.gt_scalar(0.0),
            || {
                state.set(&y);
                y.clone()
            },
            || y.clone(),
        )
    });
    refused(body.call(&state, &scalar(1.0)), &[&format!("state.rs:{line}:"), "inside of a body"]);
    let carried = jit(|state: &State| strata::while_loop(state, |s| s.get().lt_scalar(3.0), |s| s.clone()).get());
    refused(carried.call(&state), &["`while_loop`", "a state is no value of a body"]);
}

#[test]
fn an_old_value_is_given_beside_the_new_one() {
    let f = jit(|sum: &State, x: &Tensor| {
        let old = sum.get();
        sum.set(&old.add(x));
        (old.clone(), old.mul(&sum.get()), sum.get())
    });
    let (sum, mut wanted) = (State::new(floats(&[5])), values(&floats(&[5])));
    for _ in 0..4 {
        let (old, product, new) = f.call(&sum, &floats(&[5])).unwrap();
        let next: Vec<f32> = wanted.iter().zip(values(&floats(&[5]))).map(|(a, b)| a + b).collect();
        close(&old, wanted.iter().copied());
        close(&product, wanted.iter().zip(&next).map(|(a, b)| a * b));
        close(&new, next.iter().copied());
        wanted = next;
        close(&sum.value(), wanted.iter().copied());
    }
}

#[test]
fn memory_that_nobody_else_has_is_written_over() {
    // What looks something up may find no such place: then nothing is changed.
    let step = jit(|w: &State, moments: &(State, State), x: &Tensor, at: &Tensor| {
        let rate = x.index_select(0, at);
        moments.0.update(|m| m.mul_scalar(0.5).add(x));
        moments.1.set(&moments.1.get());
        w.update(|w| w.sub(&moments.0.get().mul(&rate)));
    });
    let (w, first, second) = (State::new(floats(&[64])), State::new(floats(&[64])), State::new(floats(&[3])));
    let (x, at) = (floats(&[64]), Tensor::new(&[2i64], &[1]).unwrap());
    let (mut weights, mut moment) = (values(&w.value()), values(&first.value()));
    let memory = |state: &State| state.value().value().unwrap().bytes().as_ptr();
    let moments = (first.clone(), second.clone());
    let mut take = || {
        step.call(&w, &moments, &x, &at).unwrap();
        moment.iter_mut().zip(values(&x)).for_each(|(m, x)| *m = 0.5 * *m + x);
        weights.iter_mut().zip(&moment).for_each(|(w, m)| *w -= m * values(&x)[2]);
        close(&w.value(), weights.iter().copied());
        close(&first.value(), moment.iter().copied());
    };
    take();
    let places = [memory(&w), memory(&first)];
    for _ in 0..5 {
        take();
        assert_eq!([memory(&w), memory(&first)], places);
    }
    // Who holds a value keeps it.
    let held = w.value();
    let before = values(&held);
    take();
    assert!(memory(&w) != places[0] && memory(&first) == places[1]);
    close(&held, before);
    // A call that fails changes nothing, and loses nothing.
    let before = (values(&w.value()), values(&first.value()));
    drop(held);
    refused(step.call(&w, &moments, &x, &Tensor::new(&[64i64], &[1]).unwrap()), &["out of bounds"]);
    close(&w.value(), before.0);
    close(&first.value(), before.1);
    close(&second.value(), values(&floats(&[3])));
    assert_eq!((step.entries(), step.compilations()), (1, 1));
}
