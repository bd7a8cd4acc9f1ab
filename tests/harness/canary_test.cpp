// Wrong ops, which the harness must catch, and a correct one, which must pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "harness/op_checks.h"
#include "harness/op_goldens.h"
#include "harness/op_parts.h"
#include "harness/op_types.h"
#include "parallel/thread_pool.h"

namespace thimble::test::canary_test {
namespace {

struct CanaryDims {
  int n;
};

CanaryDims dims_of(const Shape& x) { return {static_cast<int>(x.elements())}; }

// y = x^2.
template <class Real>
void square(Real* y, const Real* x, const CanaryDims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = x[i] * x[i];
}
// dx = 2 dy x.
template <class Real>
void square_grad(Real* dx, const Real* dy, const Real* x, const CanaryDims* d) {
  for (int i = 0; i < d->n; ++i) dx[i] = 2 * dy[i] * x[i];
}

const ir::OpDef& grad_op() {
  static const ir::OpDef def{
      .name = "canary_grad",
      .signature{
          .inputs = {{"dy", ""}, {"x", ""}},
          .outputs = {{"dx", ""}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {c.input(1)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return dims_of(c.in(1)); },
          .ref = ir::kernel_fn<&square_grad<float>>(),
          .ref64 = ir::kernel_fn<&square_grad<double>>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
  };
  return def;
}

// A correct op; each canary changes one thing of it.
ir::OpDef right_op() {
  return {
      .name = "canary",
      .signature{
          .inputs = {{"x", ""}},
          .outputs = {{"y", ""}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_dtype(0, DType::f32);
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(grad_op(), {}, {c.grad(), c.input(0)})};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params { return dims_of(c.in(0)); },
          .ref = ir::kernel_fn<&square<float>>(),
          .ref64 = ir::kernel_fn<&square<double>>(),
          .fast = ir::kernel_fn<&square<float>>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
}

OpCase vector_case() { return {.name = "vector", .inputs = {{.shape = {100}}}, .expect = {{100}}}; }

void expect_caught(const std::string& error, const std::string& part) {
  EXPECT_NE(error.find(part), std::string::npos)
      << (error.empty() ? "nothing was found" : "found instead: " + error);
}

TEST(canary, that_sings_passes_every_check) {
  const ir::OpDef op = right_op();
  const OpCase test = vector_case();
  EXPECT_EQ(check_shapes(op, test), "");
  EXPECT_EQ(check_reference(op, test), "");
  EXPECT_EQ(check_fast(op, test), "");
  EXPECT_EQ(check_in_place(op, test), "");
  EXPECT_EQ(check_gradient(op, test), "");
  EXPECT_EQ(check_attributes(op, test), "");
}

TEST(canary, with_a_wrong_gradient_is_caught) {
  ir::OpDef op = right_op();
  op.gradient.vjp = [](const ir::VjpContext& c) -> std::vector<Value> { return {c.grad()}; };
  expect_caught(check_gradient(op, vector_case()), "finite differences");
}

TEST(canary, with_a_gradient_left_out_is_caught) {
  ir::OpDef op = right_op();
  op.gradient.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; };
  expect_caught(check_gradient(op, vector_case()), "finite differences");
}

void grad_wrong_in_one_element(double* dx, const double* dy, const double* x, const CanaryDims* d) {
  square_grad(dx, dy, x, d);
  dx[57] *= 1.001;
}

TEST(canary, with_a_gradient_wrong_in_one_element_is_caught) {
  static const ir::OpDef wrong_grad = [] {
    ir::OpDef def = grad_op();
    def.kernels.ref64 = ir::kernel_fn<&grad_wrong_in_one_element>();
    return def;
  }();
  ir::OpDef op = right_op();
  op.gradient.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
    return {c.grad().graph().add1(wrong_grad, {}, {c.grad(), c.input(0)})};
  };
  expect_caught(check_gradient(op, vector_case()), "finite differences");
}

TEST(canary, with_a_wrong_shape_rule_is_caught) {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    return {{DType::f32, {c.shape(0)[0] + 1}}};
  };
  expect_caught(check_shapes(op, vector_case()), "expected [100]");
}

TEST(canary, with_a_shape_rule_too_small_for_its_kernel_is_caught) {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    return {{DType::f32, {c.shape(0)[0] - 1}}};
  };
  op.gradient.vjp = nullptr;
  OpCase test = vector_case();
  test.expect.clear();
  if constexpr (THIMBLE_ADDRESS_SANITIZER) {
    // The address sanitizer detects the write before the harness can.
    EXPECT_DEATH(static_cast<void>(check_shapes(op, test)), "heap-buffer-overflow");
    return;
  }
  expect_caught(check_shapes(op, test), "writes past output 0");
}

void incomplete_square(float* y, const float* x, const CanaryDims* d) {
  const CanaryDims fewer{d->n - 1};
  square(y, x, &fewer);
}

TEST(canary, that_leaves_an_element_unwritten_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.ref = ir::kernel_fn<&incomplete_square>();
  expect_caught(check_shapes(op, vector_case()), "leaves a part of output 0 unwritten");
}

void shifted_square(double* y, const double* x, const CanaryDims* d) {
  square(y, x, d);
  y[3] += 1e-3;
}

TEST(canary, whose_precisions_disagree_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.ref64 = ir::kernel_fn<&shifted_square>();
  expect_caught(check_reference(op, vector_case()), "float differs from double");
}

void square_wrong_at_the_end(float* y, const float* x, const CanaryDims* d) {
  square(y, x, d);
  y[99] *= 1.001F;
}

TEST(canary, with_a_wrong_fast_kernel_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_wrong_at_the_end>();
  expect_caught(check_fast(op, vector_case()), "output 0 differs by");
}

void wrong_in_one_integer(int32_t* y, const int32_t* x, const CanaryDims* d) {
  square(y, x, d);
  y[7] += 1;
}
void square_of_integers(int32_t* y, const int32_t* x, const CanaryDims* d) { square(y, x, d); }

TEST(canary, with_a_wrong_kernel_for_integers_is_caught) {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require_dtype(0, DType::f32);
    return {{c.input(0).dtype, c.shape(0)}};
  };
  op.gradient.vjp = nullptr;
  op.kernels.typed = {{.inputs = {DType::i32}, .ref = ir::kernel_fn<&square_of_integers>()}};
  ASSERT_EQ(typed_cases(op, vector_case(), true).size(), 1U);
  op.kernels.any_type = true;  // it is no op of the library, which f16 and bf16 must be
  EXPECT_EQ(check_types(op, vector_case()), "");
  op.kernels.typed[0].ref = ir::kernel_fn<&wrong_in_one_integer>();
  expect_caught(check_types(op, vector_case()), "i32: output 0 is not what the usual kernel");
  op.kernels.typed[0].ref = ir::kernel_fn<&square_of_integers>();
  op.kernels.typed[0].fast = ir::kernel_fn<&wrong_in_one_integer>();
  expect_caught(check_types(op, vector_case()), "i32: ");
}

// y: the code 100; the first `wrong` elements differ from it by `by`.
void codes(uint8_t* y, const CanaryDims* d, int wrong, int by) {
  for (int i = 0; i < d->n; ++i) y[i] = static_cast<uint8_t>(i < wrong ? 100 + by : 100);
}
void right_codes(uint8_t* y, const float* /*x*/, const CanaryDims* d) { codes(y, d, 0, 0); }
template <int wrong, int by>
void wrong_codes(uint8_t* y, const float* /*x*/, const CanaryDims* d) {
  codes(y, d, wrong, by);
}

template <int wrong, int by>
std::string check_codes() {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    return {{DType::u8, c.shape(0)}};
  };
  op.gradient.vjp = nullptr;
  op.kernels.ref = ir::kernel_fn<&right_codes>();
  op.kernels.ref64 = nullptr;
  op.kernels.fast = ir::kernel_fn<&wrong_codes<wrong, by>>();
  op.memory.in_place = {};
  return check_fast(op, {.name = "codes", .inputs = {{.shape = {2000}}}, .codes = true});
}

