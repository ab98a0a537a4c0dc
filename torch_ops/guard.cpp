// Calls functions of an extension; what they throw becomes a text.

#include <cstdint>
#include <cstdio>
#include <exception>

namespace {
template <typename Call> int guarded(char *text, uint64_t bytes, Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception &error) {
    std::snprintf(text, bytes, "%s", error.what());
  } catch (...) {
    std::snprintf(text, bytes, "it throws what is no std::exception");
  }
  return 1;
}
} // namespace

extern "C" int strata_torch_guard_kernel(void (*kernel)(uint64_t *, uint64_t, uint64_t), uint64_t *stack, uint64_t inputs, uint64_t outputs,
                                         char *text, uint64_t bytes) {
  return guarded(text, bytes, [&] { kernel(stack, inputs, outputs); });
}

extern "C" int strata_torch_guard_range(void (*body)(int64_t, int64_t, void *), int64_t begin, int64_t end, void *context, char *text,
                                        uint64_t bytes) {
  return guarded(text, bytes, [&] { body(begin, end, context); });
}

// The constructors of an extension may throw, too.
extern "C" int strata_torch_guard_open(void *(*open)(const char *, int), const char *path, int flags, void **library, char *text, uint64_t bytes) {
  return guarded(text, bytes, [&] { *library = open(path, flags); });
}
