//! Tensors of the call in any order of their dims mean the same: those in the program's order go straight through, others are copied.

use std::path::PathBuf;

use strata_driver::{Options, compile, emulated, interpret, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::{DType, DimOrder, Session, Tensor};

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs/orders.mlir")
}

fn numbers(shape: &[i64], from: f32) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product::<i64>()).map(|k| from + (k * 37 % 101) as f32 * 0.25).collect();
    Tensor::from_slice(DType::F32, shape, &values).unwrap()
}

fn same(found: &Tensor, wanted: &Tensor) {
    let difference = compare(found, wanted, Tolerance { rtol: 1e-6, atol: 1e-5 }).unwrap();
    assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
}

fn order(dims: &[usize]) -> DimOrder {
    DimOrder::try_from(dims.to_vec()).unwrap()
}

/// All orders of four dims.
fn orders() -> Vec<DimOrder> {
    let mut orders = Vec::new();
    for number in 0..256usize {
        orders.extend(DimOrder::try_from((0..4).map(|place| number >> (2 * place) & 3).collect::<Vec<_>>()));
    }
    assert_eq!(orders.len(), 24);
    orders
}

/// Calls with inputs and outputs in every order agree with the interpreter.
fn check(session: &Session) {
    for (n, h) in [(2, 5), (1, 1), (0, 3), (4, 1)] {
        let shape = [n, 3, h, 2];
        let (x, y) = (numbers(&shape, -3.0), numbers(&shape, 1.0));
        let wanted: Vec<Tensor> = interpret(standard(), &program(), &Options::default(), vec![x.clone(), y.clone()])
            .unwrap()
            .into_iter()
            .map(|result| result.tensor)
            .collect();
        for order in orders() {
            let inputs = [x.in_order(&order), y.in_order(&order)].map(|tensor| tensor.unwrap().into_owned());
            let found = session.run(&inputs).unwrap();
            found.iter().zip(&wanted).for_each(|(found, wanted)| same(found, wanted));
            let mut given = wanted.iter().map(|wanted| Tensor::uninit_in(DType::F32, wanted.shape(), &order).unwrap()).collect::<Vec<_>>();
            session.run_onto(&mut session.caller(), &inputs.iter().collect::<Vec<_>>(), &mut given).unwrap();
            given.iter().zip(&wanted).for_each(|(found, wanted)| same(found, wanted));
        }
    }
}

#[test]
fn tensors_in_every_order_mean_the_same() {
    let session = Session::load(&compile(standard(), &program(), &Options::default(), None).unwrap(), None).unwrap();
    check(&session);
    // What the program allocates lies as the program says: the last dims first.
    let results = session.run(&[numbers(&[2, 3, 5, 2], 0.0), numbers(&[2, 3, 5, 2], 1.0)]).unwrap();
    let found: Vec<_> = results.iter().map(|result| result.dim_order().clone()).collect();
    assert_eq!(found, [order(&[2, 0, 3, 1]), DimOrder::ROW_MAJOR, order(&[0, 2, 3, 1])]);
}

#[test]
fn tensors_in_every_order_mean_the_same_on_a_device() {
    let options = Options { target: "cuda:sm_80".parse().unwrap(), ..Options::default() };
    let session = emulated(standard(), &program(), &options).unwrap();
    check(&session);
    // A tensor that is on the device lies there as it lies here.
    let shape = [2, 3, 5, 2];
    let (x, y) = (numbers(&shape, -3.0), numbers(&shape, 1.0));
    let wanted = session.run(&[x.clone(), y.clone()]).unwrap();
    let placed = |tensor: &Tensor| session.to_device(tensor).unwrap().unwrap();
    let outputs: Vec<_> = wanted.iter().map(placed).collect();
    let call = |x: &Tensor| session.run_placed(&mut session.caller(), &[&placed(x), &placed(&y)], &outputs.iter().collect::<Vec<_>>());
    let error = call(&x).unwrap_err().to_string();
    assert!(error.contains("not in the order (0, 2, 3, 1) of its dims"), "{error}");
    call(&x.in_order(&order(&[0, 2, 3, 1])).unwrap()).unwrap();
    for (output, wanted) in outputs.iter().zip(&wanted) {
        let found = session.to_host(output).unwrap().unwrap();
        assert_eq!(found.dim_order(), wanted.dim_order());
        same(&found, wanted);
    }
}
