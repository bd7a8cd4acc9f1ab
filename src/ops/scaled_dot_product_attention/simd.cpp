// Attention in blocks of kKeys keys times kQueries queries, which stay in the cache. Queries are in
// the vector lanes: maxima and sums of the softmax then need no operations across lanes, and the
// weights of one product are the operand of the next without rearrangement. The running maximum and
// sum follow Dao et al., "FlashAttention", 2022, algorithm 1; the backward pass, algorithm 4.

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "ops/families/kernel/rows-inl.h"
#include "ops/scaled_dot_product_attention/dims.h"
#include "parallel/thread_pool.h"
#include "simd/block-inl.h"
#include "simd/pack-inl.h"
#include "simd/philox-inl.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_ATTENTION_ONCE_
#define THIMBLE_OPS_ATTENTION_ONCE_
namespace thimble::ops::scaled_dot_product_attention_impl {

// A multiple of every target's vectors and tile rows, and of random blocks.
inline constexpr int kQueries = 64;
inline constexpr int kKeys = 48;
inline constexpr float kNothing = -std::numeric_limits<float>::infinity();

inline int64_t padded(int width) { return simd::round_up(width, 16); }

// Scratch of one thread. Transposed arrays have the queries along their rows.
struct AttentionScratch {
  float* q;        // [width, kQueries], scaled
  float* scores;   // [kKeys, kQueries], then the weights
  float* sums;     // [value_width, kQueries]: y before division
  float* largest;  // [kQueries]
  float* divisor;  // [kQueries]
};

inline AttentionScratch carve_attention(simd::Workspace& workspace, const attention_dims& d) {
  AttentionScratch s{};
  s.q = workspace.take<float>(int64_t{d.width} * kQueries);
  s.scores = workspace.take<float>(kKeys * kQueries);
  s.sums = workspace.take<float>(int64_t{d.value_width} * kQueries);
  s.largest = workspace.take<float>(kQueries);
  s.divisor = workspace.take<float>(kQueries);
  return s;
}

struct AttentionGradScratch {
  float* q;        // [width, kQueries], scaled
  float* q_rows;   // [kQueries, padded width], scaled
  float* dy;       // [value_width, kQueries]
  float* dy_rows;  // [kQueries, padded value width]
  float* scores;   // [kKeys, kQueries], then the weights as dropout leaves them
  float* dscores;  // [kKeys, kQueries]
  float* dq;       // [width, kQueries]
  float* lse;      // [kQueries]; infinite for missing queries and those that see no key
  float* delta;    // [kQueries]: dy . y
};

inline AttentionGradScratch carve_attention_grad(simd::Workspace& workspace,
                                                 const attention_dims& d) {
  AttentionGradScratch s{};
  s.q = workspace.take<float>(int64_t{d.width} * kQueries);
  s.q_rows = workspace.take<float>(padded(d.width) * kQueries);
  s.dy = workspace.take<float>(int64_t{d.value_width} * kQueries);
  s.dy_rows = workspace.take<float>(padded(d.value_width) * kQueries);
  s.scores = workspace.take<float>(kKeys * kQueries);
  s.dscores = workspace.take<float>(kKeys * kQueries);
  s.dq = workspace.take<float>(int64_t{d.width} * kQueries);
  s.lse = workspace.take<float>(kQueries);
  s.delta = workspace.take<float>(kQueries);
  return s;
}

// One block of the weights: keys [key, key + keys) and queries [query, query + queries) of a head.
struct AttentionBlock {
  int n, head, query, queries, key, keys;
};

// Number of keys that queries before `end` can see.
inline int visible_keys(const attention_dims& d, int end) {
  return d.causal ? std::min(d.keys, end) : d.keys;
}

// Start of a head's vectors, and the distance between positions.
struct HeadRows {
  int64_t at;
  ptrdiff_t pitch;
};
inline HeadRows query_rows(const attention_dims& d, int n, int head, int query, int width) {
  return {((int64_t{n} * d.queries + query) * d.heads + head) * width,
          static_cast<ptrdiff_t>(d.heads) * width};
}
inline HeadRows key_rows(const attention_dims& d, int n, int group, int key, int width) {
  return {((int64_t{n} * d.keys + key) * d.groups + group) * width,
          static_cast<ptrdiff_t>(d.groups) * width};
}

// Adds the mask to the scores and hides keys that a query must not see.
inline void mask_scores(float* scores, const void* mask, const attention_dims& d,
                        const AttentionBlock& b) {
  for (int i = 0; i < b.keys; ++i, scores += kQueries) {
    const int key = b.key + i;
    if (mask) {
      const int64_t at = int64_t{b.n} * d.mask_step[0] + int64_t{b.head} * d.mask_step[1] +
                         int64_t{b.query} * d.mask_step[2] + int64_t{key} * d.mask_step[3];
      for (int j = 0; j < b.queries; ++j) {
        const int64_t element = at + int64_t{j} * d.mask_step[2];
        if (d.mask_bytes != 1) {
          scores[j] += static_cast<const float*>(mask)[element];
        } else if (static_cast<const uint8_t*>(mask)[element] == 0) {
          scores[j] = kNothing;
        }
      }
    }
    if (d.causal && key > b.query) {
      std::fill_n(scores, std::min(key - b.query, kQueries), kNothing);
    }
  }
}

}  // namespace thimble::ops::scaled_dot_product_attention_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::scaled_dot_product_attention_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::multiply_block;
using simd::HWY_NAMESPACE::pack_rows;
using simd::HWY_NAMESPACE::pack_transposed;
using simd::HWY_NAMESPACE::transpose_copy;

