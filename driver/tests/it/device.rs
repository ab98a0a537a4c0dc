//! A program on a device: the native host program over the emulator, and over a driver that keeps a diary in the place of a GPU.

use std::path::{Path, PathBuf};
use std::process::Command;

use strata_driver::{Mode, Numerics, Options, compile, emulated, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::op_library::{OpLibraryFile, describe};
use strata_runtime::{DType, Session, Tensor};

fn program(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name)
}

fn options(mode: Mode) -> Options {
    Options { target: "cuda:sm_80".parse().unwrap(), mode, ..Options::default() }
}

fn rows(rows: i64, from: f32) -> Tensor {
    let values: Vec<f32> = (0..33 * rows).map(|k| from + (k * 37 % 101) as f32 * 0.03).collect();
    Tensor::from_slice(DType::F32, &[rows, 33], &values).unwrap()
}

fn positions(last: i64) -> Tensor {
    Tensor::from_slice(DType::I64, &[4], &[0, 2, 1, last]).unwrap()
}

fn agree(found: &[Tensor], wanted: &[Tensor]) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        let difference = compare(found, wanted, Tolerance { rtol: 1e-5, atol: 1e-5 }).unwrap();
        assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
    }
}

#[test]
fn host_and_device_compute_one_program_together() {
    let (emulated, native) = (emulated(standard(), &program("device.mlir"), &options(Mode::Default)).unwrap(), native("device.mlir"));
    for size in [3, 7, 3] {
        let inputs = [rows(size, -1.0), positions(0)];
        agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
    }
    let error = emulated.run(&[rows(3, 0.0), positions(3)]).unwrap_err().to_string();
    assert!(error.contains("index out of bounds (in kernel `k") && error.contains("device.mlir"), "{error}");
    // What failed is over.
    let inputs = [rows(3, 0.5), positions(1)];
    agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
}

fn numbers(shape: &[i64]) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product::<i64>()).map(|k| (k * 37 % 101) as f32 * 0.03 - 1.4).collect();
    Tensor::from_slice(DType::F32, shape, &values).unwrap()
}

#[test]
fn rows_are_taken_whole_where_they_are() {
    let text = strata_driver::lower(standard(), &program("wide.mlir"), "gpu", &options(Mode::Default)).unwrap();
    assert!(text.contains("vector<4xf32>") && !text.contains("loop.kernel"), "{text}");
    let (emulated, native) = (emulated(standard(), &program("wide.mlir"), &options(Mode::Default)).unwrap(), native("wide.mlir"));
    for (rows, columns) in [(3, 8), (5, 7), (1, 1), (40, 36), (33, 65), (2, 1030)] {
        let inputs = [numbers(&[rows, columns]), numbers(&[columns])];
        agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
    }
}

#[test]
fn reductions_of_few_rows_are_cut() {
    let kernels = |name: &str| {
        let text = strata_driver::lower(standard(), &program(name), "gpu", &options(Mode::Default)).unwrap();
        text.matches("gpu.func").count()
    };
    // The largest of the long row, the sum of its exponentials (in pieces) and the quotients; the sum of columns in pieces, which a second
    // kernel combines; the sum of all.
    assert_eq!([kernels("few_rows.mlir"), kernels("large_softmax.mlir"), kernels("row_softmax.mlir")], [3 + 2 + 1, 1, 1]);
    let (emulated, native) = (emulated(standard(), &program("few_rows.mlir"), &options(Mode::Default)).unwrap(), native("few_rows.mlir"));
    for size in [0, 1, 5000, 16384, 70001] {
        let inputs = [numbers(&[1, 70000]), numbers(&[6000, 50]), numbers(&[size])];
        let (found, wanted) = (emulated.run(&inputs).unwrap(), native.run(&inputs).unwrap());
        for (found, wanted) in found.iter().zip(&wanted) {
            let difference = compare(found, wanted, Tolerance { rtol: 1e-4, atol: 1e-3 }).unwrap();
            assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
        }
    }
}

