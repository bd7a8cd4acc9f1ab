// An image is processed as batch_norm processes a batch; then the statistics of a group's channels
// are merged. A small image is one task and stays in the cache from the statistics to the result; a
// large one is cut into blocks that all threads share.

#include "ops/families/norm/group_norm.h"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <cmath>

#include "ops/families/norm/channel_rows-inl.h"

#ifndef THIMBLE_OPS_COMMON_GROUP_NORM_ONCE_
#define THIMBLE_OPS_COMMON_GROUP_NORM_ONCE_
namespace thimble::ops {

// Scratch of one image at a time.
struct ImageScratch {
  float* first;    // [blocks, channels]: means, or sums of dy
  float* second;   // [blocks, channels]: squared deviations, or sums of dy * (x - mean)
  float* wide[4];  // per-channel constants along a wide row
  float* own[2];   // wide rows for the first thread
};

struct GroupScratch {
  ImageScratch of_thread;  // the scratch of the first thread
  int64_t distance;        // floats between the scratch of one thread and the next
  float* channels[2];      // [images, channels]: each image's gradients by beta and gamma
};

inline int64_t image_scratch_floats(const ChannelRows& r) {
  return simd::round_up(2 * r.blocks * r.channels, 16) + 6 * simd::round_up(r.width, 16);
}

inline GroupScratch carve_groups(simd::Workspace& workspace, const ChannelRows& r,
                                 const group_norm_dims& d, int threads, bool gradient) {
  GroupScratch s{};
  s.distance = image_scratch_floats(r);
  float* at = workspace.take<float>(s.distance * threads);
  const int64_t shares = gradient ? int64_t{d.images} * d.channels : 0;
  s.channels[0] = workspace.take<float>(shares);
  s.channels[1] = workspace.take<float>(shares);
  if (at == nullptr) return s;
  s.of_thread.first = at;
  s.of_thread.second = at + r.blocks * r.channels;
  at += simd::round_up(2 * r.blocks * r.channels, 16);
  for (float*& wide : s.of_thread.wide) {
    wide = at;
    at += simd::round_up(r.width, 16);
  }
  for (float*& own : s.of_thread.own) {
    own = at;
    at += simd::round_up(r.width, 16);
  }
  return s;
}

inline ImageScratch scratch_of(const GroupScratch& s, int thread) {
  ImageScratch t = s.of_thread;
  const int64_t by = thread * s.distance;
  t.first += by;
  t.second += by;
  for (float*& wide : t.wide) wide += by;
  for (float*& own : t.own) own += by;
  return t;
}

// Mean and variance of a group, merged from the statistics of its channels' blocks; see batch_norm.
inline void merge_group(float* mean, float* variance, const ImageScratch& s, const ChannelRows& r,
                        int first, int width, int positions) {
  const double count = static_cast<double>(positions) * width;
  double sum = 0.0;
  for (int64_t b = 0; b < r.blocks; ++b) {
    double means = 0.0;
    for (int c = first; c < first + width; ++c) means += s.first[b * r.channels + c];
    sum += static_cast<double>(channel_block(r, b).per_channel) * means;
  }
  const double center = sum / count;
  double squares = 0.0;
  for (int64_t b = 0; b < r.blocks; ++b) {
    const auto each = static_cast<double>(channel_block(r, b).per_channel);
    for (int c = first; c < first + width; ++c) {
      const double off = s.first[b * r.channels + c] - center;
      squares += s.second[b * r.channels + c] + each * off * off;
    }
  }
  *mean = static_cast<float>(center);
  *variance = static_cast<float>(squares / count);
}

// Whether each image is one task: when there are many images or they are small.
inline bool whole_images(const ChannelRows& r, const group_norm_dims& d) {
  constexpr int kManyImages = 16;
  return r.blocks == 1 || d.images >= kManyImages;
}

// Calls image(n, scratch, blocks) for every image. blocks(f) calls f(block, thread) for each block
// of the image, on all threads unless each image is one task.
template <class Image>
void for_each_image(const ChannelRows& r, const group_norm_dims& d, const GroupScratch& s,
                    parallel::ThreadPool& pool, const Image& image) {
  if (whole_images(r, d)) {
    pool.run_with_worker(d.images, [&](int64_t n, int thread) {
      image(n, scratch_of(s, thread), [&](const auto& f) {
        for (int64_t b = 0; b < r.blocks; ++b) f(b, thread);
      });
    });
    return;
  }
  for (int64_t n = 0; n < d.images; ++n) {
    image(n, scratch_of(s, 0), [&](const auto& f) { pool.run_with_worker(r.blocks, f); });
  }
}

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The result of one image from the statistics of its groups. blocks: see for_each_image.
template <class Blocks>
void scale_image(float* y, const float* x, const float* means, const float* variances,
                 const float* gamma, const float* beta, const ImageScratch& t, const ChannelRows& r,
                 const group_norm_dims& d, const Blocks& blocks) {
  const int width = d.channels / d.groups;
  for (int g = 0; g < d.groups; ++g) {
    const float deviation = std::sqrt(variances[g] + d.epsilon);
    for (int c = g * width; c < (g + 1) * width; ++c) {
      t.wide[0][c] = means[g];
      t.wide[1][c] = (gamma ? gamma[c] : 1.0F) / deviation;
      t.wide[2][c] = beta ? beta[c] : 0.0F;
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int at = r.channels; at < r.width; ++at) t.wide[i][at] = t.wide[i][at - r.channels];
  }
  blocks([&](int64_t b, int) {
    const ChannelBlock block = channel_block(r, b);
    map_rows(y + block.first,
             Affine<const float*>{x + block.first, t.wide[0], t.wide[1], t.wide[2], false}, block,
             r.width);
  });
}

void normalise_groups_target(float* y, float* mean, float* variance, const float* x,
                             const float* gamma, const float* beta, void* workspace,
                             const group_norm_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.positions, d.channels);
  simd::Workspace pieces(workspace);
  const GroupScratch s = carve_groups(pieces, r, d, pool.threads(), false);
  const int width = d.channels / d.groups;
  const int64_t size = int64_t{d.positions} * d.channels;
  for_each_image(r, d, s, pool, [&](int64_t n, const ImageScratch& t, const auto& blocks) {
    const float* from = x + n * size;
    blocks([&](int64_t b, int thread) {
      const ChannelBlock block = channel_block(r, b);
      const ImageScratch own = scratch_of(s, thread);
      block_statistics(t.first + b * r.channels, t.second + b * r.channels, from + block.first,
                       own.own[0], own.own[1], r, block);
    });
    float* const means = mean + n * d.groups;
    float* const variances = variance + n * d.groups;
    for (int g = 0; g < d.groups; ++g) {
      merge_group(means + g, variances + g, t, r, g * width, width, d.positions);
    }
    scale_image(y + n * size, from, means, variances, gamma, beta, t, r, d, blocks);
  });
}

