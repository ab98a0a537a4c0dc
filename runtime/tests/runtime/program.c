// A small compiled program in C: out = x * w + y on vectors of any length, in parallel; the buffer `calls` counts calls.
// The root of w is prepared. The test links it into a flat image: the entry at 0, what prepares at 0x800, constants at
// 0x1000, import slots at 0x2000 in this order.
#include <stdint.h>

typedef struct {
  void *data;
  int32_t device[2];
  int32_t ndim;
  struct { uint8_t code, bits; uint16_t lanes; } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct StrataCall {
  const DLTensor *const *inputs;
  DLTensor *const *outputs;
  void *const *weights;
  void *runtime;
  int64_t detail[4];
} StrataCall;

#define SLOT __attribute__((section(".slots"), used))
SLOT static void *(*volatile output)(StrataCall *, int64_t, int64_t) = 0;
SLOT static void *(*volatile workspace)(StrataCall *, int64_t) = 0;
SLOT static void (*volatile parallel)(StrataCall *, void (*)(void *, int64_t, int64_t), void *, int64_t, int64_t) = 0;
SLOT static float (*volatile exponential)(float) = 0;
SLOT static const float *volatile scale = 0;  // a relocation to the constant below
static const float constants[4] __attribute__((section(".rodata"), used)) = {1, 1, 1, 1};

typedef struct { const float *x, *y, *w; float *scratch, *out; } Loop;

static void body(void *ctx, int64_t begin, int64_t end) {
  Loop *l = ctx;
  for (int64_t i = begin; i < end; i++) {
    l->scratch[i] = l->x[i] * l->w[0] * l->w[0];
    l->out[i] = l->scratch[i] * exponential(0.0f) * scale[0] + l->y[i];
  }
}

// w is a square of a small number.
__attribute__((section(".text.prepare"), used)) int32_t strata_prepare(StrataCall *call) {
  float *root = output(call, 0, 4), w = *(float *)call->weights[0];
  if (!root) return 3;
  if (w < 0) {
    call->detail[2] = (int64_t)w;
    return 2;
  }
  call->outputs[0]->shape[0] = 1;
  for (*root = 0; *root * *root < w; ++*root) {}
  return 0;
}

__attribute__((section(".text.entry"), used)) int32_t strata_entry(StrataCall *call) {
  const DLTensor *x = call->inputs[0], *y = call->inputs[1];
  int64_t n = x->shape[0];
  if (y->shape[0] != n) {
    call->detail[0] = 1;
    call->detail[1] = 0;
    call->detail[2] = y->shape[0];
    call->detail[3] = n;
    return 1;
  }
  call->outputs[0]->shape[0] = n;
  float *out = output(call, 0, n * 4);
  float *scratch = workspace(call, n * 4);
  if (!out || !scratch) return 3;
  Loop loop = {x->data, y->data, call->weights[2], scratch, out};
  parallel(call, body, &loop, n, 16);
  int64_t *counter = output(call, 1, 8);
  if (!counter) return 3;
  *counter = *(int64_t *)call->weights[1] + 1;
  return 0;
}