#[test]
fn a_chain_of_any_size_with_its_sum_is_one_launch() {
    let text = strata_driver::lower(standard(), &program("dynamic_chain.mlir"), "gpu", &options(Mode::Default)).unwrap();
    assert!(text.matches("gpu.func").count() == 1 && text.matches("host.launch").count() == 1, "{text}");
    let native = native("dynamic_chain.mlir");
    for skip in [Vec::new(), vec!["schedule-gpu".to_owned()]] {
        let emulated = emulated(standard(), &program("dynamic_chain.mlir"), &Options { skip, ..options(Mode::Default) }).unwrap();
        // (The last one counts as the first one does: blocks begin anew.)
        for rows in [0, 2, 700, 2000, 700] {
            let inputs = [numbers(&[rows, 33])];
            let (found, wanted) = (emulated.run(&inputs).unwrap(), native.run(&inputs).unwrap());
            let difference = compare(&found[0], &wanted[0], Tolerance { rtol: 1e-5, atol: 1e-3 }).unwrap();
            assert_eq!(difference.wrong, 0, "{:?}", difference.describe(&wanted[0]));
            assert_eq!(emulated.run(&inputs).unwrap()[0].bytes(), found[0].bytes());
        }
    }
}

#[test]
fn threads_share_what_is_written_at_computed_places() {
    let lowered = |level: &str, numerics: Numerics| {
        strata_driver::lower(standard(), &program("scatter.mlir"), level, &Options { numerics, ..options(Mode::Default) }).unwrap()
    };
    let text = lowered("gpu", Numerics::Ulp);
    assert!(text.matches("llvm.atomicrmw fadd").count() == 3 && text.contains("llvm.atomicrmw max"), "{text}");
    // Sums of floats depend on their order.
    let text = lowered("gpu", Numerics::Strict);
    assert!(!text.contains("llvm.atomicrmw fadd") && text.contains("llvm.atomicrmw max"), "{text}");
    let places: Vec<i64> = (0..70).map(|k| k * 5 % 9).collect();
    let inputs = [numbers(&[9, 40]), Tensor::from_slice(DType::I64, &[70], &places).unwrap(), numbers(&[70, 40])];
    let wanted = native("scatter.mlir").run(&inputs).unwrap();
    for skip in [Vec::new(), vec!["schedule-gpu".to_owned()]] {
        let emulated = emulated(standard(), &program("scatter.mlir"), &Options { skip, ..options(Mode::Default) }).unwrap();
        agree(&emulated.run(&inputs).unwrap(), &wanted);
    }
}

#[test]
fn threads_share_running_sums() {
    let text = strata_driver::lower(standard(), &program("scans.mlir"), "loop-scheduled", &options(Mode::Default)).unwrap();
    assert_eq!(text.matches("cooperate = ").count(), 3, "{text}");
    let (emulated, native) = (emulated(standard(), &program("scans.mlir"), &options(Mode::Default)).unwrap(), native("scans.mlir"));
    for size in [1, 31, 1000, 1024, 2051] {
        let whole: Vec<i64> = (0..size).map(|k| k * 7919 % 1013 - 400).collect();
        let inputs = [numbers(&[3, size]), halves(&[2, 1100]), Tensor::from_slice(DType::I64, &[size], &whole).unwrap()];
        for (found, wanted) in emulated.run(&inputs).unwrap().iter().zip(&native.run(&inputs).unwrap()) {
            let difference = compare(found, wanted, Tolerance { rtol: 1e-3, atol: 1e-3 }).unwrap();
            assert_eq!(difference.wrong, 0, "{size}: {:?}", difference.describe(wanted));
        }
    }
}

fn whole_numbers(size: i64, below: i64) -> Tensor {
    let numbers: Vec<i64> = (0..size).map(|k| k * 7919 % below - 400).collect();
    Tensor::from_slice(DType::I64, &[size], &numbers).unwrap()
}

#[test]
fn blocks_share_long_rows_of_running_sums() {
    let text = strata_driver::lower(standard(), &program("long_scans.mlir"), "loop-scheduled", &options(Mode::Default)).unwrap();
    // Four of pieces, and four of what these come to.
    assert_eq!(text.matches("scan = ").count(), 8, "{text}");
    let inputs = [numbers(&[2, 66000]), whole_numbers(65536, 1013)];
    let found = emulated(standard(), &program("long_scans.mlir"), &options(Mode::Default)).unwrap().run(&inputs).unwrap();
    for (found, wanted) in found.iter().zip(&native("long_scans.mlir").run(&inputs).unwrap()) {
        let difference = compare(found, wanted, Tolerance { rtol: 1e-5, atol: 1e-2 }).unwrap();
        assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
    }
}

