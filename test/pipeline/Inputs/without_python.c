// Calls a model that was saved in Python: a traced module, whose scripted part loops and branches on values.
#include "model.h"
#include <stdio.h>

int main(void) {
  StrataProgram *model = strata_open(strata_artefact, strata_artefact_bytes, 0);
  if (!model) return fprintf(stderr, "%s\n", strata_error()), 1;
  for (int large = 0; large < 2; large++) {
    float x[12], y[6];
    for (int k = 0; k < 12; k++) x[k] = (k - 6) * (large ? 4 : 0.125f);
    int64_t in_sizes[] = {3, 4}, out_sizes[] = {3, 2};
    DLTensor in = {x, {1, 0}, 2, {2, 32, 1}, in_sizes, 0, 0}, out = {y, {1, 0}, 2, {2, 32, 1}, out_sizes, 0, 0};
    const DLTensor *inputs[] = {&in}, *outputs[] = {&out};
    if (strata_run(model, 1, inputs, 1, outputs)) return fprintf(stderr, "%s\n", strata_error()), 1;
    for (int k = 0; k < 6; k++) printf("%.4f%s", y[k], k == 5 ? "\n" : " ");
  }
  strata_close(model);
  return 0;
}
