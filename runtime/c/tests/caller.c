// Calls the test program through its header: into memory of its own, for new tensors, and wrongly.
#include "axpy.h"
#include <stdio.h>

static DLTensor vector(float *data, int64_t *size) {
  DLTensor t = {data, {1, 0}, 1, {2, 32, 1}, size, 0, 0};
  return t;
}

int main(void) {
  StrataProgram *program = strata_open(strata_artefact, strata_artefact_bytes, 0);
  if (!program) return fprintf(stderr, "%s\n", strata_error()), 1;
  float xs[] = {2, 3, 3}, ys[] = {1, 1, 2}, out[2];
  int64_t two = 2, three = 3, one = 1;
  DLTensor x = vector(xs, &two), y = vector(ys, &two), z = vector(out, &two);
  const DLTensor *in[] = {&x, &y}, *into[] = {&z};
  if (strata_run(program, 2, in, 1, into)) return fprintf(stderr, "%s\n", strata_error()), 1;
  printf("%g %g\n", out[0], out[1]);

  xs[0] = xs[1] = xs[2] = 3;
  ys[0] = ys[1] = 2;
  x.shape = y.shape = &three;
  DLManagedTensor *results[2];
  if (strata_call(program, 2, in, 2, results)) return fprintf(stderr, "%s\n", strata_error()), 1;
  const float *values = results[0]->dl_tensor.data;
  printf("%g %g %g, call %d\n", values[0], values[1], values[2], (int)*(int64_t *)results[1]->dl_tensor.data);
  for (int k = 0; k < 2; k++) results[k]->deleter(results[k]);

  y.shape = &one;
  if (!strata_run(program, 2, in, 0, 0)) return 1;
  puts(strata_error());

  // The bare entry, linked by name: its guard refuses before it needs a runtime.
  StrataCall call = {.inputs = in};
  int status = strata_entry(&call);
  printf("status %d, found %d\n", status, (int)call.detail[2]);
  strata_close(program);
  return 0;
}