#[test]
fn the_device_sorts() {
    let text = strata_driver::lower(standard(), &program("sorts.mlir"), "gpu", &options(Mode::Default)).unwrap();
    assert!(!text.contains("host.extern") && !text.contains("loop.kernel"), "{text}");
    let (emulated, native) = (emulated(standard(), &program("sorts.mlir"), &options(Mode::Default)).unwrap(), native("sorts.mlir"));
    let lines = || {
        let mut lines = numbers(&[20, 100]);
        for (at, value) in [(3, f32::NAN), (20, f32::NAN), (120, -0.0f32), (121, 0.0), (1999, f32::NEG_INFINITY)] {
            lines.bytes_mut()[4 * at..4 * at + 4].copy_from_slice(&value.to_le_bytes());
        }
        lines
    };
    for size in [0, 1, 2, 37, 1000] {
        // (Numbers come several times.)
        let inputs = [lines(), halves(&[600, 3]), whole_numbers(size, 101)];
        for (found, wanted) in emulated.run(&inputs).unwrap().iter().zip(&native.run(&inputs).unwrap()) {
            assert_eq!(found.bytes(), wanted.bytes(), "{size}");
        }
    }
}

fn halves(shape: &[i64]) -> Tensor {
    let bytes: Vec<u8> = (0..shape.iter().product::<i64>()).flat_map(|k| half(DType::F16, (k * 29 % 67) as f32 / 32.0 - 1.0)).collect();
    Tensor::from_bytes(DType::F16, shape, &bytes).unwrap()
}

#[test]
fn transposes_go_through_shared_memory() {
    let text = strata_driver::lower(standard(), &program("turned.mlir"), "loop-scheduled", &options(Mode::Default)).unwrap();
    assert_eq!(text.matches("transpose = ").count(), 2, "{text}");
    let (emulated, native) = (emulated(standard(), &program("turned.mlir"), &options(Mode::Default)).unwrap(), native("turned.mlir"));
    for (rows, columns) in [(64, 32), (40, 36), (33, 65), (1, 100), (7, 3)] {
        let inputs = [numbers(&[rows, columns]), halves(&[2, 20, 5, 40]), halves(&[2, 5, 40, 20])];
        agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
    }
}

#[test]
fn tiles_end_where_operands_do() {
    let programs = [
        ("square_product.mlir", vec![numbers(&[70, 70])]),
        ("scaled_product.mlir", vec![numbers(&[70, 50]), numbers(&[70]), numbers(&[50, 33])]),
    ];
    for (name, inputs) in programs {
        let text = strata_driver::lower(standard(), &program(name), "loop-scheduled", &options(Mode::Default)).unwrap();
        assert!(text.contains("tile = array<i64: 64, "), "{name}");
        let (emulated, native) = (emulated(standard(), &program(name), &options(Mode::Default)).unwrap(), native(name));
        agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
    }
}

#[test]
fn attention_is_one_kernel() {
    let text = strata_driver::lower(standard(), &program("attention.mlir"), "gpu", &options(Mode::Default)).unwrap();
    assert!(text.matches("gpu.func").count() == 1 && !text.contains("loop.kernel"), "{text}");
    // Without a schedule each thread has a row.
    let alone = Options { skip: vec!["schedule-gpu".to_owned()], ..options(Mode::Default) };
    let alone = emulated(standard(), &program("attention.mlir"), &alone).unwrap();
    let (emulated, native) = (emulated(standard(), &program("attention.mlir"), &options(Mode::Default)).unwrap(), native("attention.mlir"));
    for (queries, keys) in [(32, 64), (37, 65), (65, 130), (40, 1)] {
        // One row of the mask is -inf throughout.
        let mut mask: Vec<f32> = (0..queries * keys).map(|k| if k % 7 == 0 { f32::NEG_INFINITY } else { (k % 5) as f32 * 0.1 }).collect();
        mask[keys as usize..2 * keys as usize].fill(f32::NEG_INFINITY);
        let mask = Tensor::from_slice(DType::F32, &[queries, keys], &mask).unwrap();
        let inputs = [numbers(&[2, queries, 24]), numbers(&[2, keys, 24]), numbers(&[2, keys, 40]), mask];
        let wanted = native.run(&inputs).unwrap();
        agree(&emulated.run(&inputs).unwrap(), &wanted);
        agree(&alone.run(&inputs).unwrap(), &wanted);
    }
}

#[test]
fn causal_attention_ends_where_rows_see_nothing() {
    let text = strata_driver::lower(standard(), &program("attention_causal.mlir"), "loop-scheduled", &options(Mode::Default)).unwrap();
    assert!(text.contains("reach = 0 : i64") && text.contains("reach = -3 : i64"), "{text}");
    let (emulated, native) =
        (emulated(standard(), &program("attention_causal.mlir"), &options(Mode::Default)).unwrap(), native("attention_causal.mlir"));
    let inputs = [numbers(&[2, 150, 24]), numbers(&[2, 150, 24]), numbers(&[2, 150, 40])];
    agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
}