TEST(canary, with_codes_other_than_few_neighbours_is_caught) {
  EXPECT_EQ((check_codes<2, 1>()), "");
  EXPECT_EQ((check_codes<2, -1>()), "");
  expect_caught(check_codes<3, 1>(), "output 0 differs");
  expect_caught(check_codes<1, 2>(), "output 0 differs");
}

void square_with_nan(float* y, const float* x, const CanaryDims* d) {
  square(y, x, d);
  y[0] /= 0.0F * y[0];
  y[0] -= y[0];
}

TEST(canary, with_nan_from_its_fast_kernel_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_with_nan>();
  expect_caught(check_fast(op, vector_case()), "output 0 differs by");
}

void square_and_one_more(float* y, const float* x, const CanaryDims* d) {
  square(y, x, d);
  y[d->n] = 0.0F;
}

TEST(canary, that_writes_past_its_end_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_and_one_more>();
  expect_caught(check_fast(op, vector_case()), "writes past output 0");
}

void square_and_one_before(float* y, const float* x, const CanaryDims* d) {
  square(y, x, d);
  y[-1] = 0.0F;
}

TEST(canary, that_writes_before_its_beginning_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_and_one_before>();
  expect_caught(check_fast(op, vector_case()), "writes past output 0");
}

void square_with_large_workspace(float* y, const float* x, void* workspace, const CanaryDims* d) {
  square(y, x, d);
  std::memset(workspace, 0, 65);
}

