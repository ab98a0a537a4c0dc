// Kernels of custom operators for `custom_call.test`.

#include "strata_ops.h"

// The sum of neighbours in each row, times a number: the last dim of the output is one shorter.
int32_t neighbours(const StrataOpCall *call) {
  const DLTensor *x = &call->input[0], *out = &call->output[0];
  int is_double = strata_op_is(x, 2, 64, 2);
  if (!is_double && !strata_op_is(x, 2, 32, 2)) return strata_op_fail(call, "it takes a matrix of f32 or f64, not one of %d bits and rank %d", x->dtype.bits, x->ndim);
  if (call->number[0].kind != STRATA_FLOAT) return strata_op_fail(call, "its factor is not a float");
  double factor = call->number[0].value.f;
  if (factor < 0) return strata_op_fail(call, "the factor %g is negative", factor);
  for (int64_t row = 0; row < out->shape[0]; row++)
    for (int64_t k = 0; k < out->shape[1]; k++) {
      int64_t to = row * out->strides[0] + k, from = row * x->strides[0] + k;
      if (is_double) ((double *)out->data)[to] = factor * (((double *)x->data)[from] + ((double *)x->data)[from + 1]);
      else ((float *)out->data)[to] = (float)factor * (((float *)x->data)[from] + ((float *)x->data)[from + 1]);
    }
  return 0;
}

static void add_part(void *context, int64_t begin, int64_t end) {
  const StrataOpCall *call = context;
  float *to = call->output[0].data;
  const float *from = call->input[0].data;
  for (int64_t k = begin; k < end; k++) to[k] += from[k];
}

// Adds a tensor to another in its place, on all threads.
int32_t add_into(const StrataOpCall *call) {
  call->parallel(call, add_part, (void *)call, strata_op_elements(&call->output[0]), 4);
  return 0;
}

// Two results from an int, a truth value and bytes, by scratch memory.
int32_t split(const StrataOpCall *call) {
  const DLTensor *x = &call->input[0];
  if (!strata_op_is(x, 1, 8, 1)) return strata_op_fail(call, "it takes a vector of u8");
  if (call->number[0].kind != STRATA_INT || call->number[1].kind != STRATA_BOOL) return strata_op_fail(call, "an int and a bool");
  int64_t *scratch = call->workspace(call, 8 * (uint64_t)x->shape[0]);
  if (!scratch) return strata_op_fail(call, "no memory");
  for (int64_t k = 0; k < x->shape[0]; k++) scratch[k] = ((uint8_t *)x->data)[k] + call->number[0].value.i;
  for (int64_t k = 0; k < x->shape[0]; k++) {
    ((int64_t *)call->output[0].data)[k] = scratch[k];
    ((uint8_t *)call->output[1].data)[k] = call->number[1].value.i && scratch[k] > 200;
  }
  return 0;
}
