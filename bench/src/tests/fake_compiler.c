// A compiler whose models are artefacts already: it hands the file back.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

uint32_t strata_compiler_abi(void) { return 4; }

const char *strata_compiler_build(void) { return "fake"; }
void strata_compiler_free(uint8_t *bytes, size_t len) { (void)len; free(bytes); }
void strata_compiler_operators(uint8_t **bytes, size_t *len) { *bytes = malloc(1); *len = 0; }
int32_t strata_compiler_interpret(void) { return 1; }
int32_t strata_compiler_record(void) { return 1; }

int32_t strata_compiler_compile(const char *path, const char *text, size_t text_len, const char *options, uint8_t **bytes, size_t *len) {
  (void)text, (void)text_len;
  (void)options;
  FILE *file = fopen(path, "rb");
  if (!file) return 1;
  *bytes = malloc(1 << 20);
  *len = fread(*bytes, 1, 1 << 20, file);
  fclose(file);
  return 0;
}
