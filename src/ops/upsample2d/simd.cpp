// A row of the result is first interpolated from two whole rows of the image, which are contiguous
// however few channels there are, and then along the row. The gradient reverses this: for each row
// of the image it adds all rows of the result to which that row contributes.

#include <hwy/highway.h>

#include <algorithm>

#include "ir/op_def.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/elements-inl.h"
#include "ops/upsample2d/dims.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_UPSAMPLE2D_ONCE_
#define THIMBLE_OPS_UPSAMPLE2D_ONCE_
namespace thimble::ops::upsample2d_impl {

struct UpsampleScratch {
  upsample_cells* columns;  // [w.to]
  upsample_cells* rows;     // [h.to]
  float* own;               // for the first thread: one row
  int64_t own_distance;
};

inline UpsampleScratch carve_upsample(simd::Workspace& pieces, const upsample2d_dims& d,
                                      int64_t row, int threads) {
  UpsampleScratch s{};
  s.columns = pieces.take<upsample_cells>(d.w.to);
  s.rows = pieces.take<upsample_cells>(d.h.to);
  s.own_distance = simd::round_up(row, 16);
  s.own = pieces.take<float>(s.own_distance * threads);
  return s;
}

inline void find_places(const UpsampleScratch& s, const upsample2d_dims& d) {
  const auto find = [&](upsample_cells* cells, const upsample_axis& axis) {
    int place = 0;
    std::generate_n(cells, axis.to, [&] { return upsample_place(place++, &axis, d.linear); });
  };
  find(s.columns, d.w);
  find(s.rows, d.h);
}

}  // namespace thimble::ops::upsample2d_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::upsample2d_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// to = from_a + weight * (from_b - from_a), n elements.
HWY_INLINE void blend(float* to, const float* from_a, const float* from_b, float weight, int n) {
  const Vec w = hn::Set(F32(), weight);
  over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
    const Vec a = io.load(from_a, i);
    io.store(hn::MulAdd(w, hn::Sub(io.load(from_b, i), a), a), to, i);
  });
}

// to += weight * from, n elements.
HWY_INLINE void add_scaled(float* to, const float* from, float weight, int64_t n) {
  const Vec w = hn::Set(F32(), weight);
  over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
    io.store(hn::MulAdd(w, io.load(from, i), io.load(to, i)), to, i);
  });
}

void upsample_row(float* to, const float* image, const upsample_cells& over, float* own,
                  const upsample_cells* columns, const upsample2d_dims& d) {
  const int64_t row = int64_t{d.w.from} * d.c;
  const float* from = image + over.first * row;
  if (over.weight != 0.0 && over.first != over.second) {
    blend(own, from, image + over.second * row, static_cast<float>(over.weight),
          static_cast<int>(row));
    from = own;
  }
  for (int q = 0; q < d.w.to; ++q, to += d.c) {
    const float* left = from + int64_t{columns[q].first} * d.c;
    const float* right = from + int64_t{columns[q].second} * d.c;
    const float along = static_cast<float>(columns[q].weight);
    if (d.c < lanes()) {
      for (int c = 0; c < d.c; ++c) to[c] = left[c] + along * (right[c] - left[c]);
    } else {
      blend(to, left, right, along, d.c);
    }
  }
}

void upsample2d_target(float* y, const float* x, void* workspace, const upsample2d_dims& d,
                       parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  const int64_t row = int64_t{d.w.from} * d.c;
  const int64_t wide = int64_t{d.w.to} * d.c;
  const UpsampleScratch s = carve_upsample(pieces, d, row, pool.threads());
  find_places(s, d);
  const int64_t rows = int64_t{d.n} * d.h.to;
  const int64_t each = std::max<int64_t>(1, kTileElements / std::max<int64_t>(1, wide));
  pool.run_with_worker(simd::divide_up(rows, each), [&](int64_t task, int worker) HWY_ATTR {
    float* const own = s.own + worker * s.own_distance;
    const int64_t end = std::min(rows, (task + 1) * each);
    for (int64_t r = task * each; r < end; ++r) {
      const float* image = x + r / d.h.to * d.h.from * row;
      upsample_row(y + r * wide, image, s.rows[r % d.h.to], own, s.columns, d);
    }
  });
}

