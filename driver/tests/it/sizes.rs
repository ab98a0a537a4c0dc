//! Sizes that no tensor can have, from data and from shapes: the call ends with an error that says so, on every backend. And tensors
//! without elements, whose other sizes are no work.

use std::path::Path;
use std::time::{Duration, Instant};

use strata_driver::{Options, compile, emulated, interpret, standard};
use strata_runtime::{DType, Session, Tensor};

/// A call of a program, and the sizes of its results or a part of the error.
type Case = (&'static str, Vec<Tensor>, Result<&'static [&'static [i64]], &'static str>);

/// A program of one number or vector `x` of integers, of sizes `?` where `n` is that number.
fn from_number(results: &str, body: &str) -> String {
    let sentinel = i64::MIN;
    let returned = results.replace("tensor", " tensor");
    let body = body.replace('$', &sentinel.to_string());
    format!(
        "func.func @main(%x: tensor<i64> {{capture.kind = \"input\", capture.name = \"x\"}},
                         %y: tensor<?xf32> {{capture.kind = \"input\", capture.name = \"y\"}})
             -> ({results} {{capture.kind = \"output\"}}) attributes {{capture.entry}} {{
           %i = prim.item %x : (tensor<i64>) -> i64
           %n = arith.index_cast %i : i64 to index
           {body}
           return %0 :{returned}
         }}"
    )
}

/// A program of one tensor `x`.
fn from_tensor(x: &str, results: &[&str], body: &str) -> String {
    let declared: Vec<String> = results.iter().map(|ty| format!("{ty} {{capture.kind = \"output\"}}")).collect();
    let values: Vec<String> = (0..results.len()).map(|k| format!("%{k}")).collect();
    format!(
        "func.func @main(%x: {x} {{capture.kind = \"input\", capture.name = \"x\"}}) -> ({}) attributes {{capture.entry}} {{
           {body}
           return {} : {}
         }}",
        declared.join(", "),
        values.join(", "),
        results.join(", ")
    )
}

fn ints(values: &[i64]) -> Tensor {
    Tensor::from_slice(DType::I64, &[values.len() as i64], values).unwrap()
}

fn number(value: i64) -> Vec<Tensor> {
    vec![Tensor::from_slice(DType::I64, &[], &[value]).unwrap(), Tensor::from_slice(DType::F32, &[6], &[1f32; 6]).unwrap()]
}

fn ones(n: usize) -> Tensor {
    Tensor::from_slice(DType::F32, &[n as i64], &vec![1f32; n]).unwrap()
}

/// Runs a program on some inputs.
type Backend = Box<dyn Fn(&[Tensor]) -> Result<Vec<Tensor>, String>>;

/// All backends that can run a program, each a call of it.
fn backends(path: &Path) -> Vec<(&'static str, Backend)> {
    let session = Session::load(&compile(standard(), path, &Options::default(), None).unwrap(), None).unwrap();
    let device = emulated(standard(), path, &Options { target: "cuda:sm_80".parse().unwrap(), ..Options::default() }).unwrap();
    let run = |session: Session| move |inputs: &[Tensor]| session.run(inputs).map_err(|error| error.to_string());
    let path = path.to_owned();
    let interpreted = move |inputs: &[Tensor]| {
        let results = interpret(standard(), &path, &Options::default(), inputs.to_vec()).map_err(|error| error.to_string())?;
        Ok(results.into_iter().map(|named| named.tensor).collect())
    };
    vec![("cpu", Box::new(run(session))), ("device", Box::new(run(device))), ("interpreter", Box::new(interpreted))]
}

/// Runs the calls on all backends. The interpreter, which has bounds and words of its own, fails where the others do.
fn check(text: &str, cases: Vec<Case>) {
    let file = tempfile::Builder::new().suffix(".mlir").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    for (backend, call) in backends(file.path()) {
        for (name, inputs, wanted) in &cases {
            let start = Instant::now();
            let found = call(inputs);
            assert!(start.elapsed() < Duration::from_secs(10), "{name} on {backend} takes {:?}", start.elapsed());
            match (&found, wanted) {
                (Ok(found), Ok(wanted)) => assert_eq!(found.iter().map(Tensor::shape).collect::<Vec<_>>(), *wanted, "{name} on {backend}"),
                (Err(_), Err(_)) if backend == "interpreter" => {}
                // It keeps lines of a sort as tensors of their own.
                (Err(found), Ok(_)) if backend == "interpreter" && found.contains("is too large") => {}
                (Err(found), Err(wanted)) => assert!(found.contains(wanted), "{name} on {backend}: {found}"),
                _ => panic!("{name} on {backend}: {found:?}, expected {wanted:?}"),
            }
        }
    }
}

const MAX: i64 = i64::MAX;

#[test]
fn counts_of_large_numbers_are_refused() {
    let of = |values: &[i64]| vec![ints(values)];
    let count = "aten.bincount %x {minlength = 5 : i64, segments = array<i64: 1, 0>} : (tensor<?xi64>) -> tensor<?xi64>";
    check(
        &from_tensor("tensor<?xi64>", &["tensor<?xi64>"], &format!("%0 = {count}")),
        vec![
            ("3", of(&[3]), Ok(&[&[5]])),
            ("2^60", of(&[1 << 60]), Err("no tensor of elements of 8 bytes has the sizes [1152921504606846977] (in `")),
            ("2^61", of(&[1 << 61]), Err("no tensor of elements of 8 bytes has the sizes [2305843009213693953]")),
            ("2^40", of(&[1 << 40]), Err("out of memory: ")),
            ("2^63 - 1", of(&[MAX]), Err("index out of bounds")),
            ("-3", of(&[-3]), Err("index out of bounds")),
        ],
    );
    // The call ends where the error is, in control flow too.
    let branch = format!(
        "%d = prim.dim %x {{dim = 0 : i64}} : (tensor<?xi64>) -> index
         %c1 = arith.constant 1 : index
         %one = arith.cmpi eq, %d, %c1 : index
         %b = scf.if %one -> (tensor<?xi64>) {{
           %1 = {count}
           scf.yield %1 : tensor<?xi64>
         }} else {{
           %1 = aten.neg %x : (tensor<?xi64>) -> tensor<?xi64>
           scf.yield %1 : tensor<?xi64>
         }}
         %0 = aten.neg %b : (tensor<?xi64>) -> tensor<?xi64>"
    );
    let cases: Vec<Case> = vec![
        ("3", of(&[3]), Ok(&[&[5]])),
        ("2^60", of(&[1 << 60]), Err("no tensor of elements of 8 bytes has the sizes [1152921504606846977]")),
        ("two numbers", of(&[2, 3]), Ok(&[&[2]])),
    ];
    check(&from_tensor("tensor<?xi64>", &["tensor<?xi64>"], &branch), cases);
}

#[test]
fn repeats_that_no_tensor_can_have_are_refused() {
    let repeat = "%0 = aten.repeat_interleave.Tensor %x : (tensor<?xi64>) -> tensor<?xi64>";
    check(
        &from_tensor("tensor<?xi64>", &["tensor<?xi64>"], repeat),
        vec![
            ("some", vec![ints(&[2, 0, 1])], Ok(&[&[3]])),
            ("none", vec![ints(&[])], Ok(&[&[0]])),
            ("negative", vec![ints(&[3, -1, 2])], Err("repeats cannot be negative, one is -1")),
            ("2^62", vec![ints(&[1 << 61, 1 << 61])], Err("4611686018427387904] (in `k")),
            ("wraps", vec![ints(&[MAX, 1])], Err("repeats are more than can be counted together")),
            ("wraps twice", vec![ints(&[MAX, MAX, 5])], Err("repeats are more than can be counted together")),
        ],
    );
}

#[test]
fn sizes_that_are_numbers_of_the_call_are_checked() {
    let full = "%0 = aten.full %n {size = array<i64: $, 3>, fill_value = 1.5 : f64} : (index) -> tensor<?x3xf32>";
    check(
        &from_number("tensor<?x3xf32>", full),
        vec![
            ("2", number(2), Ok(&[&[2, 3]])),
            ("0", number(0), Ok(&[&[0, 3]])),
            ("-1", number(-1), Err("no tensor of elements of 4 bytes has the sizes [-3]")),
            ("2^60", number(1 << 60), Err("no tensor of elements of 4 bytes has the sizes [3458764513820540928]")),
            ("2^62 + 1", number((1 << 62) + 1), Err("the product of the sizes [4611686018427387905, 3] is too large")),
            ("2^63 - 1", number(MAX), Err("the product of the sizes [9223372036854775807, 3] is too large")),
            ("2^36", number(1 << 36), Err("out of memory: 824633720832 bytes are asked for")),
        ],
    );
    let tiled = "%1 = aten.full %n {size = array<i64: $>, fill_value = 1.5 : f64} : (index) -> tensor<?xf32>
                 %2 = aten.repeat %1 {repeats = array<i64: 4>} : (tensor<?xf32>) -> tensor<?xf32>
                 %0 = aten.sin %2 : (tensor<?xf32>) -> tensor<?xf32>";
    check(
        &from_number("tensor<?xf32>", tiled),
        vec![
            ("2", number(2), Ok(&[&[8]])),
            // Four times this number is 4.
            ("2^62 + 1", number((1 << 62) + 1), Err("the product of the sizes [4611686018427387905, 4] is too large")),
            ("2^61", number(1 << 61), Err("the product of the sizes [2305843009213693952, 4] is too large")),
            ("-1", number(-1), Err("no tensor of elements of 4 bytes has the sizes [-")),
        ],
    );
}

#[test]
fn views_have_the_elements_of_their_tensor() {
    let view = "%1 = aten.sin %y : (tensor<?xf32>) -> tensor<?xf32>
                %2 = aten.view %1, %n {size = array<i64: $, 3>} : (tensor<?xf32>, index) -> tensor<?x3xf32>
                %0 = aten.cumsum %2 {dim = 0 : i64} : (tensor<?x3xf32>) -> tensor<?x3xf32>";
    check(
        &from_number("tensor<?x3xf32>", view),
        vec![
            ("2", number(2), Ok(&[&[2, 3]])),
            ("0", number(0), Err("a tensor of 6 elements cannot have the sizes [0, 3]")),
            ("3", number(3), Err("a tensor of 6 elements cannot have the sizes [3, 3]")),
            ("-2", number(-2), Err("no tensor of elements of 1 bytes has the sizes [-2, 3]")),
            // Three times this number is 5 in 64 bits.
            ("wrapped", number(6_148_914_691_236_517_207), Err("no tensor of elements of 1 bytes has the sizes [")),
        ],
    );
}

#[test]
fn a_result_larger_than_memory_is_refused() {
    let outer = "%0 = aten.outer %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>";
    let text = from_tensor("tensor<?xf32>", &["tensor<?x?xf32>"], outer);
    let bytes = "out of memory: 4";
    check(&text, vec![("3", vec![ones(3)], Ok(&[&[3, 3]])), ("a million", vec![ones(1_000_000)], Err(bytes))]);
}

#[test]
fn nothing_is_done_for_tensors_without_elements() {
    let body = "%0 = aten.exp %x : (tensor<?x?xf32>) -> tensor<?x?xf32>
                %1 = aten.sum %x : (tensor<?x?xf32>) -> tensor<f32>
                %2 = aten.sum.dim_IntList %x {dim = array<i64: 0>} : (tensor<?x?xf32>) -> tensor<?xf32>
                %3, %i = aten.sort %x : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
                %4 = aten.cumsum %x {dim = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
                %5 = aten.transpose.int %x {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>";
    let sums = "%0 = aten.sum.dim_IntList %x {dim = array<i64: 0, 2>} : (tensor<?x3x?xf32>) -> tensor<3xf32>";
    let empty = |rows: i64, columns: i64| vec![Tensor::uninit(DType::F32, &[rows, 3, columns]).unwrap()];
    check(
        &from_tensor("tensor<?x3x?xf32>", &["tensor<3xf32>"], sums),
        vec![
            ("some", empty(2, 2), Ok(&[&[3]])),
            ("no columns", empty(10_000_000_000, 0), Ok(&[&[3]])),
            ("2^62 rows", empty(1 << 62, 0), Ok(&[&[3]])),
        ],
    );
    let square = "tensor<?x?xf32>";
    let results = [square, "tensor<f32>", "tensor<?xf32>", square, square, square];
    let empty = |rows: i64| vec![Tensor::uninit(DType::F32, &[rows, 0]).unwrap()];
    const BILLIONS: i64 = 10_000_000_000;
    const MOST: i64 = 1 << 62;
    check(
        &from_tensor(square, &results, body),
        vec![
            ("3 rows", empty(3), Ok(&[&[3, 0], &[], &[0], &[3, 0], &[3, 0], &[0, 3]])),
            ("10^10 rows", empty(BILLIONS), Ok(&[&[BILLIONS, 0], &[], &[0], &[BILLIONS, 0], &[BILLIONS, 0], &[0, BILLIONS]])),
            ("2^62 rows", empty(MOST), Ok(&[&[MOST, 0], &[], &[0], &[MOST, 0], &[MOST, 0], &[0, MOST]])),
        ],
    );
}

#[test]
fn ranges_from_data_go_the_way_of_their_step() {
    let up = "%0 = aten.arange.start_step %n {start = -5 : i64, end = $ : i64, step = 3 : i64} : (index) -> tensor<?xi64>";
    let wrong = "upper bound and lower bound are inconsistent with the sign of the step";
    check(
        &from_number("tensor<?xi64>", up),
        vec![
            ("3", number(3), Ok(&[&[3]])),
            ("-5", number(-5), Ok(&[&[0]])),
            ("-9", number(-9), Err(wrong)),
            ("2^60", number(1 << 60), Err("no tensor of elements of 8 bytes has the sizes [384307168202282327]")),
            ("2^63 - 1", number(MAX), Err("has more elements than can be counted")),
            ("-2^63", number(i64::MIN), Err(wrong)),
        ],
    );
    let down = "%0 = aten.arange.start_step %n {start = 4 : i64, end = $ : i64, step = -2 : i64} : (index) -> tensor<?xi64>";
    check(
        &from_number("tensor<?xi64>", down),
        vec![
            ("0", number(0), Ok(&[&[2]])),
            ("5", number(5), Err(wrong)),
            ("-2^63", number(i64::MIN), Err("has more elements than can be counted")),
        ],
    );
}

#[test]
fn padding_from_data_is_checked() {
    let pad = "%0 = aten.constant_pad_nd %y, %n {pad = array<i64: $, 0>, value = 1.0 : f64} : (tensor<?xf32>, index) -> tensor<?xf32>";
    check(
        &from_number("tensor<?xf32>", pad),
        vec![
            ("2", number(2), Ok(&[&[8]])),
            ("-6", number(-6), Ok(&[&[0]])),
            ("-7", number(-7), Err("prim.pad: 0 must be at most -1, or it reads what is not there")),
            ("2^61", number(1 << 61), Err("no tensor of elements of 4 bytes has the sizes [2305843009213693958]")),
            ("2^63 - 1", number(MAX), Err("prim.pad: 0 must be at most -")),
            ("-2^63", number(i64::MIN), Err("prim.pad: 0 must be at most -")),
        ],
    );
}

#[test]
fn slices_from_data_are_checked() {
    let slice = "%0 = aten.narrow %y, %n {dim = 0 : i64, start = $, length = 2 : i64} : (tensor<?xf32>, index) -> tensor<2xf32>";
    check(
        &from_number("tensor<2xf32>", slice),
        vec![
            ("1", number(1), Ok(&[&[2]])),
            ("4", number(4), Ok(&[&[2]])),
            ("5", number(5), Err("start 5 and length 2 exceed a dimension of size 6")),
            ("-7", number(-7), Err("start -7 and length 2 exceed a dimension of size 6")),
            ("2^63 - 1", number(MAX), Err("start 9223372036854775807 and length 2 exceed a dimension of size 6")),
            ("-2^63", number(i64::MIN), Err("start -9223372036854775808 and length 2 exceed a dimension of size 6")),
        ],
    );
}

#[test]
fn classes_from_data_are_checked() {
    let classes = "%0 = aten.one_hot %x : (tensor<?xi64>) -> tensor<?x?xi64>";
    check(
        &from_tensor("tensor<?xi64>", &["tensor<?x?xi64>"], classes),
        vec![
            ("some", vec![ints(&[0, 2])], Ok(&[&[2, 3]])),
            ("2^62", vec![ints(&[1 << 62])], Err("no tensor of elements of 8 bytes has the sizes [1, 4611686018427387905]")),
            ("2^40", vec![ints(&[1 << 40])], Err("out of memory: ")),
            ("2^63 - 1", vec![ints(&[MAX])], Err("one_hot: a class is negative, or not below num_classes")),
            ("-1", vec![ints(&[-1])], Err("one_hot: a class is negative, or not below num_classes")),
        ],
    );
}

#[test]
fn offsets_of_bags_are_checked() {
    let bag = "%w = aten.ones {size = array<i64: 5, 2>, dtype = f32} : tensor<5x2xf32>
               %i = aten.arange {end = 4 : i64, dtype = i64} : tensor<4xi64>
               %0, %1, %2, %3 = aten._embedding_bag %w, %i, %x {segments = array<i64: 1, 1, 1, 0>}
                 : (tensor<5x2xf32>, tensor<4xi64>, tensor<?xi64>) -> (tensor<?x2xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)";
    let wrong = "offsets begin at 0, never go back, and are at most the number of indices";
    check(
        &from_tensor("tensor<?xi64>", &["tensor<?x2xf32>"], bag),
        vec![
            ("in order", vec![ints(&[0, 2, 2, 4])], Ok(&[&[4, 2]])),
            ("late", vec![ints(&[1, 2])], Err(wrong)),
            ("back", vec![ints(&[0, 3, 1])], Err(wrong)),
            ("beyond", vec![ints(&[0, 5])], Err(wrong)),
            ("negative", vec![ints(&[0, -1])], Err(wrong)),
            ("extreme", vec![ints(&[i64::MIN, MAX])], Err(wrong)),
        ],
    );
}

#[test]
fn nothing_divides_by_a_size_of_0() {
    let body = "%0 = aten.nonzero %x : (tensor<?x?xf32>) -> tensor<?x2xi64>
                %1 = aten.roll %x {shifts = array<i64: 1>, dims = array<i64: 1>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
                %2 = aten.flip %x {dims = array<i64: 0, 1>} : (tensor<?x?xf32>) -> tensor<?x?xf32>";
    let of =
        |rows: i64, columns: i64| vec![Tensor::from_slice(DType::F32, &[rows, columns], &vec![1f32; (rows * columns) as usize]).unwrap()];
    check(
        &from_tensor("tensor<?x?xf32>", &["tensor<?x2xi64>", "tensor<?x?xf32>", "tensor<?x?xf32>"], body),
        vec![
            ("some", of(2, 3), Ok(&[&[6, 2], &[2, 3], &[2, 3]])),
            ("no rows", of(0, 3), Ok(&[&[0, 2], &[0, 3], &[0, 3]])),
            ("no columns", of(3, 0), Ok(&[&[0, 2], &[3, 0], &[3, 0]])),
        ],
    );
    let quotient = "%c7 = arith.constant 7 : index
                    %d = arith.floordivsi %c7, %n : index
                    %0 = aten.full %d {size = array<i64: $>, fill_value = 1.5 : f64} : (index) -> tensor<?xf32>";
    check(
        &from_number("tensor<?xf32>", quotient),
        vec![("2", number(2), Ok(&[&[3]])), ("0", number(0), Err("a whole number cannot be divided by this one, which may be 0"))],
    );
}

#[test]
fn a_quotient_of_nothing_is_nothing() {
    let quotient = "%zero = aten.zeros {size = array<i64>, dtype = i64} : tensor<i64>
                    %0 = aten.floor_divide %x, %zero : (tensor<?xi64>, tensor<i64>) -> tensor<?xi64>";
    check(
        &from_tensor("tensor<?xi64>", &["tensor<?xi64>"], quotient),
        vec![("none", vec![ints(&[])], Ok(&[&[0]])), ("one", vec![ints(&[3])], Err("ZeroDivisionError"))],
    );
}