#[test]
fn a_layer_of_halves_is_on_matrix_units() {
    let text = strata_driver::lower(standard(), &program("layer_f16.mlir"), "loop-scheduled", &options(Mode::Default)).unwrap();
    // Three projections, and the attention.
    assert_eq!([text.matches("warps = ").count(), text.matches("matrix_units = true").count()], [3, 1], "{text}");
    let inputs = [halves(&[2, 40, 64]), halves(&[64, 64]), halves(&[64, 64]), halves(&[64, 64]), halves(&[64])];
    let found = emulated(standard(), &program("layer_f16.mlir"), &options(Mode::Default)).unwrap().run(&inputs).unwrap();
    let wanted = native("layer_f16.mlir").run(&inputs).unwrap();
    let difference = compare(&found[0], &wanted[0], Tolerance { rtol: 1e-2, atol: 1e-2 }).unwrap();
    assert_eq!(difference.wrong, 0, "{:?}", difference.describe(&wanted[0]));
}

#[test]
fn attention_of_halves_is_on_matrix_units() {
    let scheduled = |numerics: Numerics| {
        let options = Options { numerics, ..options(Mode::Default) };
        strata_driver::lower(standard(), &program("attention_f16.mlir"), "loop-scheduled", &options)
            .unwrap()
            .matches("matrix_units = true")
            .count()
    };
    assert_eq!([Numerics::Ulp, Numerics::Strict].map(scheduled), [2, 0]);
    let (emulated, native) =
        (emulated(standard(), &program("attention_f16.mlir"), &options(Mode::Default)).unwrap(), native("attention_f16.mlir"));
    let numbers = |dtype: DType, shape: &[i64], number: &dyn Fn(i64) -> f32| {
        let bytes: Vec<u8> = (0..shape.iter().product::<i64>()).flat_map(|k| half(dtype, number(k))).collect();
        Tensor::from_bytes(dtype, shape, &bytes).unwrap()
    };
    for (queries, keys) in [(64, 64), (37, 65), (70, 130), (5, 1)] {
        // One row of the mask is -inf throughout.
        let left_out = |k: i64| k % 7 == 0 || k / keys == 1;
        let mask = |k: i64| if left_out(k) { f32::NEG_INFINITY } else { (k % 5) as f32 * 0.125 };
        let [ours, others] = [29, 31].map(|step| move |k: i64| (k * step % 67) as f32 / 32.0 - 1.0);
        let values = |k: i64| if k == 3 { f32::INFINITY } else { ours(k) };
        let inputs = [
            numbers(DType::F16, &[2, queries, 24], &ours),
            numbers(DType::F16, &[2, keys, 24], &others),
            numbers(DType::F16, &[2, keys, 40], &values),
            numbers(DType::F16, &[queries, keys], &mask),
            numbers(DType::BF16, &[3, 70, 128], &ours),
            numbers(DType::BF16, &[3, 70, 128], &|k| if k == 300 { f32::NEG_INFINITY } else { others(k) }),
        ];
        let (found, wanted) = (emulated.run(&inputs).unwrap(), native.run(&inputs).unwrap());
        // Half a unit in the last place, where f32 sums in another order are rounded to another side.
        for ((found, wanted), error) in found.iter().zip(&wanted).zip([1e-3, 8e-3]) {
            let difference = compare(found, wanted, Tolerance { rtol: error, atol: error / 8.0 }).unwrap();
            assert_eq!(difference.wrong, 0, "{queries} {keys}: {:?}", difference.describe(wanted));
        }
    }
}

