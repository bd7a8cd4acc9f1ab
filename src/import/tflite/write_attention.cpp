// Attention and rotary positions.
#include <thimble/ops.h>

#include "import/attention_settings.h"
#include "import/tflite/write.h"

namespace thimble::tflite {
namespace {

// What is added to the scores [T, S] for a mask and for causal attention; empty: nothing.
std::vector<float> added_to_scores(Op& op, bool causal) {
  const int64_t queries = op.shape(1)[1];
  const int64_t keys = op.shape(2)[1];
  constexpr float kNone = -1e9F;  // its exponential is 0
  std::vector<float> added;
  for (int64_t i = 0; causal && i < queries * keys; ++i) {
    added.push_back(i % keys > i / keys ? kNone : 0.0F);
  }
  if (!op.has(4) || op.type(4).dtype == DType::f32) return added;
  const Shape& mask = op.shape(4);
  if (!op.is_constant(4) || mask[0] != 1 || mask[1] != 1) {
    op.fail("thimble writes it with masks of f32, or with one known mask for all");
  }
  added.resize(static_cast<size_t>(queries * keys), 0.0F);
  const std::vector<int64_t> seen = op.values(4).integers();
  for (int64_t i = 0; i < queries * keys; ++i) {
    const int64_t row = mask[2] == 1 ? 0 : i / keys;
    const int64_t column = mask[3] == 1 ? 0 : i % keys;
    if (seen[static_cast<size_t>(row * mask[3] + column)] == 0) {
      added[static_cast<size_t>(i)] = kNone;
    }
  }
  return added;
}

// softmax(scale q k^T + mask) v of heads. Inputs: random state, q, k, v [N, T, heads, D], a mask.
// Queries of several heads that share keys are the rows of one product.
void attention_of(Op& op) {
  const importer::AttentionSettings a(op.node());
  const Shape& q = op.shape(1);
  const Shape& k = op.shape(2);
  const Shape& v = op.shape(3);
  auto& builder = op.builder();
  const int order = op.numbers({0, 2, 1, 3});
  const auto turned = [&](int x, const Shape& shape, int to) {
    if (to < 0) to = op.between({shape[0], shape[2], shape[1], shape[3]});
    op.add(39, 1, op.options(BuiltinOptions_TransposeOptions, CreateEmptyOptions(builder)),
           {x, order}, {to});
    return to;
  };
  const auto product = [&](int left, int right, bool transposes, const Shape& shape) {
    const int y = op.between(shape);
    op.add(126, 1,
           op.options(BuiltinOptions_BatchMatMulOptions,
                      CreateBatchMatMulOptions(builder, false, transposes)),
           {left, right}, {y});
    return y;
  };
  const int64_t shared = q[2] / k[2];
  // [N, heads, T, columns] as [N, heads of keys, T of those that share one, columns], and back.
  const auto reshaped = [&](int x, const Shape& shape) {
    return shared == 1 ? x : op.reshaped(x, shape);
  };
  const auto by_keys = [&](int64_t columns) { return Shape{q[0], k[2], shared * q[1], columns}; };
  const Shape square{q[0], q[2], q[1], k[1]};
  const auto plus = [&](int x, int more) {
    const int y = op.between(square);
    op.add(0, 1, op.options(BuiltinOptions_AddOptions, CreateAddOptions(builder)), {x, more}, {y});
    return y;
  };
  const int queries = reshaped(turned(op.input(1), q, -1), by_keys(q[3]));
  const int keys = turned(op.input(2), k, -1);
  const int values = turned(op.input(3), v, -1);
  const int raw = reshaped(product(queries, keys, true, by_keys(k[1])), square);
  int scores = op.between(square);
  op.add(18, 1, op.options(BuiltinOptions_MulOptions, CreateMulOptions(builder)),
         {raw, op.number(a.scale)}, {scores});
  const std::vector<float> added = added_to_scores(op, a.causal);
  if (!added.empty()) scores = plus(scores, op.floats(added, {q[1], k[1]}));
  if (op.has(4) && op.type(4).dtype == DType::f32) scores = plus(scores, op.input(4));
  const int shares = op.between(square);
  op.add(25, 1, op.options(BuiltinOptions_SoftmaxOptions, CreateSoftmaxOptions(builder, 1.0F)),
         {scores}, {shares});
  const Shape sums{q[0], q[2], q[1], v[3]};
  const int mixed = product(reshaped(shares, by_keys(k[1])), values, false, by_keys(v[3]));
  turned(reshaped(mixed, sums), sums, op.output());
}

// x [N, T, ..., D] times cosines, and its partners times sines. Inputs: x, turns [T, 2, pairs].
void rotate_pairs_of(Op& op) {
  const importer::AttentionSettings a(op.node());
  const Shape& x = op.shape(0);
  if (!op.is_constant(1)) op.fail("its table must be known");
  if (x.rank() > 4) op.fail("such files have it for at most 4 dimensions");
  const std::vector<float> turns = op.values(1).floats();
  const int64_t steps = x[1];
  const int64_t width = x[-1];
  const int64_t pairs = op.shape(1)[2];
  std::vector<float> cosines(static_cast<size_t>(steps * width), 1.0F);
  std::vector<float> sines(static_cast<size_t>(steps * width), 0.0F);
  std::vector<int64_t> partners;
  for (int64_t i = 0; i < width; ++i) partners.push_back(i);
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t first = a.interleaved ? 2 * pair : pair;
    const int64_t second = a.interleaved ? first + 1 : pair + pairs;
    std::swap(partners[static_cast<size_t>(first)], partners[static_cast<size_t>(second)]);
    for (int64_t t = 0; t < steps; ++t) {
      const float cosine = turns[static_cast<size_t>(2 * t * pairs + pair)];
      const float sine = turns[static_cast<size_t>((2 * t + 1) * pairs + pair)];
      cosines[static_cast<size_t>(t * width + first)] = cosine;
      cosines[static_cast<size_t>(t * width + second)] = cosine;
      sines[static_cast<size_t>(t * width + first)] = -sine;
      sines[static_cast<size_t>(t * width + second)] = sine;
    }
  }
  std::vector<int64_t> sizes(static_cast<size_t>(x.rank()), 1);
  sizes[1] = steps;
  sizes.back() = width;
  auto& builder = op.builder();
  const auto times = [&](int left, const std::vector<float>& right) {
    const int y = op.between(x);
    op.add(18, 1, op.options(BuiltinOptions_MulOptions, CreateMulOptions(builder)),
           {left, op.floats(right, Shape(sizes))}, {y});
    return y;
  };
  const int swapped = op.between(x);
  op.add(36, 1,
         op.options(BuiltinOptions_GatherOptions, CreateGatherOptions(builder, x.rank() - 1)),
         {op.input(0), op.numbers(partners)}, {swapped});
  const int kept = times(op.input(0), cosines);
  const int added = times(swapped, sines);
  op.add(0, 1, op.options(BuiltinOptions_AddOptions, CreateAddOptions(builder)), {kept, added},
         {op.output()});
}

}  // namespace

std::span<const WriteRule> attention_writers() {
  static const WriteRule rules[] = {
      {"scaled_dot_product_attention", attention_of},
      {"rotate_pairs", rotate_pairs_of},
  };
  return rules;
}

}  // namespace thimble::tflite