TEST(canary, that_writes_past_its_workspace_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.workspace = [](const ir::Params&, int) -> int64_t { return 64; };
  op.kernels.fast = ir::kernel_fn<&square_with_large_workspace>();
  expect_caught(check_fast(op, vector_case()), "writes past its workspace");
}

void square_that_changes_x(float* y, const float* x, const CanaryDims* d) {
  square(y, x, d);
  const_cast<float*>(x)[5] = 0.0F;
}

TEST(canary, that_changes_its_input_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_that_changes_x>();
  expect_caught(check_fast(op, vector_case()), "changes input 0");
}

void square_by_threads(float* y, const float* x, const CanaryDims* d, parallel::ThreadPool& pool) {
  square(y, x, d);
  // Within every tolerance, but not bit-equal.
  if (pool.threads() == 4) y[7] = std::nextafter(y[7], 1.0F);
}

TEST(canary, whose_bits_depend_on_the_threads_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&square_by_threads>();
  expect_caught(check_fast(op, vector_case()), "other bits on 4 threads");
}

// Right if y and x are different buffers; wrong in place, where it reads what it has written.
void reversed_square(float* y, const float* x, const CanaryDims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = x[d->n - 1 - i] * x[d->n - 1 - i];
}

TEST(canary, that_lies_about_working_in_place_is_caught) {
  ir::OpDef op = right_op();
  op.gradient.vjp = nullptr;
  op.kernels.ref = ir::kernel_fn<&reversed_square>();
  op.kernels.fast = nullptr;
  expect_caught(check_in_place(op, vector_case()), "(reference) gives other bits");
}

TEST(canary, whose_fast_kernel_lies_about_working_in_place_is_caught) {
  ir::OpDef op = right_op();
  op.kernels.fast = ir::kernel_fn<&reversed_square>();
  expect_caught(check_in_place(op, vector_case()), "(fast) gives other bits");
}

TEST(canary, that_accepts_what_it_must_refuse_is_caught) {
  ir::OpDef op = right_op();
  const RejectCase test{.name = "integers",
                        .inputs = {{.shape = {3}, .dtype = DType::i32}},
                        .error = "must be floating"};
  EXPECT_EQ(check_rejects(op, test), "");
  RejectCase other = test;
  other.error = "of one shape";
  expect_caught(check_rejects(op, other), "expected a message with");
  op.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> { return {c.input(0)}; };
  EXPECT_EQ(check_rejects(op, test), "");  // a rule that does not look at types takes f32 alone
  op.kernels.any_type = true;
  expect_caught(check_rejects(op, test), "must be refused");
}

// Sets the last sample to 0, which depends on its position in the batch.
template <class Real>
void square_but_last(Real* y, const Real* x, const CanaryDims* d) {
  square(y, x, d);
  y[d->n - 1] = 0;
}

TEST(canary, whose_samples_depend_on_each_other_is_caught_unless_it_says_so) {
  const OpCase test = vector_case();
  ir::OpDef op = right_op();
  EXPECT_EQ(check_samples(op, test), "");
  op.kernels.ref64 = ir::kernel_fn<&square_but_last<double>>();
  expect_caught(check_samples(op, test), "is not one after another");
  op.flow.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; };
  EXPECT_EQ(check_samples(op, test), "");
}

// y[0] = the sum of x, which the op declares as a mean.
template <class Real>
void sum_of(Real* y, const Real* x, const CanaryDims* d) {
  y[0] = 0;
  for (int i = 0; i < d->n; ++i) y[0] += x[i];
}

TEST(canary, whose_sum_is_said_to_be_a_mean_is_caught) {
  ir::OpDef op = right_op();
  op.infer = [](const ir::InferContext&) -> std::vector<ir::TensorType> {
    return {{DType::f32, {}}};
  };
  op.kernels.ref64 = ir::kernel_fn<&sum_of<double>>();
  EXPECT_EQ(check_samples(op, vector_case()),
            "");  // an output without a batch dimension makes no claim
  op.flow.samples = [](const ir::SamplesContext&) { return ir::Samples::mean; };
  expect_caught(check_samples(op, vector_case()), "is not the mean of");
}

// y = x^2, or some of its rows; x: [n, 1].
struct PartDims {
  int n, first;
};

template <class Real>
void square_part(Real* y, const Real* x, const PartDims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = x[d->first + i] * x[d->first + i];
}

