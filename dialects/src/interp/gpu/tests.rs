//! What a device leaves open is an error here, and what it orders is not.

use super::super::host::{Signature, run_host};
use super::super::{DType, Tensor};
use crate::host::HOST;
use strata_core::ir::Module;
use strata_core::registry::Registry;

/// Runs a kernel of 64 threads with 512 bytes of shared memory, which stores into the 64 numbers of the output.
fn run(body: &str) -> Result<Vec<f64>, String> {
    let text = format!(
        r#"
func.func @main() attributes {{host.entry}} {{
  %n = arith.constant 64 : index
  %0 = host.output %n {{index = 0 : i64}} : (index) -> memref<?xf32>
  host.launch %0 {{callee = @k, outputs = 1 : i64}} : (memref<?xf32>) -> ()
  host.return
}}
gpu.module @device {{
  llvm.mlir.global internal @shared() {{addr_space = 3 : i32}} : !llvm.array<512 x i8>
  gpu.func @k(%out: !llvm.ptr, %status: !llvm.ptr) kernel
      attributes {{known_block_size = array<i32: 64, 1, 1>, host.grid = affine_map<() -> (1)>, host.symbols = array<i64>}} {{
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i64
    %n = arith.index_cast %thread : index to i32
    %x = arith.sitofp %n : i32 to f32
    %one = arith.constant 1 : i64
    %63 = arith.constant 63 : i64
    %next = arith.addi %t, %one : i64
    %other = arith.andi %next, %63 : i64
    %first = arith.constant 0 : i64
    %is_first = arith.cmpi eq, %t, %first : i64
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %shared = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr
    %mine = llvm.getelementptr %shared[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %its = llvm.getelementptr %shared[%other] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %place = llvm.getelementptr %out[%t] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    {body}
    gpu.return
  }}
}}"#
    );
    let context = Registry::new().with_upstream().with_dialects(&[&HOST]).context();
    let module = Module::parse(&context, &text, "test").map_err(|error| error.to_string())?;
    let signature = Signature { results: vec![DType::F32], mutations: vec![None], ..Signature::default() };
    let outputs = run_host(module.op(), &signature, Vec::new(), &|_| None::<Tensor>).map_err(|error| error.to_string())?;
    outputs.outputs[0].tensor().map(Tensor::floats).map_err(|error| error.to_string())
}

fn refused(body: &str, reason: &str) {
    let found = run(body);
    assert!(found.as_ref().is_err_and(|text| text.contains(reason)), "{found:?}");
}

#[test]
fn threads_hand_each_other_numbers_behind_a_barrier() {
    let found = run("llvm.store %x, %mine : f32, !llvm.ptr
        gpu.barrier
        %y = llvm.load %its : !llvm.ptr -> f32
        llvm.store %y, %place : f32, !llvm.ptr");
    let wanted: Vec<f64> = (0..64).map(|t| f64::from((t + 1) % 64)).collect();
    assert_eq!(found, Ok(wanted));
}

#[test]
fn reading_without_a_barrier_is_a_race() {
    refused(
        "llvm.store %x, %mine : f32, !llvm.ptr\n%y = llvm.load %its : !llvm.ptr -> f32\nllvm.store %y, %place : f32, !llvm.ptr",
        "race",
    );
}

#[test]
fn overwriting_what_another_thread_reads_is_a_race() {
    refused("%y = llvm.load %its : !llvm.ptr -> f32\nllvm.store %x, %mine : f32, !llvm.ptr", "race");
}

#[test]
fn two_threads_storing_in_one_place_are_a_race() {
    refused("llvm.store %x, %out : f32, !llvm.ptr", "race");
}

#[test]
fn a_barrier_is_for_all() {
    refused("scf.if %is_first {\n gpu.barrier\n }", "only 1 of 64 threads");
}

#[test]
fn lanes_read_each_other() {
    let exchange = "%d = arith.constant 1 : i32\n%w = arith.constant 32 : i32\n%y, %valid = gpu.shuffle xor %x, %d, %w : f32";
    let found = run(&format!("{exchange}\nllvm.store %y, %place : f32, !llvm.ptr"));
    assert_eq!(found, Ok((0..64).map(|t| f64::from(t ^ 1)).collect()));
    refused(&format!("scf.if %is_first {{\n{exchange}\n}}"), "thread 0 reads thread 1");
}

#[test]
fn memory_ends() {
    refused("%far = llvm.getelementptr %mine[512] : (!llvm.ptr) -> !llvm.ptr, f32\nllvm.store %x, %far : f32, !llvm.ptr", "shared memory");
}
