// An extension on PyTorch's stable ABI for `test_torch_ops.py`.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

#include <optional>
#include <tuple>
#include <vector>

using torch::stable::Tensor;

// The sum of neighbours in each row, times a number.
Tensor neighbours(const Tensor& x, double factor) {
  STD_TORCH_CHECK(x.dim() == 2, "it takes a matrix, not a tensor of rank ", x.dim());
  STD_TORCH_CHECK(factor >= 0, "the factor ", factor, " is negative");
  Tensor dense = torch::stable::contiguous(x);
  int64_t rows = dense.size(0), cols = dense.size(1) - 1;
  Tensor out = torch::stable::new_empty(dense, {rows, cols});
  const float* from = dense.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  torch::stable::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++)
      for (int64_t k = 0; k < cols; k++)
        to[row * cols + k] = static_cast<float>(factor) * (from[row * (cols + 1) + k] + from[row * (cols + 1) + k + 1]);
  });
  return out;
}

// Two results, one of them in another order in memory; what may be absent, a number, a truth value, and lists.
std::tuple<Tensor, Tensor> mix(const Tensor& x, std::optional<Tensor> bias, const std::vector<Tensor>& more, int64_t times, bool negate,
                               std::vector<int64_t> shifts, std::optional<double> scale) {
  Tensor sum = torch::stable::clone(x), scaled = torch::stable::empty_like(x);
  float* s = sum.mutable_data_ptr<float>();
  float* y = scaled.mutable_data_ptr<float>();
  for (int64_t k = 0; k < x.numel(); k++) {
    if (bias) s[k] += bias->const_data_ptr<float>()[k];
    for (const Tensor& each : more) s[k] += each.const_data_ptr<float>()[k];
    y[k] = static_cast<float>(times) * s[k] * (negate ? -1 : 1) * static_cast<float>(scale.value_or(1));
    for (int64_t shift : shifts) y[k] += static_cast<float>(shift);
  }
  return {torch::stable::transpose(sum, 0, 1), scaled};
}

void add_into(const Tensor& x, Tensor out) {
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t k = 0; k < x.numel(); k++) to[k] += from[k];
}

Tensor product(const Tensor& x) { return torch::stable::matmul(x, x); }

STABLE_TORCH_LIBRARY(ext, m) {
  m.def("neighbours(Tensor x, float factor) -> Tensor");
  m.def("mix(Tensor x, Tensor? bias, Tensor[] more, SymInt times, bool negate=False, SymInt[] shifts=[], *, float? scale=None) -> (Tensor, Tensor)");
  m.def("add_into(Tensor x, Tensor(a!) out) -> ()");
  m.def("product(Tensor x) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(ext, CPU, m) {
  m.impl("neighbours", TORCH_BOX(&neighbours));
  m.impl("mix", TORCH_BOX(&mix));
  m.impl("add_into", TORCH_BOX(&add_into));
  m.impl("product", TORCH_BOX(&product));
}
