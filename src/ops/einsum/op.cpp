#include <fmt/format.h>
#include <thimble/ops/einsum.h>
#include <thimble/ops/matmul.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/slice.h>
#include <thimble/ops/sum.h>
#include <thimble/ops/transpose.h>

#include <algorithm>
#include <map>

#include "ir/graph.h"
#include "ops/families/builder/equation.h"

// Built from other ops: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(einsum) { return {}; }

namespace thimble::ops::einsum_impl {
namespace {

using Sizes = std::map<char, int64_t>;

bool has(const std::string& labels, char label) { return labels.find(label) != std::string::npos; }

// The characters of `labels` that are in `other`, or those that are not.
std::string chosen(const std::string& labels, const std::string& other, bool in) {
  std::string result;
  for (const char label : labels) {
    if (has(other, label) == in) result += label;
  }
  return result;
}

// A tensor with labelled axes.
struct Named {
  Value value;
  std::string labels;
};

int64_t product(const std::string& labels, const Sizes& sizes) {
  int64_t result = 1;
  for (const char label : labels) result *= sizes.at(label);
  return result;
}

// An open batch size is inferred by reshape.
Value reshaped(Value x, std::vector<int64_t> dims) {
  if (x.shape() == Shape(dims)) return x;
  for (int64_t& dim : dims) {
    if (dim >= kBatch && dim % kBatch == 0) {
      dim = -1;
      break;
    }
  }
  return reshape(x, Shape(std::move(dims)));
}

Named ordered(const Named& x, const std::string& labels) {
  if (x.labels == labels) return x;
  std::vector<int64_t> axes;
  for (const char label : labels) axes.push_back(static_cast<int64_t>(x.labels.find(label)));
  return {transpose(x.value, axes), labels};
}

// A repeated letter means a diagonal: merges the two axes into one of size n * n and takes every (n
// + 1)-th element.
Named without_repeats(Named x) {
  for (size_t i = 0; i < x.labels.size(); ++i) {
    const size_t again = x.labels.find(x.labels[i], i + 1);
    if (again == std::string::npos) continue;
    const int64_t size = x.value.shape()[static_cast<int>(i)];
    if (size != x.value.shape()[static_cast<int>(again)]) {
      throw Error("einsum",
                  fmt::format("axis {} occurs twice in a tensor of shape {}, with two sizes",
                              x.labels[i], to_string(x.value.shape())));
    }
    std::vector<int64_t> axes;
    std::vector<int64_t> dims;
    std::string labels;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (axis == i || axis == again) continue;
      axes.push_back(static_cast<int64_t>(axis));
      dims.push_back(x.value.shape()[static_cast<int>(axis)]);
      labels += x.labels[axis];
    }
    const auto last = static_cast<int64_t>(axes.size());
    axes.insert(axes.end(), {static_cast<int64_t>(i), static_cast<int64_t>(again)});
    dims.push_back(size * size);
    const Value pairs = reshaped(transpose(x.value, axes), dims);
    return without_repeats(
        {slice(pairs, {.axes = {last}, .starts = {0}, .stops = {size * size}, .steps = {size + 1}}),
         labels + x.labels[i]});
  }
  return x;
}

// Drops axes of size 1 that are larger in other operands: the one element is broadcast.
Named without_ones(const Named& x, const Sizes& sizes) {
  std::string labels;
  std::vector<int64_t> dims;
  for (size_t axis = 0; axis < x.labels.size(); ++axis) {
    const int64_t size = x.value.shape()[static_cast<int>(axis)];
    if (size == 1 && sizes.at(x.labels[axis]) != 1) continue;
    labels += x.labels[axis];
    dims.push_back(size);
  }
  return labels == x.labels ? x : Named{reshaped(x.value, std::move(dims)), labels};
}

// Sums over the axes that are not in `keep`.
Named summed(const Named& x, const std::string& keep) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (!has(keep, x.labels[i])) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  return {sum(x.value, {.axes = axes}), chosen(x.labels, keep, true)};
}

// The axes of two operands, grouped by their role in the product.
struct Roles {
  std::string batch, rows, columns, contracted;
};