#[test]
fn matrix_units_multiply_what_tiles_do_not_fill() {
    let tensor = |dtype: DType, shape: &[i64]| {
        let numbers: Vec<u8> = (0..shape.iter().product::<i64>()).flat_map(|k| half(dtype, (k * 29 % 67) as f32 / 32.0 - 1.0)).collect();
        Tensor::from_bytes(dtype, shape, &numbers).unwrap()
    };
    let (f16, bf16) = (DType::F16, DType::BF16);
    let programs = [
        ("product_f16.mlir", vec![tensor(f16, &[70, 100]), tensor(f16, &[100, 90]), tensor(f16, &[90])], 2e-3),
        ("product_wide.mlir", vec![tensor(f16, &[72, 104]), tensor(f16, &[104, 88]), tensor(f16, &[136, 88])], 4e-3),
        ("conv_bf16.mlir", vec![tensor(bf16, &[2, 20, 18, 18]), tensor(bf16, &[33, 20, 3, 3])], 1.6e-2),
    ];
    for (name, inputs, tolerance) in programs {
        let text = strata_driver::lower(standard(), &program(name), "gpu", &options(Mode::Default)).unwrap();
        assert!(text.contains("nvvm.mma.sync"), "{name}");
        let (found, wanted) = (
            emulated(standard(), &program(name), &options(Mode::Default)).unwrap().run(&inputs).unwrap(),
            native(name).run(&inputs).unwrap(),
        );
        assert_eq!(text.contains("nvvm.cp.async.shared"), name == "product_wide.mlir", "{name}");
        for (found, wanted) in found.iter().zip(&wanted) {
            let difference = compare(found, wanted, Tolerance { rtol: tolerance, atol: tolerance }).unwrap();
            assert_eq!(difference.wrong, 0, "{name}: {:?}", difference.describe(wanted));
        }
    }
}

#[test]
fn matrix_units_multiply_f32_where_it_may_lose_bits() {
    let fast = Options { numerics: Numerics::Fast, ..options(Mode::Default) };
    let text = |options: &Options| strata_driver::lower(standard(), &program("product_f32.mlir"), "gpu", options).unwrap();
    assert!(text(&fast).contains("mma_type<tf32>") && !text(&options(Mode::Default)).contains("mma.sync"));
    let inputs = [numbers(&[72, 104]), numbers(&[104, 88]), numbers(&[136, 88])];
    let wanted = native("product_f32.mlir").run(&inputs).unwrap();
    let found = emulated(standard(), &program("product_f32.mlir"), &fast).unwrap().run(&inputs).unwrap();
    let close = |rtol, atol| {
        let differences = found.iter().zip(&wanted).map(|(found, wanted)| compare(found, wanted, Tolerance { rtol, atol }).unwrap());
        differences.map(|difference| difference.wrong).collect::<Vec<_>>()
    };
    // Sums of a hundred products of numbers up to 1.6, then of as many of these: eleven bits of each factor are right, not more.
    assert_eq!(close(2e-3, 0.5), [0, 0]);
    assert!(close(1e-6, 1e-6)[0] > 0);
    // A NaN stays one, also that of all ones, which devices make.
    let mut bytes = inputs[0].bytes().to_vec();
    bytes[..4].copy_from_slice(&0x7FFF_FFFF_u32.to_le_bytes());
    let broken = Tensor::from_bytes(DType::F32, &[72, 104], &bytes).unwrap();
    let found =
        emulated(standard(), &program("product_f32.mlir"), &fast).unwrap().run(&[broken, inputs[1].clone(), inputs[2].clone()]).unwrap();
    let mut row = found[0].bytes().chunks(4).take(88).map(|word| f32::from_le_bytes(word.try_into().unwrap()));
    assert!(row.all(f32::is_nan));
}

/// A number of 16 bits, exactly.
fn half(dtype: DType, value: f32) -> [u8; 2] {
    let bits = value.to_bits();
    if dtype == DType::BF16 || value == 0.0 {
        return ((bits >> 16) as u16).to_le_bytes();
    }
    if value.is_infinite() {
        return ((bits >> 16 & 0x8000 | 0x7C00) as u16).to_le_bytes();
    }
    let exponent = (bits >> 23 & 0xFF) as i32 - 127 + 15;
    (((bits >> 16 & 0x8000) | ((exponent as u32) << 10) | (bits >> 13 & 0x3FF)) as u16).to_le_bytes()
}

#[test]
fn recorded_calls_take_new_inputs() {
    let (emulated, native) =
        (emulated(standard(), &program("row_softmax.mlir"), &options(Mode::ReduceOverhead)).unwrap(), native("row_softmax.mlir"));
    // The second call of each size is recorded, later ones are replayed; more sizes than are kept push the first out.
    for call in 0..4 {
        for size in 1..=10 {
            let inputs = [rows(size, call as f32)];
            agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
        }
    }
}

