// An extension on PyTorch's stable ABI for `torch_ops.test`, as STABLE_TORCH_LIBRARY and TORCH_BOX make one, without PyTorch's headers:
// python/tests/torch_ops.cpp is the same by them.

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

using Word = uint64_t;
struct Tensor;
struct List;
struct Library;

extern "C" {
int32_t aoti_torch_library_init_def(const char *ns, const char *file, uint32_t line, Library **made);
int32_t aoti_torch_library_init_impl(const char *ns, const char *key, const char *file, uint32_t line, Library **made);
int32_t aoti_torch_library_def(Library *library, const char *schema);
int32_t torch_library_impl(Library *library, const char *name, void (*kernel)(Word *, uint64_t, uint64_t), uint64_t version);
int32_t aoti_torch_delete_library_object(Library *library);
int32_t aoti_torch_delete_tensor_object(Tensor *tensor);
int32_t aoti_torch_get_dim(Tensor *tensor, int64_t *dim);
int32_t aoti_torch_get_size(Tensor *tensor, int64_t dim, int64_t *size);
int32_t aoti_torch_get_numel(Tensor *tensor, int64_t *numel);
int32_t aoti_torch_get_data_ptr(Tensor *tensor, void **data);
int32_t aoti_torch_aten_new_empty(Tensor *like, const int64_t *sizes, int64_t rank, const int32_t *dtype, const int32_t *layout,
                                  const int32_t *device, int32_t index, const int32_t *pinned, Tensor **made);
int32_t torch_call_dispatcher(const char *name, const char *overload, Word *stack, uint64_t version);
int32_t torch_list_size(List *list, size_t *size);
int32_t torch_list_get_item(List *list, size_t at, Word *item);
int32_t torch_delete_list(List *list);
int32_t torch_delete_stable_ivalue(Word *value);
int32_t torch_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t, int64_t, void *), void *context);
int32_t torch_get_num_threads(uint32_t *threads);
int32_t torch_get_thread_idx(uint32_t *thread);
const char *torch_exception_get_what_without_backtrace();
#ifdef UNKNOWN
int32_t aoti_torch_cpu_bmm(Tensor *a, Tensor *b, Tensor **made);
#endif
}