void scale_groups_target(float* y, const float* x, const float* gamma, const float* beta,
                         const float* mean, const float* variance, void* workspace,
                         const group_norm_dims& d, parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.positions, d.channels);
  simd::Workspace pieces(workspace);
  const GroupScratch s = carve_groups(pieces, r, d, pool.threads(), false);
  const int64_t size = int64_t{d.positions} * d.channels;
  for_each_image(r, d, s, pool, [&](int64_t n, const ImageScratch& t, const auto& blocks) {
    scale_image(y + n * size, x + n * size, mean + n * d.groups, variance + n * d.groups, gamma,
                beta, t, r, d, blocks);
  });
}

void normalise_groups_grad_target(float* dx, float* dgamma, float* dbeta, const float* dy,
                                  const float* x, const float* mean, const float* variance,
                                  const float* gamma, void* workspace, const group_norm_dims& d,
                                  parallel::ThreadPool& pool) {
  const ChannelRows r = channel_rows(d.positions, d.channels);
  simd::Workspace pieces(workspace);
  const GroupScratch s = carve_groups(pieces, r, d, pool.threads(), true);
  const int width = d.channels / d.groups;
  const int64_t size = int64_t{d.positions} * d.channels;
  const double count = static_cast<double>(d.positions) * width;
  for_each_image(r, d, s, pool, [&](int64_t n, const ImageScratch& t, const auto& blocks) {
    float* const center = t.wide[0];
    float* const scale = t.wide[1];
    float* const slope = t.wide[2];
    float* const offset = t.wide[3];
    for (int at = 0; at < r.width; ++at) {
      center[at] = mean[n * d.groups + at % r.channels / width];
    }
    blocks([&](int64_t b, int thread) {
      const ptrdiff_t from = n * size + channel_block(r, b).first;
      block_sums(t.first + b * r.channels, t.second + b * r.channels, dy + from, x + from, center,
                 scratch_of(s, thread).own[0], r, channel_block(r, b));
    });
    for (int g = 0; g < d.groups; ++g) {
      const double inverse =
          1.0 / std::sqrt(static_cast<double>(variance[n * d.groups + g]) + d.epsilon);
      double group_sum = 0.0;
      double group_product = 0.0;
      for (int c = g * width; c < (g + 1) * width; ++c) {
        double sum = 0.0;
        double product = 0.0;
        for (int64_t b = 0; b < r.blocks; ++b) {
          sum += t.first[b * r.channels + c];
          product += t.second[b * r.channels + c];
        }
        s.channels[0][n * r.channels + c] = static_cast<float>(sum);
        s.channels[1][n * r.channels + c] = static_cast<float>(product * inverse);
        group_sum += sum * (gamma ? gamma[c] : 1.0F);
        group_product += product * inverse * (gamma ? gamma[c] : 1.0F);
      }
      for (int c = g * width; c < (g + 1) * width; ++c) {
        scale[c] = static_cast<float>((gamma ? gamma[c] : 1.0F) * inverse);
        slope[c] = static_cast<float>(-inverse * inverse * group_product / count);
        offset[c] = static_cast<float>(-inverse * group_sum / count);
      }
    }
    for (float* wide : {scale, slope, offset}) {
      for (int at = r.channels; at < r.width; ++at) wide[at] = wide[at - r.channels];
    }
    blocks([&](int64_t b, int) {
      const ptrdiff_t from = n * size + channel_block(r, b).first;
      block_dx(dx + from, dy + from, x + from, {center, scale, slope, offset}, channel_block(r, b),
               r.width);
    });
  });
  for (int c = 0; c < d.channels; ++c) {
    double sum = 0.0;
    double product = 0.0;
    for (int n = 0; n < d.images; ++n) {
      sum += s.channels[0][n * d.channels + c];
      product += s.channels[1][n * d.channels + c];
    }
    dbeta[c] = static_cast<float>(sum);
    dgamma[c] = static_cast<float>(product);
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(normalise_groups_target);
HWY_EXPORT(scale_groups_target);
HWY_EXPORT(normalise_groups_grad_target);

namespace {

int64_t workspace_bytes(const group_norm_dims& d, int threads, bool gradient) {
  simd::Workspace counter(nullptr);
  carve_groups(counter, channel_rows(d.positions, d.channels), d, threads, gradient);
  return counter.bytes();
}

}  // namespace

void check_groups(const ir::InferContext& c, int i, int64_t groups) {
  const Shape& x = c.shape(i);
  c.require(x.rank() >= 2 && x[-1] >= 1, "expected x [N, ..., C] with the channels last");
  c.require(groups >= 1 && x[-1] % groups == 0,
            fmt::format("expected groups that divide the {} channels, got {}", x[-1], groups));
}

group_norm_dims group_norm_sizes(const Shape& x, int64_t groups, double epsilon) {
  group_norm_dims d{};
  d.images = static_cast<int>(x[0]);
  d.positions = 1;
  for (int axis = 1; axis + 1 < x.rank(); ++axis) d.positions *= static_cast<int>(x[axis]);
  d.channels = static_cast<int>(x[-1]);
  d.groups = static_cast<int>(groups);
  d.epsilon = static_cast<float>(epsilon);
  return d;
}

int64_t group_norm_workspace(const ir::Params& params, int threads) {
  return workspace_bytes(params.as<group_norm_dims>(), threads, false);
}

int64_t group_norm_grad_workspace(const ir::Params& params, int threads) {
  return workspace_bytes(params.as<group_norm_dims>(), threads, true);
}

void normalise_groups(float* y, float* mean, float* variance, const float* x, const float* gamma,
                      const float* beta, void* workspace, const group_norm_dims* d,
                      parallel::ThreadPool& pool) {
  if (d->positions == 0) {
    std::fill(mean, mean + int64_t{d->images} * d->groups, 0.0F);
    std::fill(variance, variance + int64_t{d->images} * d->groups, 0.0F);
    return;
  }
  HWY_DYNAMIC_DISPATCH(normalise_groups_target)
  (y, mean, variance, x, gamma, beta, workspace, *d, pool);
}

void scale_groups(float* y, const float* x, const float* gamma, const float* beta,
                  const float* mean, const float* variance, void* workspace,
                  const group_norm_dims* d, parallel::ThreadPool& pool) {
  if (d->positions == 0) return;
  HWY_DYNAMIC_DISPATCH(scale_groups_target)
  (y, x, gamma, beta, mean, variance, workspace, *d, pool);
}

void normalise_groups_grad(float* dx, float* dgamma, float* dbeta, const float* dy, const float* x,
                           const float* mean, const float* variance, const float* gamma,
                           void* workspace, const group_norm_dims* d, parallel::ThreadPool& pool) {
  if (d->positions == 0) {
    std::fill(dgamma, dgamma + d->channels, 0.0F);
    std::fill(dbeta, dbeta + d->channels, 0.0F);
    return;
  }
  HWY_DYNAMIC_DISPATCH(normalise_groups_grad_target)
  (dx, dgamma, dbeta, dy, x, mean, variance, gamma, workspace, *d, pool);
}

}  // namespace thimble::ops
#endif