// Dropout's factors for the weights of one key, for kQueries queries.
class Dropout {
 public:
  Dropout(const uint32_t* rng, const attention_dims& d)
      : rng_(rng), d_(d), first_(on() ? static_cast<int>(philox_first(rng, d.batch)) : 0) {}
  [[nodiscard]] bool on() const { return d_.limit > 0.0; }
  void draw(float* factors, const AttentionBlock& b, int key) const {
    const F32 f;
    const hn::RebindToSigned<F32> integers;
    const simd::HWY_NAMESPACE::U32 words_tag;
    HWY_ALIGN uint32_t words[kQueries];
    simd::HWY_NAMESPACE::draw_words(
        words, rng_, d_.stream, attention_block(&d_, first_ + b.n, b.head, b.query, key), kQueries);
    const auto below = hn::Set(integers, static_cast<int32_t>(d_.limit) - 1);
    const Vec keep = hn::Set(f, static_cast<float>(d_.keep));
    for (int i = 0; i < kQueries; i += lanes()) {
      const auto drawn = hn::ShiftRight<8>(hn::Load(words_tag, words + i));
      const auto kept = hn::RebindMask(f, hn::Gt(hn::BitCast(integers, drawn), below));
      hn::Store(hn::IfThenElseZero(kept, keep), f, factors + i);
    }
  }

 private:
  const uint32_t* rng_;
  const attention_dims& d_;
  int first_;  // the batch's first sample
};

void scale_floats(float* x, int64_t count, float factor) {
  const Vec by = hn::Set(F32(), factor);
  over_vectors(0, count,
               [=](auto io, int64_t i) HWY_ATTR { io.store(hn::Mul(io.load(x, i), by), x, i); });
}

// scores = k q^T, masked.
void block_scores(float* scores, const float* k, const float* q, const void* mask,
                  const attention_dims& d, const AttentionBlock& b) {
  const HeadRows rows = key_rows(d, b.n, b.head / (d.heads / d.groups), b.key, d.width);
  multiply_block({scores, kQueries, k + rows.at, rows.pitch, 1, q, kQueries, b.keys, kQueries,
                  d.width, false});
  if (mask || d.causal) mask_scores(scores, mask, d, b);
}