namespace {
constexpr uint64_t VERSION = 0x020f000000000000;

void check(int32_t status) {
  if (status) throw std::runtime_error(torch_exception_get_what_without_backtrace());
}
Tensor *tensor(Word word) { return reinterpret_cast<Tensor *>(word); }
Word word(Tensor *tensor) { return reinterpret_cast<Word>(tensor); }
int64_t size(Tensor *tensor, int64_t dim) {
  int64_t size;
  check(aoti_torch_get_size(tensor, dim, &size));
  return size;
}
int64_t numel(Tensor *tensor) {
  int64_t numel;
  check(aoti_torch_get_numel(tensor, &numel));
  return numel;
}
float *data(Tensor *tensor) {
  void *data;
  check(aoti_torch_get_data_ptr(tensor, &data));
  return static_cast<float *>(data);
}
double number(Word word) {
  double number;
  std::memcpy(&number, &word, sizeof number);
  return number;
}

struct Rows {
  const float *from;
  float *to;
  int64_t cols;
  float factor;
  uint32_t threads;
};
void rows(int64_t begin, int64_t end, void *context) {
  const Rows &rows = *static_cast<Rows *>(context);
  uint32_t thread;
  check(torch_get_thread_idx(&thread));
  if (thread >= rows.threads) throw std::runtime_error("no thread has such a number");
  for (int64_t row = begin; row < end; row++)
    for (int64_t k = 0; k < rows.cols; k++) {
      const float *from = rows.from + row * (rows.cols + 1) + k;
      rows.to[row * rows.cols + k] = rows.factor * (from[0] + from[1]);
    }
}

// The sum of neighbours in each row, times a number.
void neighbours(Word *stack, uint64_t, uint64_t) {
  Tensor *x = tensor(stack[0]), *out;
  double factor = number(stack[1]);
  if (factor < 0) throw std::runtime_error("the factor " + std::to_string(factor) + " is negative");
  int64_t sizes[] = {size(x, 0), size(x, 1) - 1};
#ifdef WIDER
  sizes[1]++;
#endif
  check(aoti_torch_aten_new_empty(x, sizes, 2, nullptr, nullptr, nullptr, 0, nullptr, &out));
  Rows all = {data(x), data(out), size(x, 1) - 1, static_cast<float>(factor), 0};
  check(torch_get_num_threads(&all.threads));
  check(torch_parallel_for(0, sizes[0], 1, rows, &all));
  check(aoti_torch_delete_tensor_object(x));
  stack[0] = word(out);
}

// Two results, one of them in another order in memory; what may be absent, a number, a truth value, and lists.
void mix(Word *stack, uint64_t, uint64_t) {
  Tensor *x = tensor(stack[0]), *scaled;
  Word *bias = reinterpret_cast<Word *>(stack[1]), *scale = reinterpret_cast<Word *>(stack[6]);
  List *more = reinterpret_cast<List *>(stack[2]), *shifts = reinterpret_cast<List *>(stack[5]);
  int64_t times = static_cast<int64_t>(stack[3]), sizes[] = {size(x, 0), size(x, 1)};
  bool negate = stack[4] & 1;
  check(aoti_torch_aten_new_empty(x, sizes, 2, nullptr, nullptr, nullptr, 0, nullptr, &scaled));
  Word copied[2] = {word(x), 0};
  check(torch_call_dispatcher("aten::clone", "", copied, VERSION));
  Tensor *sum = tensor(copied[0]);
  float *s = data(sum), *y = data(scaled);
  auto add = [&](Word given) {
    const float *from = data(tensor(given));
    for (int64_t k = 0; k < numel(sum); k++) s[k] += from[k];
    check(aoti_torch_delete_tensor_object(tensor(given)));
  };
  if (bias) add(*bias);
  size_t count;
  check(torch_list_size(more, &count));
  for (size_t at = 0; at < count; at++) {
    Word item;
    check(torch_list_get_item(more, at, &item));
    add(item);
  }
  for (int64_t k = 0; k < numel(sum); k++) y[k] = s[k] * static_cast<float>(times) * (negate ? -1 : 1) * static_cast<float>(scale ? number(*scale) : 1);
  check(torch_list_size(shifts, &count));
  for (size_t at = 0; at < count; at++) {
    Word item;
    check(torch_list_get_item(shifts, at, &item));
    for (int64_t k = 0; k < numel(sum); k++) y[k] += static_cast<float>(static_cast<int64_t>(item));
  }
  check(torch_delete_list(more));
  check(torch_delete_list(shifts));
  if (bias) check(torch_delete_stable_ivalue(bias));
  if (scale) check(torch_delete_stable_ivalue(scale));
  Word turned[3] = {word(sum), 0, 1};
  check(torch_call_dispatcher("aten::transpose", "int", turned, VERSION));
  stack[0] = turned[0];
  stack[1] = word(scaled);
}

void add_into(Word *stack, uint64_t, uint64_t) {
  Tensor *x = tensor(stack[0]), *out = tensor(stack[1]);
  for (int64_t k = 0; k < numel(x); k++) data(out)[k] += data(x)[k];
  check(aoti_torch_delete_tensor_object(x));
  check(aoti_torch_delete_tensor_object(out));
}

// Calls an operator that the host does not have.
void product(Word *stack, uint64_t, uint64_t) {
#ifdef UNKNOWN
  Tensor *made;
  check(aoti_torch_cpu_bmm(tensor(stack[0]), tensor(stack[0]), &made));
#endif
  Word operands[2] = {stack[0], stack[0]};
  check(torch_call_dispatcher("aten::matmul", "", operands, VERSION));
  stack[0] = operands[0];
}

struct Register {
  Register() {
    Library *library;
    check(aoti_torch_library_init_def("ext", __FILE__, __LINE__, &library));
    check(aoti_torch_library_def(library, "neighbours(Tensor x, float factor) -> Tensor"));
#ifdef TWICE
    check(aoti_torch_library_def(library, "neighbours(Tensor x, float factor) -> Tensor"));
#endif
    check(aoti_torch_library_def(library, "mix(Tensor x, Tensor? bias, Tensor[] more, SymInt times, bool negate=False, SymInt[] shifts=[], *, float? scale=None) -> (Tensor, Tensor)"));
    check(aoti_torch_library_def(library, "add_into(Tensor x, Tensor(a!) out) -> ()"));
    check(aoti_torch_library_def(library, "product(Tensor x) -> Tensor"));
    check(aoti_torch_delete_library_object(library));
#ifdef CUDA
    check(aoti_torch_library_init_impl("ext", "CUDA", __FILE__, __LINE__, &library));
#else
    check(aoti_torch_library_init_impl("ext", "CPU", __FILE__, __LINE__, &library));
#endif
    check(torch_library_impl(library, "neighbours", neighbours, VERSION));
    check(torch_library_impl(library, "mix", mix, VERSION));
    check(torch_library_impl(library, "add_into", add_into, VERSION));
    check(torch_library_impl(library, "product", product, VERSION));
    check(aoti_torch_delete_library_object(library));
  }
} registers;
} // namespace
