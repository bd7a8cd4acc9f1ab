#include <thimble/ops/pixel_shuffle.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/transpose.h>

#include <fmt/format.h>

#include "ir/op_def.h"

// Built from reshape and transpose: there is no op of its own.
THIMBLE_OP_FOLDER(pixel_shuffle) { return {}; }

namespace thimble::ops::pixel_shuffle_impl {
namespace {

// Throws Error unless x is images and the factor is valid.
void check(const char* op, const Shape& x, int64_t r) {
  constexpr int64_t kLargest = 1 << 15;
  if (x.rank() != 4) {
    throw Error(op, "expected images [N, H, W, C], got " + to_string(x));
  }
  if (r < 1 || r > kLargest) {
    throw Error(op, fmt::format("expected a factor of 1 to {}, got {}", kLargest, r));
  }
}

}  // namespace
}  // namespace thimble::ops::pixel_shuffle_impl

namespace thimble {

Value pixel_shuffle(Value x, const PixelShuffleOptions& options) {
  const Shape& s = x.shape();
  const int64_t r = options.factor;
  ops::pixel_shuffle_impl::check("pixel_shuffle", s, r);
  if (s[3] % (r * r) != 0) {
    throw Error("pixel_shuffle", fmt::format("expected channels that are a multiple of {}, got {}",
                                             r * r, to_string(s)));
  }
  const int64_t channels = s[3] / (r * r);
  const Value blocks = reshape(x, {s[0], s[1], s[2], channels, r, r});
  return reshape(transpose(blocks, {0, 1, 4, 2, 5, 3}), {s[0], s[1] * r, s[2] * r, channels});
}

Value pixel_unshuffle(Value x, const PixelShuffleOptions& options) {
  const Shape& s = x.shape();
  const int64_t r = options.factor;
  ops::pixel_shuffle_impl::check("pixel_unshuffle", s, r);
  if (s[1] % r != 0 || s[2] % r != 0) {
    throw Error(
        "pixel_unshuffle",
        fmt::format("expected height and width that are multiples of {}, got {}", r, to_string(s)));
  }
  const Value blocks = reshape(x, {s[0], s[1] / r, r, s[2] / r, r, s[3]});
  return reshape(transpose(blocks, {0, 1, 3, 5, 2, 4}), {s[0], s[1] / r, s[2] / r, s[3] * r * r});
}

}  // namespace thimble
