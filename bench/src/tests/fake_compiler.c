// A compiler whose models are artefacts already: it hands the file back.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const char *build(void) { return "fake"; }
static void release(uint8_t *bytes, size_t len) { (void)len; free(bytes); }
static void operators(uint8_t **bytes, size_t *len) { *bytes = malloc(1); *len = 0; }
static int32_t interpret(void) { return 1; }
static int32_t record(void) { return 1; }

static int32_t compile(const char *path, const char *text, size_t text_len, const char *options, uint8_t **bytes, size_t *len) {
  (void)text, (void)text_len;
  (void)options;
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  *bytes = malloc(1 << 20);
  *len = fread(*bytes, 1, 1 << 20, file);
  fclose(file);
  return 0;
}

// As the runtime's `compiler.rs` declares it.
static const struct {
  uint32_t version;
  const void *build, *operators, *compile, *record, *interpret, *free;
} functions = {5, build, operators, compile, record, interpret, release};

const void *strata_compiler(void) { return &functions; }
