//! The C header that goes with a program: the runtime's functions, and what this program takes and gives.

use std::fmt::Write;

use crate::dim_order::DimOrder;
use crate::manifest::{Manifest, OutputKind};

const DECLARATIONS: &str = r#"#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef DLPACK_DLPACK_H_
typedef struct { int32_t device_type, device_id; } DLDevice;           // 1, 0: the CPU
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;     // code 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 f8e4m3fn, 12 f8e5m2
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;  // strides count elements; NULL: dense row-major
  uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;
#endif

// libstrata.so. Functions that fail return NULL or a number that is not 0, and strata_error says why. Checked are null and unaligned
// pointers, counts, ranks, element types, devices, and sizes and strides that lead beyond all memory. What cannot be checked is whether
// a pointer leads to what it should: an open program, a terminated path, ndim sizes, memory for all elements.
typedef struct StrataProgram StrataProgram;
StrataProgram *strata_open(const void *artefact, uint64_t bytes, const char *weights);
StrataProgram *strata_open_file(const char *file, const char *weights);
// The same for a program that calls kernels of libraries of yours (strata_ops.h): they are opened, and so run code.
StrataProgram *strata_open_with_libraries(const void *artefact, uint64_t bytes, const char *weights, int32_t n_libraries, const char *const *libraries);
StrataProgram *strata_open_file_with_libraries(const char *file, const char *weights, int32_t n_libraries, const char *const *libraries);
int32_t strata_run(const StrataProgram *, int32_t n_in, const DLTensor *const *in, int32_t n_out, const DLTensor *const *out);
int32_t strata_call(const StrataProgram *, int32_t n_in, const DLTensor *const *in, int32_t n_out, DLManagedTensor **out);
const char *strata_error(void);
// Bytes that each call may take for scratch, results and copies of inputs; STRATA_MEMORY_LIMIT bounds all of the process.
int32_t strata_set_memory_limit(const StrataProgram *, uint64_t bytes);
void strata_close(StrataProgram *);

// This library: the program for strata_open, and its bare entry. strata_open prepares weights; who calls the bare entry
// calls strata_prepare first, with the weights, and passes its outputs as further weights.
extern const char strata_artefact[];
extern const uint64_t strata_artefact_bytes;
typedef struct StrataCall {
  const DLTensor *const *inputs;
  DLTensor *const *outputs;
  void *const *weights;
  void *runtime;
  int64_t detail[4];
} StrataCall;
int32_t strata_entry(StrataCall *call);
@PREPARE@
#ifdef __cplusplus
}
#endif
"#;

/// The header of a program.
pub fn header(manifest: &Manifest) -> String {
    let mut text = format!("// `{}`, compiled by Strata.\n", one_line(&manifest.name));
    let sizes = |shape: &[Option<i64>]| {
        let sizes: Vec<String> = shape.iter().map(|size| size.map_or_else(|| "?".into(), |size| size.to_string())).collect();
        sizes.join(" x ")
    };
    let lies = |order: &DimOrder| if order.is_row_major() { String::new() } else { format!(", dim order {order}") };
    for (k, input) in manifest.inputs.iter().enumerate() {
        let (shape, order) = (sizes(&input.shape), lies(&input.dim_order));
        let _ = writeln!(text, "// input {k}: {} [{shape}] {}{order}", input.dtype, one_line(&input.name));
    }
    for (k, output) in manifest.outputs.iter().enumerate() {
        let kind = if output.kind == OutputKind::Mutation { ", the new value" } else { "" };
        let (shape, order) = (sizes(&output.shape), lies(&output.dim_order));
        let _ = writeln!(text, "// output {k}: {} [{shape}] {}{kind}{order}", output.dtype, one_line(&output.name));
    }
    let orders = manifest.inputs.iter().map(|input| &input.dim_order).chain(manifest.outputs.iter().map(|output| &output.dim_order));
    if !orders.into_iter().all(DimOrder::is_row_major) {
        text.push_str(
            "// dim order: the dims of a dense tensor from the outermost to the innermost in memory; sizes stand in the order of dims.\n",
        );
        text.push_str("// strata_run copies tensors with other strides, strata_call gives outputs with these; strata_entry takes and gives no others.\n");
    }
    for (k, weight) in manifest.weights.iter().enumerate() {
        let shape: Vec<_> = weight.shape.iter().map(|&size| Some(size)).collect();
        let _ = writeln!(text, "// weight {k}: {} [{}] {}", weight.dtype, sizes(&shape), one_line(&weight.name));
    }
    for (k, prepared) in manifest.prepared.iter().enumerate() {
        let (at, shape) = (manifest.weights.len() + k, sizes(&prepared.shape));
        let _ = writeln!(text, "// weight {at}: {} [{shape}] output {k} of strata_prepare", prepared.dtype);
    }
    text.push_str("#pragma once\n");
    text.push_str(DECLARATIONS);
    let prepare = if manifest.prepared.is_empty() { "" } else { "int32_t strata_prepare(StrataCall *call);\n" };
    text.replace("@PREPARE@", prepare)
}

/// A name that cannot end its comment.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c == '\\' { ' ' } else { c }).collect()
}