// Turns scores into weights relative to the running maximum. Updates the maximum, the divisor, and
// the sums, which were relative to the previous maximum.
void soften(const AttentionScratch& s, const attention_dims& d, int keys) {
  const F32 f;
  const Vec nothing = hn::Set(f, kNothing);
  for (int column = 0; column < kQueries; column += lanes()) {
    float* const scores = s.scores + column;
    const Vec before = hn::Load(f, s.largest + column);
    Vec largest = before;
    for (int i = 0; i < keys; ++i) {
      largest = hn::Max(largest, hn::Load(f, scores + i * kQueries));
    }
    hn::Store(largest, f, s.largest + column);
    // For a query that has seen no key yet any finite number will do.
    const Vec base = hn::IfThenZeroElse(hn::Eq(largest, nothing), largest);
    Vec sum = hn::Zero(f);
    for (int i = 0; i < keys; ++i) {
      float* const at = scores + i * kQueries;
      const Vec weight = exp_of_negative(hn::Sub(hn::Load(f, at), base));
      hn::Store(weight, f, at);
      sum = hn::Add(sum, weight);
    }
    const Vec factor = exp_of_negative(hn::Sub(before, base));
    hn::Store(hn::MulAdd(hn::Load(f, s.divisor + column), factor, sum), f, s.divisor + column);
    float* const sums = s.sums + column;
    for (int j = 0; j < d.value_width; ++j) {
      float* const at = sums + static_cast<ptrdiff_t>(j) * kQueries;
      hn::Store(hn::Mul(hn::Load(f, at), factor), f, at);
    }
  }
}

void drop_weights(float* weights, const Dropout& dropout, const AttentionBlock& b) {
  const F32 f;
  HWY_ALIGN float factors[kQueries];
  for (int i = 0; i < b.keys; ++i, weights += kQueries) {
    dropout.draw(factors, b, b.key + i);
    for (int j = 0; j < kQueries; j += lanes()) {
      hn::Store(hn::Mul(hn::Load(f, weights + j), hn::Load(f, factors + j)), f, weights + j);
    }
  }
}

// Divides the sums and stores them.
void finish_queries(float* y, float* lse, const AttentionScratch& s, const attention_dims& d,
                    const AttentionBlock& b) {
  const F32 f;
  for (int column = 0; column < kQueries; column += lanes()) {
    const Vec divisor = hn::Load(f, s.divisor + column);
    const Vec factor =
        hn::IfThenZeroElse(hn::Eq(divisor, hn::Zero(f)), hn::Div(hn::Set(f, 1.0F), divisor));
    for (int j = 0; j < d.value_width; ++j) {
      float* const at = s.sums + static_cast<ptrdiff_t>(j) * kQueries + column;
      hn::Store(hn::Mul(hn::Load(f, at), factor), f, at);
    }
    const Vec log = hn::Add(hn::Load(f, s.largest + column), hn::Log(f, divisor));
    hn::Store(hn::IfThenElse(hn::Eq(divisor, hn::Zero(f)), hn::Set(f, kNothing), log), f,
              s.divisor + column);
  }
  const HeadRows rows = query_rows(d, b.n, b.head, b.query, d.value_width);
  transpose_copy(y + rows.at, rows.pitch, s.sums, kQueries, d.value_width, b.queries);
  std::copy_n(s.divisor, b.queries, lse + (int64_t{b.n} * d.heads + b.head) * d.queries + b.query);
}

void attention_target(float* y, float* lse, const uint32_t* rng, const float* q, const float* k,
                      const float* v, const void* mask, void* workspace, const attention_dims& d,
                      parallel::ThreadPool& pool) {
  const Dropout dropout(rng, d);
  simd::Workspace counter(nullptr);
  carve_attention(counter, d);
  const int64_t scratch_bytes = counter.bytes();
  const int blocks = (d.queries + kQueries - 1) / kQueries;
  const int64_t tasks = int64_t{d.batch} * d.heads * blocks;
  pool.run_with_worker(tasks, [&](int64_t task, int worker) HWY_ATTR {
    simd::Workspace own(static_cast<char*>(workspace) + worker * scratch_bytes);
    const AttentionScratch s = carve_attention(own, d);
    // The last queries see the most keys under a causal mask, so they start first.
    AttentionBlock b{};
    b.query = (blocks - 1 - static_cast<int>(task % blocks)) * kQueries;
    b.queries = std::min(kQueries, d.queries - b.query);
    b.head = static_cast<int>(task / blocks % d.heads);
    b.n = static_cast<int>(task / blocks / d.heads);
    const HeadRows rows = query_rows(d, b.n, b.head, b.query, d.width);
    pack_transposed(s.q, kQueries, q + rows.at, rows.pitch, d.width, b.queries);
    scale_floats(s.q, int64_t{d.width} * kQueries, static_cast<float>(d.scale));
    std::fill_n(s.largest, kQueries, kNothing);
    std::fill_n(s.divisor, kQueries, 0.0F);
    std::fill_n(s.sums, int64_t{d.value_width} * kQueries, 0.0F);
    const int end = visible_keys(d, b.query + b.queries);
    for (b.key = 0; b.key < end; b.key += kKeys) {
      b.keys = std::min(kKeys, end - b.key);
      block_scores(s.scores, k, s.q, mask, d, b);
      soften(s, d, b.keys);
      if (dropout.on()) drop_weights(s.scores, dropout, b);
      const HeadRows values = key_rows(d, b.n, b.head / (d.heads / d.groups), b.key, d.value_width);
      multiply_block({s.sums, kQueries, v + values.at, 1, values.pitch, s.scores, kQueries,
                      d.value_width, kQueries, b.keys, true});
    }
    finish_queries(y, lse, s, d, b);
  });
}

