// Opens libstrata.so where it lies, then a compiled program that wants it by name.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  for (int at = 1; at < argc; ++at) {
    if (!dlopen(argv[at], RTLD_NOW | RTLD_GLOBAL)) {
      printf("%s\n", dlerror());
      return 1;
    }
  }
  return 0;
}
