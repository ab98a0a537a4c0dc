// Kernels of custom operators in C: what Strata calls them with.
//
//   int32_t my_scale(const StrataOpCall *call);
//
// A kernel is a function with external linkage of a shared library. It reads the inputs, writes all of the outputs, and returns 0, or
// another number and a text in `error`: the call of the program fails with both. Tensors, lists and memory belong to the caller and are
// valid until the kernel returns. Outputs begin with the values that the registration gives them. No output overlaps another tensor of
// the call, inputs may overlap inputs. Several threads may call a kernel at the same time.

#ifndef STRATA_OPS_H
#define STRATA_OPS_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// DLPack's layouts, for who does not include dlpack.h first.
#ifndef DLPACK_DLPACK_H_
#ifndef STRATA_DLTENSOR
#define STRATA_DLTENSOR
typedef struct { int32_t device_type, device_id; } DLDevice;        // 1, 0: the CPU
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;  // code 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;  // ndim numbers each; strides count elements
  uint64_t byte_offset;
} DLTensor;
#endif
#endif

enum { STRATA_INT = 1, STRATA_FLOAT = 2, STRATA_BOOL = 3 };

typedef struct {
  int32_t kind;
  union {
    int64_t i;  // STRATA_INT, and 0 or 1 of STRATA_BOOL
    double f;   // STRATA_FLOAT
  } value;
} StrataOpNumber;

typedef struct StrataOpCall StrataOpCall;
struct StrataOpCall {
  uint64_t bytes;    // of this structure; later versions append to it
  uint32_t version;  // 1
  uint32_t inputs, outputs, numbers;
  const DLTensor *input, *output;  // in the order of the call's operands; dense and row-major, byte_offset 0
  const StrataOpNumber *number;
  char *error;  // where a kernel that fails says why, ended by 0
  uint64_t error_bytes;
  // Memory until the program's call ends, aligned to 64 bytes; NULL where there is none. Only on the thread that called the kernel.
  void *(*workspace)(const StrataOpCall *call, uint64_t bytes);
  // Runs body(context, begin, end) over 0..n on the program's threads, in parts of at least `grain`.
  void (*parallel)(const StrataOpCall *call, void (*body)(void *, int64_t, int64_t), void *context, int64_t n, int64_t grain);
  void *runtime;  // Strata's own
};

// Says why a kernel fails, as printf does; gives the status to return.
static inline int32_t strata_op_fail(const StrataOpCall *call, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(call->error, call->error_bytes, format, arguments);
  va_end(arguments);
  return 1;
}

// Whether a tensor has this element type and rank.
static inline int strata_op_is(const DLTensor *tensor, uint8_t code, uint8_t bits, int32_t rank) {
  return tensor->dtype.code == code && tensor->dtype.bits == bits && tensor->dtype.lanes == 1 && tensor->ndim == rank;
}

// The number of elements of a tensor.
static inline int64_t strata_op_elements(const DLTensor *tensor) {
  int64_t elements = 1;
  for (int32_t dim = 0; dim < tensor->ndim; dim++) elements *= tensor->shape[dim];
  return elements;
}

#ifdef __cplusplus
}
#endif

#endif