// Loads a block of queries for the backward pass.
void load_queries(const AttentionGradScratch& s, const float* dy, const float* q, const float* y,
                  const float* lse, const attention_dims& d, const AttentionBlock& b) {
  const auto scale = static_cast<float>(d.scale);
  const HeadRows rows = query_rows(d, b.n, b.head, b.query, d.width);
  pack_transposed(s.q, kQueries, q + rows.at, rows.pitch, d.width, b.queries);
  scale_floats(s.q, int64_t{d.width} * kQueries, scale);
  const auto wide = static_cast<int>(padded(d.width));
  pack_rows(s.q_rows, wide, q + rows.at, rows.pitch, b.queries, d.width);
  scale_floats(s.q_rows, int64_t{wide} * b.queries, scale);
  const HeadRows results = query_rows(d, b.n, b.head, b.query, d.value_width);
  pack_transposed(s.dy, kQueries, dy + results.at, results.pitch, d.value_width, b.queries);
  pack_rows(s.dy_rows, static_cast<int>(padded(d.value_width)), dy + results.at, results.pitch,
            b.queries, d.value_width);
  const float* const logs = lse + (int64_t{b.n} * d.heads + b.head) * d.queries + b.query;
  for (int i = 0; i < kQueries; ++i) {
    const bool sees = i < b.queries && logs[i] != kNothing;
    s.lse[i] = sees ? logs[i] : -kNothing;
    s.delta[i] = 0.0F;
    if (!sees) continue;
    const int64_t at = results.at + i * results.pitch;
    s.delta[i] = row_sum(d.value_width, [=](auto io, int64_t j) HWY_ATTR {
      return hn::Mul(io.load(dy + at, j), io.load(y + at, j));
    });
  }
  std::fill_n(s.dq, int64_t{d.width} * kQueries, 0.0F);
}

// Turns scores into weights after dropout, and dscores from dy v^T into the gradient of the scaled
// products.
void soften_grad(const AttentionGradScratch& s, const Dropout& dropout, const AttentionBlock& b) {
  const F32 f;
  HWY_ALIGN float factors[kQueries];
  for (int i = 0; i < b.keys; ++i) {
    if (dropout.on()) dropout.draw(factors, b, b.key + i);
    for (int j = 0; j < kQueries; j += lanes()) {
      float* const score = s.scores + i * kQueries + j;
      float* const dscore = s.dscores + i * kQueries + j;
      const Vec weight = exp_of_negative(hn::Sub(hn::Load(f, score), hn::Load(f, s.lse + j)));
      const Vec kept = dropout.on() ? hn::Load(f, factors + j) : hn::Set(f, 1.0F);
      hn::Store(hn::Mul(weight, kept), f, score);
      const Vec dweight = hn::MulSub(hn::Load(f, dscore), kept, hn::Load(f, s.delta + j));
      hn::Store(hn::Mul(weight, dweight), f, dscore);
    }
  }
}