#[test]
fn tensors_of_the_device_are_used_in_place() {
    for mode in [Mode::Default, Mode::ReduceOverhead] {
        let (emulated, native) = (emulated(standard(), &program("row_softmax.mlir"), &options(mode)).unwrap(), native("row_softmax.mlir"));
        let given = emulated.to_device(&rows(6, 9.0)).unwrap().unwrap();
        for call in 0..4 {
            let input = rows(6, call as f32);
            let there = emulated.to_device(&input).unwrap().unwrap();
            let mut state = emulated.caller();
            emulated.run_placed(&mut state, &[&there], &[&given]).unwrap();
            agree(&[emulated.to_host(&given).unwrap().unwrap()], &native.run(&[input]).unwrap());
        }
    }
}

#[test]
fn what_cannot_be_recorded_runs_as_before() {
    let (emulated, native) =
        (emulated(standard(), &program("device.mlir"), &options(Mode::ReduceOverhead)).unwrap(), native("device.mlir"));
    for call in 0..4 {
        let inputs = [rows(5, call as f32), positions(call)];
        agree(&emulated.run(&inputs).unwrap(), &native.run(&inputs).unwrap());
    }
}

fn native(name: &str) -> Session {
    Session::load(&compile(standard(), &program(name), &Options::default(), None).unwrap(), None).unwrap()
}

/// The file of the diary, in the process that has a driver which keeps one.
const DIARY: &str = "STRATA_TEST_DIARY";

/// Runs the next test where a library stands for NVIDIA's driver: memory of the host, kernels that do nothing, a diary of the calls.
#[test]
fn the_driver_is_asked_for_what_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/driver.c");
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-O1"]).arg(&source).arg("-o").arg(folder.path().join("libcuda.so")).status();
    assert!(cc.unwrap().success());
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "device::with_a_diary"]).env("LD_LIBRARY_PATH", folder.path()).env(DIARY, folder.path().join("diary"));
    let done = again.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn with_a_diary() {
    let Some(diary) = std::env::var_os(DIARY) else { return };
    // What was noted since the last time.
    let mut read = 0;
    let mut noted = || {
        let lines: Vec<String> = std::fs::read_to_string(&diary).unwrap_or_default().lines().map(str::to_owned).collect();
        let new = lines[read..].to_vec();
        read = lines.len();
        new
    };
    let artefact = compile(standard(), &program("chain.mlir"), &options(Mode::ReduceOverhead), None).unwrap();
    let session = Session::load(&artefact, None).unwrap();
    assert!(noted().iter().any(|line| line == "module sm_80"));
    let floats = |shape: &[i64]| Tensor::from_slice(DType::F32, shape, &vec![1f32; shape.iter().product::<i64>() as usize]).unwrap();
    let inputs = [floats(&[2, 16]), floats(&[16])];
    let mut call = || {
        session.run(&inputs).unwrap();
        noted()
    };
    // Plainly, recorded, replayed: then a call is one graph between its copies, and memory is asked for no more.
    let first = call();
    assert_eq!(first.iter().filter(|line| line.starts_with("launch")).count(), 1, "{first:?}");
    let second = call();
    assert!(second.iter().any(|line| line == "record") && second.iter().any(|line| line == "replay"), "{second:?}");
    for _ in 0..2 {
        assert_eq!(call(), ["to device 128", "to device 64", "replay", "to host 8", "to host 128"]);
    }
    drop(session);
    noted();
    // A kernel that the user brings: blocks of 32 by 8 threads over more rows and columns than one has.
    let pipeline = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/pipeline/Inputs");
    let ptx = OpLibraryFile::kernels(pipeline.join("kernels.ptx"));
    let given = Options { op_libraries: vec![describe(&ptx).unwrap()], ..options(Mode::Default) };
    let artefact = compile(standard(), &program("custom_kernel.mlir"), &given, None).unwrap().with_op_libraries(&[ptx]).unwrap();
    let session = Session::load(&artefact, None).unwrap();
    let found = session.run(&[numbers(&[19, 70])]).unwrap();
    let lines = noted();
    let launches: Vec<_> = lines.iter().filter(|line| line.starts_with("launch")).collect();
    // (The first one fills the memory of the result.)
    assert_eq!(launches, ["launch k0 2", "launch neighbours 3"], "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("module")).count(), 2, "{lines:?}");
    let (x, out) = (numbers(&[19, 70]), &found[0]);
    let [x, out] =
        [x.bytes(), out.bytes()].map(|bytes| bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<_>>());
    for (k, sum) in out.iter().enumerate() {
        let from = k / 69 * 70 + k % 69;
        assert_eq!(*sum, 0.5 * (x[from] + x[from + 1]), "{k}");
    }
    assert_eq!(out.len(), 19 * 69);
}
