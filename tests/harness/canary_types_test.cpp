// Ops that take types for which they have no kernel, which the sweep over all types must catch.
#include <gtest/gtest.h>

#include <stdexcept>

#include "harness/op_every_type.h"

namespace thimble::test::canary_types_test {
namespace {

struct CanaryDims {
  int n;
};

void square(float* y, const float* x, const CanaryDims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = x[i] * x[i];
}

// A correct op, y = x^2; each canary changes its rule.
ir::OpDef right_op() {
  return {
      .name = "canary",
      .signature{.inputs = {{"x", ""}}, .outputs = {{"y", ""}}},
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_dtype(0, DType::f32);
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return CanaryDims{static_cast<int>(c.in(0).elements())};
          },
          .ref = ir::kernel_fn<&square>(),
      },
  };
}

OpCase vector_case() { return {.name = "vector", .inputs = {{.shape = {100}}}}; }

void expect_caught(const std::string& error, const std::string& part) {
  EXPECT_NE(error.find(part), std::string::npos)
      << (error.empty() ? "nothing was found" : "found instead: " + error);
}

TEST(canary, whose_kernel_reads_types_that_its_rule_takes_by_mistake_is_caught) {
  ir::OpDef op = right_op();
  EXPECT_EQ(check_every_type(op, vector_case()), "");
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    if (c.input(0).dtype != DType::i32) c.require_dtype(0, DType::f32);
    return {c.input(0)};
  };
  expect_caught(check_every_type(op, vector_case()), "canary of i32: output 0 (i32) is not what");
}

TEST(canary, whose_refusal_of_a_type_is_unclear_is_caught) {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    if (c.input(0).dtype == DType::i8) throw Error("canary", "no");
    return {c.input(0)};
  };
  expect_caught(check_every_type(op, vector_case()), "does not name op and types: [canary] no");
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    if (c.input(0).dtype == DType::u8) throw std::out_of_range("vector");
    return {c.input(0)};
  };
  expect_caught(check_every_type(op, vector_case()), "throws no Error: vector");
}

}  // namespace
}  // namespace thimble::test::canary_types_test