// All queries of one group of heads; no other task adds to the gradients of its keys and values.
void attention_grad_group(float* dq, float* dk, float* dv, const Dropout& dropout, const float* dy,
                          const float* q, const float* k, const float* v, const float* y,
                          const float* lse, const void* mask, const AttentionGradScratch& s,
                          const attention_dims& d, int n, int group) {
  const HeadRows keys = key_rows(d, n, group, 0, d.width);
  const HeadRows values = key_rows(d, n, group, 0, d.value_width);
  for (int i = 0; i < d.keys; ++i) {
    std::fill_n(dk + keys.at + i * keys.pitch, d.width, 0.0F);
    std::fill_n(dv + values.at + i * values.pitch, d.value_width, 0.0F);
  }
  const int heads = d.heads / d.groups;
  AttentionBlock b{};
  b.n = n;
  for (b.head = group * heads; b.head < (group + 1) * heads; ++b.head) {
    for (b.query = 0; b.query < d.queries; b.query += kQueries) {
      b.queries = std::min(kQueries, d.queries - b.query);
      load_queries(s, dy, q, y, lse, d, b);
      const int end = visible_keys(d, b.query + b.queries);
      for (b.key = 0; b.key < end; b.key += kKeys) {
        b.keys = std::min(kKeys, end - b.key);
        const ptrdiff_t key = keys.at + b.key * keys.pitch;
        const ptrdiff_t value = values.at + b.key * values.pitch;
        block_scores(s.scores, k, s.q, mask, d, b);
        multiply_block({s.dscores, kQueries, v + value, values.pitch, 1, s.dy, kQueries, b.keys,
                        kQueries, d.value_width, false});
        soften_grad(s, dropout, b);
        multiply_block({dv + value, values.pitch, s.scores, kQueries, 1, s.dy_rows,
                        static_cast<ptrdiff_t>(padded(d.value_width)), b.keys, d.value_width,
                        b.queries, true});
        multiply_block({dk + key, keys.pitch, s.dscores, kQueries, 1, s.q_rows,
                        static_cast<ptrdiff_t>(padded(d.width)), b.keys, d.width, b.queries, true});
        multiply_block({s.dq, kQueries, k + key, 1, keys.pitch, s.dscores, kQueries, d.width,
                        kQueries, b.keys, true});
      }
      scale_floats(s.dq, int64_t{d.width} * kQueries, static_cast<float>(d.scale));
      const HeadRows rows = query_rows(d, n, b.head, b.query, d.width);
      transpose_copy(dq + rows.at, rows.pitch, s.dq, kQueries, d.width, b.queries);
    }
  }
}

void attention_grad_target(float* dq, float* dk, float* dv, const uint32_t* rng, const float* dy,
                           const float* q, const float* k, const float* v, const float* y,
                           const float* lse, const void* mask, void* workspace,
                           const attention_dims& d, parallel::ThreadPool& pool) {
  const Dropout dropout(rng, d);
  simd::Workspace counter(nullptr);
  carve_attention_grad(counter, d);
  const int64_t scratch_bytes = counter.bytes();
  pool.run_with_worker(int64_t{d.batch} * d.groups, [&](int64_t task, int worker) HWY_ATTR {
    simd::Workspace own(static_cast<char*>(workspace) + worker * scratch_bytes);
    attention_grad_group(dq, dk, dv, dropout, dy, q, k, v, y, lse, mask,
                         carve_attention_grad(own, d), d, static_cast<int>(task / d.groups),
                         static_cast<int>(task % d.groups));
  });
}

}  // namespace thimble::ops::scaled_dot_product_attention_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::scaled_dot_product_attention_impl {
HWY_EXPORT(attention_target);
HWY_EXPORT(attention_grad_target);

int64_t attention_workspace_bytes(const attention_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_attention(counter, d);
  return counter.bytes() * threads;
}

int64_t attention_grad_workspace_bytes(const attention_dims& d, int threads) {
  simd::Workspace counter(nullptr);
  carve_attention_grad(counter, d);
  return counter.bytes() * threads;
}

void attention_simd(float* y, float* lse, const uint32_t* rng, const float* q, const float* k,
                    const float* v, const void* mask, void* workspace, const attention_dims* d,
                    parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(attention_target)(y, lse, rng, q, k, v, mask, workspace, *d, pool);
}

void attention_grad_simd(float* dq, float* dk, float* dv, const uint32_t* rng, const float* dy,
                         const float* q, const float* k, const float* v, const float* y,
                         const float* lse, const void* mask, void* workspace,
                         const attention_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(attention_grad_target)
  (dq, dk, dv, rng, dy, q, k, v, y, lse, mask, workspace, *d, pool);
}

}  // namespace thimble::ops::scaled_dot_product_attention_impl
#endif