Roles roles_of(const Named& a, const Named& b, const std::string& keep) {
  const std::string both = chosen(a.labels, b.labels, true);
  return {.batch = chosen(both, keep, true),
          .rows = chosen(a.labels, b.labels, false),
          .columns = chosen(b.labels, a.labels, false),
          .contracted = chosen(both, keep, false)};
}

// Multiplies element by element, then sums.
Named multiplied(const Named& a, const Named& b, const Roles& r, const Sizes& sizes) {
  const std::string all = r.batch + r.rows + r.columns + r.contracted;
  const auto spread = [&](const Named& x) {
    std::vector<int64_t> dims;
    for (const char label : all) dims.push_back(has(x.labels, label) ? sizes.at(label) : 1);
    return reshaped(ordered(x, chosen(all, x.labels, true)).value, std::move(dims));
  };
  return summed({mul(spread(a), spread(b)), all}, r.batch + r.rows + r.columns);
}

// Computes matrix products, one for each index of the batch axes.
Named matrices(const Named& a, const Named& b, const Roles& r, const Sizes& sizes) {
  MatmulAttrs attrs;
  // matmul takes a transposed operand directly.
  attrs.transpose_a = a.labels == r.batch + r.contracted + r.rows;
  attrs.transpose_b = b.labels == r.batch + r.columns + r.contracted;
  const auto matrix = [&](const Named& x, const std::string& first, const std::string& second) {
    const Value value = ordered(x, r.batch + first + second).value;
    std::vector<int64_t> dims;
    if (!r.batch.empty()) dims.push_back(product(r.batch, sizes));
    dims.push_back(product(first, sizes));
    dims.push_back(product(second, sizes));
    return reshaped(value, std::move(dims));
  };
  const Value left =
      attrs.transpose_a ? matrix(a, r.contracted, r.rows) : matrix(a, r.rows, r.contracted);
  const Value right =
      attrs.transpose_b ? matrix(b, r.columns, r.contracted) : matrix(b, r.contracted, r.columns);
  const std::string labels = r.batch + r.rows + r.columns;
  std::vector<int64_t> dims;
  for (const char label : labels) dims.push_back(sizes.at(label));
  return {reshaped(matmul(left, right, attrs), std::move(dims)), labels};
}

Named combined(const Named& left, const Named& right, const std::string& keep, const Sizes& sizes) {
  const Named a = summed(left, keep + right.labels);
  const Named b = summed(right, keep + left.labels);
  const Roles r = roles_of(a, b, keep);
  const bool dots = r.rows.empty() && r.columns.empty();
  return r.contracted.empty() || dots ? multiplied(a, b, r, sizes) : matrices(a, b, r, sizes);
}

}  // namespace
}  // namespace thimble::ops::einsum_impl

namespace thimble {

Value einsum(const std::string& equation, const std::vector<Value>& operands) {
  std::vector<int> ranks;
  for (const Value& operand : operands) ranks.push_back(operand.shape().rank());
  const ops::Equation parsed = ops::parse_equation(equation, ranks);
  ops::einsum_impl::Sizes sizes;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t axis = 0; axis < parsed.operands[i].size(); ++axis) {
      const int64_t size = operands[i].shape()[static_cast<int>(axis)];
      int64_t& known = sizes.try_emplace(parsed.operands[i][axis], size).first->second;
      if (known == 1) known = size;
      if (size == 1 || known == size) continue;
      throw Error("einsum",
                  fmt::format("an axis of \"{}\" has the sizes {} and {}", equation, known, size));
    }
  }
  std::vector<ops::einsum_impl::Named> named;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ops::einsum_impl::Named plain =
        ops::einsum_impl::without_repeats({operands[i], parsed.operands[i]});
    named.push_back(ops::einsum_impl::without_ones(plain, sizes));
  }
  ops::einsum_impl::Named result = named[0];
  for (size_t i = 1; i < named.size(); ++i) {
    std::string keep = parsed.result;
    for (size_t later = i + 1; later < named.size(); ++later) keep += named[later].labels;
    result = ops::einsum_impl::combined(result, named[i], keep, sizes);
  }
  return ops::einsum_impl::ordered(ops::einsum_impl::summed(result, parsed.result), parsed.result)
      .value;
}

}  // namespace thimble
