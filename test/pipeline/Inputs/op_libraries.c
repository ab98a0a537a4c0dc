// Opens a program that calls kernels of a library, from memory and from a file.
#include "model.h"
#include <stdio.h>

static int call(const char *from, StrataProgram *program) {
  if (!program) return fprintf(stderr, "%s\n", strata_error()), 1;
  float x[3] = {1, 2, 3}, y[2];
  uint8_t bytes[2] = {7, 200}, flags[2];
  int64_t sums[2];
  int64_t rows[] = {1, 3}, fewer[] = {1, 2}, two[] = {2};
  DLTensor in0 = {x, {1, 0}, 2, {2, 32, 1}, rows, 0, 0}, in1 = {bytes, {1, 0}, 1, {1, 8, 1}, two, 0, 0};
  DLTensor out0 = {y, {1, 0}, 2, {2, 32, 1}, fewer, 0, 0}, out1 = {sums, {1, 0}, 1, {0, 64, 1}, two, 0, 0};
  DLTensor out2 = {flags, {1, 0}, 1, {6, 8, 1}, two, 0, 0};
  const DLTensor *inputs[] = {&in0, &in1}, *outputs[] = {&out0, &out1, &out2};
  if (strata_run(program, 2, inputs, 3, outputs)) return fprintf(stderr, "%s\n", strata_error()), 1;
  printf("%s: %g %g, %d %d, %d %d\n", from, y[0], y[1], (int)sums[0], (int)sums[1], flags[0], flags[1]);
  strata_close(program);
  return 0;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const char *libraries[] = {arguments[1]};
  if (strata_open(strata_artefact, strata_artefact_bytes, 0)) return 3;
  printf("%s\n", strata_error());
  return call("memory", strata_open_with_libraries(strata_artefact, strata_artefact_bytes, 0, 1, libraries)) ||
         call("file", strata_open_file_with_libraries(arguments[2], 0, 1, libraries));
}
