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
  op.signature.inputs[0].types = ir::kFloatingTypes | DType::i64;
  expect_caught(check_every_type(op, vector_case()), "canary of i64: output 0 (i64) is not what");
}

TEST(canary, whose_refusal_of_a_type_is_unclear_is_caught) {
  ir::OpDef op = right_op();
  op.signature.inputs[0].types = ir::kFloatingTypes | ir::TypeSet{DType::i8, DType::u8};
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    if (c.input(0).dtype == DType::i8) throw Error("canary", "no");
    return {c.input(0)};
  };
  expect_caught(check_every_type(op, vector_case()), "does not name op and types: [canary] no");
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    if (c.input(0).dtype == DType::i8) throw std::out_of_range("vector");
    return {c.input(0)};
  };
  expect_caught(check_every_type(op, vector_case()), "throws no Error: vector");
}

TEST(canary, which_declares_a_type_that_its_rule_refuses_is_caught) {
  ir::OpDef op = right_op();
  const auto untaken = [&op] {
    DeclaredTypes declared;
    declared.add(op, vector_case());
    return declared.untaken(op);
  };
  // Only ops of the library are run on widened copies.
  op.signature.inputs[0].types = DType::f32;
  EXPECT_EQ(untaken(), "");
  op.signature.inputs[0].types = {DType::f32, DType::i16};
  EXPECT_EQ(untaken(), "");
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require_dtype(0, DType::f32);
    return {c.input(0)};
  };
  expect_caught(untaken(), "declares that x may be i16, but no case takes it");
}

}  // namespace
}  // namespace thimble::test::canary_types_test