// One row of dx: adds the rows of dy to which it contributes, then sums over their columns.
void upsample_grad_row(float* to, const float* image, int h, float* own, const UpsampleScratch& s,
                       const upsample2d_dims& d) {
  const int64_t wide = int64_t{d.w.to} * d.c;
  std::fill(own, own + wide, 0.0F);
  const upsample_cells* const last = s.rows + d.h.to;
  const upsample_cells* p = std::partition_point(
      s.rows, s.rows + d.h.to, [h](const upsample_cells& cells) { return cells.second < h; });
  for (; p != last && p->first <= h; ++p) {
    const double weight =
        (p->first == h ? 1.0 - p->weight : 0.0) + (p->second == h ? p->weight : 0.0);
    add_scaled(own, image + (p - s.rows) * wide, static_cast<float>(weight), wide);
  }
  std::fill(to, to + int64_t{d.w.from} * d.c, 0.0F);
  for (int q = 0; q < d.w.to; ++q, own += d.c) {
    float* left = to + int64_t{s.columns[q].first} * d.c;
    float* right = to + int64_t{s.columns[q].second} * d.c;
    const float along = static_cast<float>(s.columns[q].weight);
    if (d.c < lanes()) {
      for (int c = 0; c < d.c; ++c) left[c] += (1.0F - along) * own[c];
      for (int c = 0; along != 0.0F && c < d.c; ++c) right[c] += along * own[c];
    } else {
      add_scaled(left, own, 1.0F - along, d.c);
      if (along != 0.0F) add_scaled(right, own, along, d.c);
    }
  }
}

void upsample2d_grad_target(float* dx, const float* dy, void* workspace, const upsample2d_dims& d,
                            parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  const int64_t row = int64_t{d.w.from} * d.c;
  const int64_t wide = int64_t{d.w.to} * d.c;
  const UpsampleScratch s = carve_upsample(pieces, d, wide, pool.threads());
  find_places(s, d);
  const int64_t rows = int64_t{d.n} * d.h.from;
  const int64_t work = std::max<int64_t>(1, d.h.to * wide / d.h.from);
  const int64_t each = std::max<int64_t>(1, kTileElements / work);
  pool.run_with_worker(simd::divide_up(rows, each), [&](int64_t task, int worker) HWY_ATTR {
    float* const own = s.own + worker * s.own_distance;
    const int64_t end = std::min(rows, (task + 1) * each);
    for (int64_t r = task * each; r < end; ++r) {
      const float* image = dy + r / d.h.from * d.h.to * wide;
      upsample_grad_row(dx + r * row, image, static_cast<int>(r % d.h.from), own, s, d);
    }
  });
}

}  // namespace thimble::ops::upsample2d_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::upsample2d_impl {
HWY_EXPORT(upsample2d_target);
HWY_EXPORT(upsample2d_grad_target);

int64_t upsample2d_workspace(const ir::Params& params, int threads) {
  const auto d = params.as<upsample2d_dims>();
  simd::Workspace counter(nullptr);
  carve_upsample(counter, d, int64_t{d.w.from} * d.c, threads);
  return counter.bytes();
}

int64_t upsample2d_grad_workspace(const ir::Params& params, int threads) {
  const auto d = params.as<upsample2d_dims>();
  simd::Workspace counter(nullptr);
  carve_upsample(counter, d, int64_t{d.w.to} * d.c, threads);
  return counter.bytes();
}

void upsample2d_simd(float* y, const float* x, void* workspace, const upsample2d_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(upsample2d_target)(y, x, workspace, *d, pool);
}

void upsample2d_grad_simd(float* dx, const float* dy, void* workspace, const upsample2d_dims* d,
                          parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(upsample2d_grad_target)(dx, dy, workspace, *d, pool);
}

}  // namespace thimble::ops::upsample2d_impl
#endif
