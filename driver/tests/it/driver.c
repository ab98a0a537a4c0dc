// Stands for NVIDIA's driver in tests: the functions that the runtime calls, on memory of the host. Kernels do nothing but `neighbours`, which
// does what its PTX says.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long ptr;
static char text[1];
static char names[64][64];
static int count;

static FILE *diary(void) {
  static FILE *file;
  if (!file) file = fopen(getenv("STRATA_TEST_DIARY"), "w");
  return file;
}

#define NOTE(...) (fprintf(diary(), __VA_ARGS__), fflush(diary()))

int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { return *version = 12040, 0; }
int cuDeviceGetCount(int *devices) { return *devices = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char *name, int length, int device) { return snprintf(name, length, "diary"), 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) { return *value = attribute == 75 ? 8 : 6, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return *context = text, 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuGetErrorString(int error, const char **said) { return *said = "failed", 0; }
int cuStreamCreate(void **stream, unsigned flags) { return *stream = text, 0; }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return 0; }
int cuEventCreate(void **event, unsigned flags) { return *event = text, 0; }
int cuEventDestroy_v2(void *event) { return 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) { return *memory = malloc(bytes), 0; }
int cuMemFreeHost(void *memory) { return free(memory), 0; }
int cuMemAlloc_v2(ptr *memory, size_t bytes) {
  NOTE("memory %zu\n", bytes);
  return *memory = (ptr)calloc(1, bytes), 0;
}
int cuMemFree_v2(ptr memory) { return free((void *)memory), 0; }
int cuMemcpyHtoDAsync_v2(ptr to, const void *from, size_t bytes, void *stream) {
  NOTE("to device %zu\n", bytes);
  return memcpy((void *)to, from, bytes), 0;
}
int cuMemcpyDtoHAsync_v2(void *to, ptr from, size_t bytes, void *stream) {
  NOTE("to host %zu\n", bytes);
  return memcpy(to, (void *)from, bytes), 0;
}
int cuMemcpyDtoDAsync_v2(ptr to, ptr from, size_t bytes, void *stream) {
  NOTE("copy %zu\n", bytes);
  return memcpy((void *)to, (void *)from, bytes), 0;
}
int cuMemsetD8Async(ptr to, unsigned char value, size_t bytes, void *stream) { return memset((void *)to, value, bytes), 0; }
int cuModuleLoadDataEx(void **module, const char *ptx, unsigned options, void *names, void *values) {
  const char *target = strstr(ptx, ".target ");
  if (!target) return 218;
  NOTE("module %.5s\n", target + 8);
  return *module = text, 0;
}
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(char **function, void *module, const char *name) {
  snprintf(names[count], sizeof names[count], "%s", name);
  return *function = names[count++ % 64], 0;
}
static void neighbours(unsigned wide, unsigned high, void **arguments) {
  const float *in = *(float **)arguments[0];
  float *out = *(float **)arguments[1], factor = *(float *)arguments[2];
  unsigned rows = *(unsigned *)arguments[3], cols = *(unsigned *)arguments[4];
  for (unsigned row = 0; row < rows && row < high; row++)
    for (unsigned k = 0; k < cols && k < wide; k++)
      out[row * cols + k] = factor * (in[row * (cols + 1) + k] + in[row * (cols + 1) + k + 1]);
}
int cuLaunchKernel(char *function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned ty, unsigned tz, unsigned shared,
                   void *stream, void **arguments, void **extra) {
  NOTE("launch %s %u\n", function, x);
  if (!strcmp(function, "neighbours")) neighbours(x * threads, y * ty, arguments);
  return 0;
}
int cuStreamBeginCapture_v2(void *stream, int mode) { return NOTE("record\n"), 0; }
int cuStreamEndCapture(void *stream, void **graph) { return *graph = text, 0; }
int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) { return *made = text, 0; }
int cuGraphDestroy(void *graph) { return 0; }
int cuGraphLaunch(void *made, void *stream) { return NOTE("replay\n"), 0; }
int cuGraphExecDestroy(void *made) { return 0; }
