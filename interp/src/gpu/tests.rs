//! What a device leaves open is an error here, and what it orders is not.

use super::super::host::{Signature, run_host};
use super::super::{DType, Lent, Tensor};
use strata_core::ir::Module;
use strata_core::registry::Registry;
use strata_dialects::host::HOST;

/// Runs a kernel of 64 threads with 512 bytes of shared memory, which stores into the 64 numbers of the output.
fn run(body: &str) -> Result<Vec<f64>, String> {
    run_blocks(1, body)
}

/// The same with so many blocks.
fn run_blocks(blocks: usize, body: &str) -> Result<Vec<f64>, String> {
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
      attributes {{known_block_size = array<i32: 64, 1, 1>, host.grid = affine_map<() -> ({blocks})>, host.symbols = array<i64>}} {{
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
    let outputs = run_host(module.op(), &signature, Vec::new(), Lent::weights(&|_| None::<Tensor>)).map_err(|error| error.to_string())?;
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

/// Copies the numbers of all threads through global into shared memory, 16 bytes by each of the first 16 threads.
fn copied(wait: &str) -> String {
    format!(
        "llvm.store %x, %place : f32, !llvm.ptr
        gpu.barrier
        %16 = arith.constant 16 : i64
        %some = arith.cmpi slt, %t, %16 : i64
        scf.if %some {{
          %at = arith.muli %t, %16 : i64
          %from = llvm.getelementptr %out[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %to = llvm.getelementptr %shared[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %g = llvm.addrspacecast %from : !llvm.ptr to !llvm.ptr<1>
          %sh = llvm.addrspacecast %to : !llvm.ptr to !llvm.ptr<3>
          %half = arith.constant 8 : i32
          nvvm.cp.async.shared.global %sh, %g, 16, cache = cg, %half : !llvm.ptr<3>, !llvm.ptr<1>, i32
        }}
        nvvm.cp.async.commit.group
        {wait}
        %y = llvm.load %its : !llvm.ptr -> f32
        gpu.barrier
        llvm.store %y, %place : f32, !llvm.ptr"
    )
}

#[test]
fn copies_arrive_where_they_are_waited_for() {
    // Only half of each copy is there, the rest becomes zero.
    let wanted: Vec<f64> = (0..64).map(|t| (t + 1) % 64).map(|k| if k % 4 < 2 { f64::from(k) } else { 0.0 }).collect();
    assert_eq!(run(&copied("nvvm.cp.async.wait.group 0\n gpu.barrier")), Ok(wanted.clone()));
    refused(&copied("nvvm.cp.async.wait.group 0"), "race");
    // What nobody waited for is not there.
    assert_ne!(run(&copied("gpu.barrier")), Ok(wanted));
}

#[test]
fn a_warp_multiplies_matrices() {
    // All elements of the left matrix are 1.5, those of the right one 2; the sums begin with the lane's number.
    let product = "%h = arith.constant dense<1.5> : vector<2xf16>
        %k = arith.constant dense<2.0> : vector<2xf16>
        %d = nvvm.mma.sync A[%h, %h, %h, %h] B[%k, %k] C[%x, %x, %x, %x] {layoutA = #nvvm.mma_layout<row>,
            layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
            -> !llvm.struct<(f32, f32, f32, f32)>
        %y = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>";
    let found = run(&format!("{product}\nllvm.store %y, %place : f32, !llvm.ptr"));
    assert_eq!(found, Ok((0..64).map(|t| 48.0 + f64::from(t)).collect()));
    refused(&format!("scf.if %is_first {{\n{product}\n}}"), "all lanes of a warp");
}

#[test]
fn products_of_f32_take_their_first_bits() {
    // 1.5 and a bit that counts for nothing, times 2: eight products.
    let product = "%h = arith.constant 1069547521 : i32
        %k = arith.constant 1073741824 : i32
        %d = nvvm.mma.sync A[%h, %h, %h, %h] B[%k, %k] C[%x, %x, %x, %x] {layoutA = #nvvm.mma_layout<row>,
            layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>,
            shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
        %y = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>";
    let found = run(&format!("{product}\nllvm.store %y, %place : f32, !llvm.ptr"));
    assert_eq!(found, Ok((0..64).map(|t| 24.0 + f64::from(t)).collect()));
}

#[test]
fn a_warp_reads_matrices_by_rows_and_by_columns() {
    // Shared memory holds its own positions; four matrices begin 64 elements apart, their rows 8.
    for (layout, wanted) in [("row", [0, 2, 4, 8, 14]), ("col", [0, 16, 32, 1, 49])] {
        let body = format!(
            "%four = arith.constant 4 : i64
            %a = arith.muli %t, %four : i64
            scf.for %i = %first to %four step %one : i64 {{
              %p = arith.addi %a, %i : i64
              %w = arith.trunci %p : i64 to i16
              %to = llvm.getelementptr %shared[%p] : (!llvm.ptr, i64) -> !llvm.ptr, i16
              llvm.store %w, %to : i16, !llvm.ptr
            }}
            gpu.barrier
            %31 = arith.constant 31 : i64
            %8 = arith.constant 8 : i64
            %lane = arith.andi %t, %31 : i64
            %row = arith.muli %lane, %8 : i64
            %rp = llvm.getelementptr %shared[%row] : (!llvm.ptr, i64) -> !llvm.ptr, i16
            %rs = llvm.addrspacecast %rp : !llvm.ptr to !llvm.ptr<3>
            %d = nvvm.ldmatrix %rs {{num = 4 : i32, layout = #nvvm.mma_layout<{layout}>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>,
                eltType = #nvvm.ld_st_matrix_elt_type<b16>}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
            %e = llvm.extractvalue %d[0] : !llvm.struct<(i32, i32, i32, i32)>
            %low = arith.trunci %e : i32 to i16
            %y = arith.sitofp %low : i16 to f32
            llvm.store %y, %place : f32, !llvm.ptr"
        );
        let found = run(&body).unwrap();
        assert_eq!([0, 1, 2, 4, 7].map(|lane| found[lane] as i32), wanted, "{layout}");
    }
}

#[test]
fn wide_accesses_are_aligned() {
    let load = "%pair = llvm.load %mine {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>";
    refused(load, "thread 1 accesses memory that is not aligned to 8 bytes");
}

#[test]
fn memory_ends() {
    refused("%far = llvm.getelementptr %mine[512] : (!llvm.ptr) -> !llvm.ptr, f32\nllvm.store %x, %far : f32, !llvm.ptr", "shared memory");
}

/// Four blocks write a quarter of the numbers each; the last one turns them all around.
fn met(before: &str, after: &str) -> Result<Vec<f64>, String> {
    run_blocks(
        4,
        &format!(
            "%b = gpu.block_id x
            %block = arith.index_cast %b : index to i64
            %16 = arith.constant 16 : i64
            %begin = arith.muli %block, %16 : i64
            %p = arith.addi %begin, %t : i64
            %mine_to_write = arith.cmpi slt, %t, %16 : i64
            scf.if %mine_to_write {{
              %at = llvm.getelementptr %out[%p] : (!llvm.ptr, i64) -> !llvm.ptr, f32
              %v = arith.sitofp %p : i64 to f32
              llvm.store %v, %at : f32, !llvm.ptr
            }}
            gpu.barrier
            scf.if %is_first {{
              %3 = arith.constant 3 : i32
              %counter = llvm.getelementptr %status[1] : (!llvm.ptr) -> !llvm.ptr, i32
              {before}
              %found = llvm.atomicrmw uinc_wrap %counter, %3 monotonic : !llvm.ptr, i32
              {after}
              llvm.store %found, %shared : i32, !llvm.ptr
            }}
            gpu.barrier
            %count = llvm.load %shared : !llvm.ptr -> i32
            %all = arith.constant 3 : i32
            %last = arith.cmpi eq, %count, %all : i32
            scf.if %last {{
              %opposite = arith.subi %63, %t : i64
              %from = llvm.getelementptr %out[%opposite] : (!llvm.ptr, i64) -> !llvm.ptr, f32
              %y = llvm.load %from : !llvm.ptr -> f32
              gpu.barrier
              llvm.store %y, %place : f32, !llvm.ptr
            }}"
        ),
    )
}

#[test]
fn blocks_meet_at_a_counter_between_fences() {
    let fence = "llvm.fence syncscope(\"device\") acq_rel";
    assert_eq!(met(fence, fence), Ok((0..64).map(|t| f64::from(63 - t)).collect()));
    for found in [met("", fence), met(fence, ""), met("", "")] {
        assert!(found.as_ref().is_err_and(|text| text.contains("race")), "{found:?}");
    }
}