ir::OpDef op_of_parts() {
  ir::OpDef op = right_op();
  op.gradient.vjp = nullptr;
  op.memory.in_place = {};
  op.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return PartDims{static_cast<int>(c.in(0).elements()), 0};
  };
  op.kernels.ref = op.kernels.fast = ir::kernel_fn<&square_part<float>>();
  op.kernels.ref64 = ir::kernel_fn<&square_part<double>>();
  op.memory.part.rows = [](const ir::Params&) -> int64_t { return 8; };
  op.memory.part.part = [](void* params, int64_t first, int64_t count) {
    *static_cast<PartDims*>(params) = {static_cast<int>(count), static_cast<int>(first)};
  };
  return op;
}

TEST(canary, whose_parts_are_those_of_other_rows_is_caught) {
  ir::OpDef op = op_of_parts();
  EXPECT_EQ(check_parts(op, vector_case()), "");
  op.memory.part.part = [](void* params, int64_t first, int64_t count) {
    *static_cast<PartDims*>(params) = {static_cast<int>(count), static_cast<int>(first / 2)};
  };
  expect_caught(check_parts(op, vector_case()), "rows 8 to 16 have other bits");
}

void part_of_other_bits(float* y, const float* x, const PartDims* d) {
  square_part(y, x, d);
  if (d->n == 4) y[0] = std::nextafter(y[0], 2.0F);  // the last part
}

TEST(canary, whose_fast_kernel_gives_a_part_other_bits_is_caught) {
  ir::OpDef op = op_of_parts();
  op.kernels.fast = ir::kernel_fn<&part_of_other_bits>();
  expect_caught(check_parts(op, vector_case()), "rows 96 to 100 have other bits");
}

// param -= the mean of grad.
template <class Real>
void minus_mean(Real* param, const Real* before, const Real* grad, const CanaryDims* d) {
  Real sum = 0;
  for (int i = 0; i < d->n; ++i) sum += grad[i];
  for (int i = 0; i < d->n; ++i) param[i] = before[i] - sum / static_cast<Real>(d->n);
}

template <class Real>
void minus_grad(Real* param, const Real* before, const Real* grad, const CanaryDims* d) {
  for (int i = 0; i < d->n; ++i) param[i] = before[i] - grad[i];
}

TEST(canary, that_is_a_rule_for_whole_tensors_and_says_for_elements_is_caught) {
  ir::OpDef op = grad_op();
  op.signature.inputs = {{"param", ""}, {"grad", ""}};
  op.memory.in_place = {};
  op.memory.updates = {{0, 0}};
  op.optimizer = {
      .name = "canary",
      .states = [](const ir::Attrs&, const Shape&) -> std::vector<ir::StateSpec> { return {}; },
      .elementwise = true};
  op.kernels.ref = ir::kernel_fn<&minus_grad<float>>();
  op.kernels.ref64 = ir::kernel_fn<&minus_grad<double>>();
  const OpCase test{.name = "vector",
                    .inputs = {{.shape = {101}, .state = true}, {.shape = {101}}}};
  EXPECT_EQ(check_halves(op, test), "");
  op.kernels.ref = ir::kernel_fn<&minus_mean<float>>();
  op.kernels.ref64 = ir::kernel_fn<&minus_mean<double>>();
  expect_caught(check_halves(op, test), "two halves give other bits");
}

struct TwiceNamed {
  int64_t a = 1;
  int64_t b = 2;
};
void describe(TwiceNamed& attrs, ir::FieldVisitor& v) {
  v.field("a", attrs.a, "");
  v.field("a", attrs.b, "");
}

TEST(canary, whose_attributes_do_not_survive_json_is_caught) {
  ir::OpDef op = right_op();
  op.signature.attrs = ir::Attrs::schema_of<TwiceNamed>();
  expect_caught(check_attributes(op, vector_case()), "come back from JSON as");
}

TEST(canary, goldens_that_differ_are_caught) {
  const auto goldens = find_goldens(THIMBLE_SOURCE_DIR);
  const auto is_wanted = [](const nlohmann::json& g) {
    return g.at("op") == "softmax" && g.at("name") == "last";
  };
  const auto found = std::find_if(goldens.begin(), goldens.end(), is_wanted);
  ASSERT_NE(found, goldens.end());
  EXPECT_EQ(check_golden(*found), "");
  for (const char* what : {"outputs", "gradients"}) {
    nlohmann::json wrong = *found;
    nlohmann::json& value = wrong.at(what)[0].at("values")[4];
    value = value.get<double>() + 1e-4;
    expect_caught(check_golden(wrong), "differs from PyTorch's");
  }
  nlohmann::json other_shape = *found;
  other_shape.at("outputs")[0].at("shape") = {5, 2};
  expect_caught(check_golden(other_shape), "PyTorch's f32[5, 2]");
  nlohmann::json other_attribute = *found;
  other_attribute.at("attrs").at("axis") = 0;
  expect_caught(check_golden(other_attribute), "differs from PyTorch's");
}

}  // namespace
}  // namespace thimble::test::canary_test
