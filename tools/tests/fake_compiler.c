// A compiler that compiles nothing: its interpreter returns the inputs, unless the model's name asks for trouble.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct DLTensor DLTensor;
typedef void (*Output)(void *ctx, const char *name, int32_t mutation, const DLTensor *);

static const char *build(void) { return "fake"; }

static void release(uint8_t *bytes, size_t len) { (void)len; free(bytes); }

static int32_t fail(const char *text, uint8_t **bytes, size_t *len) {
  *bytes = (uint8_t *)strdup(text);
  *len = strlen(text);
  return 1;
}

static int32_t compile(const char *path, const char *text, size_t text_len, const char *options, uint8_t **bytes, size_t *len) {
  (void)text, (void)text_len;
  (void)path, (void)options;
  return fail("this compiler compiles nothing", bytes, len);
}

static int32_t record(void) { return 1; }
static void operators(uint8_t **bytes, size_t *len) { *bytes = malloc(1); *len = 0; }
static int32_t interpret(const char *path, const char *options, size_t n_in, const DLTensor *const *inputs, void *ctx, Output output,
                         uint8_t **error, size_t *len) {
  (void)options;
  if (strstr(path, "crash")) abort();
  if (strstr(path, "hang")) sleep(1000);
  if (strstr(path, "refuse")) return fail("aten.mystery is not supported", error, len);
  for (size_t k = 0; k < n_in; k++) {
    int32_t mutation = strstr(path, "mutate") != 0 && k == 1;
    output(ctx, mutation ? "state" : "out", mutation, inputs[k]);
  }
  return 0;
}

// As the runtime's `compiler.rs` declares it.
static const struct {
  uint32_t version;
  const void *build, *operators, *compile, *record, *interpret, *free;
} functions = {5, build, operators, compile, record, interpret, release};

const void *strata_compiler(void) { return &functions; }
