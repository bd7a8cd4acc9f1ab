#include <algorithm>
#include <cmath>
#include <numbers>

#include "exec/memory.h"
#include "ir/element.h"
#include "simd/philox.h"

namespace thimble::exec {
namespace {

// The random numbers of one parameter.
class Stream {
 public:
  Stream(uint64_t seed, const std::string& name)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)} {
    uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a hash of the name
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    hash_[0] = static_cast<uint32_t>(hash);
    hash_[1] = static_cast<uint32_t>(hash >> 32);
  }

  // Uniform in [0, 1).
  double uniform() {
    if (used_ == 4) {
      const uint32_t counter[4] = {block_++, 0, hash_[0], hash_[1]};
      words_ = philox(counter, key_);
      used_ = 0;
    }
    return static_cast<double>(philox_unit(words_.v[used_++]));
  }

  // Standard normal, by Box and Muller 1958.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  uint32_t key_[2];
  uint32_t hash_[2];
  uint32_t block_ = 0;
  int used_ = 4;
  philox_block words_{};
};

double fan_of(Initializer::Fan fan, const Shape& shape) {
  const double n = static_cast<double>(shape.elements());
  const double in = shape.rank() == 0 ? 1.0 : n / static_cast<double>(shape[0]);
  const double out = shape.rank() < 2 ? in : n / static_cast<double>(shape[-1]);
  switch (fan) {
    case Initializer::Fan::in:
      return in;
    case Initializer::Fan::out:
      return out;
    case Initializer::Fan::average:
      break;
  }
  return 0.5 * (in + out);
}

// Modified Gram-Schmidt over the shorter side of the matrix [shape[0], rest].
void fill_orthogonal(double gain, Stream& stream, const Shape& shape, float* out) {
  const auto rows = static_cast<size_t>(shape.rank() == 0 ? 1 : shape[0]);
  const size_t cols = static_cast<size_t>(shape.elements()) / rows;
  const size_t vectors = std::min(rows, cols);
  const size_t length = std::max(rows, cols);
  std::vector<double> q(vectors * length);
  for (double& x : q) x = stream.normal();
  for (size_t i = 0; i < vectors; ++i) {
    double* const v = q.data() + i * length;
    for (size_t j = 0; j < i; ++j) {
      const double* const u = q.data() + j * length;
      double dot = 0.0;
      for (size_t k = 0; k < length; ++k) dot += u[k] * v[k];
      for (size_t k = 0; k < length; ++k) v[k] -= dot * u[k];
    }
    double norm = 0.0;
    for (size_t k = 0; k < length; ++k) norm += v[k] * v[k];
    for (size_t k = 0; k < length; ++k) v[k] /= std::sqrt(norm);
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < cols; ++c) {
      const double value = rows <= cols ? q[r * length + c] : q[c * length + r];
      out[r * cols + c] = static_cast<float>(gain * value);
    }
  }
}

void fill_all(const Initializer& init, const std::string& name, uint64_t seed, const Shape& shape,
              float* out) {
  Stream stream(seed, name);
  const auto n = static_cast<size_t>(shape.elements());
  if (n == 0) return;
  double low = init.a;
  double high = init.b;
  double mean = init.a;
  double stddev = init.b;
  using Kind = Initializer::Kind;
  if (init.kind == Kind::variance_uniform) {
    high = std::sqrt(3.0 * init.a / fan_of(init.fan, shape));
    low = -high;
  }
  if (init.kind == Kind::variance_normal) {
    mean = 0.0;
    stddev = std::sqrt(init.a / fan_of(init.fan, shape));
  }
  switch (init.kind) {
    case Kind::constant:
      std::fill(out, out + n, static_cast<float>(init.a));
      return;
    case Kind::orthogonal:
      fill_orthogonal(init.a, stream, shape, out);
      return;
    case Kind::uniform:
    case Kind::variance_uniform:
      std::generate(out, out + n,
                    [&] { return static_cast<float>(low + (high - low) * stream.uniform()); });
      return;
    case Kind::normal:
    case Kind::variance_normal:
      std::generate(out, out + n,
                    [&] { return static_cast<float>(mean + stddev * stream.normal()); });
      return;
  }
}

}  // namespace

void fill_constant(const ir::TensorType& type, double value, std::span<std::byte> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  if (value == 0.0) return;
  const auto to = static_cast<int>(type.dtype);
  const bool floating = is_floating(type.dtype);
  const int64_t whole = type.dtype == DType::boolean ? 1 : element_int_of(value);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    if (floating) {
      element_store_real(out.data(), to, i, value);
    } else {
      element_store_int(out.data(), to, i, whole);
    }
  }
}

void fill_initial(const Initializer& init, const std::string& name, uint64_t seed,
                  const Shape& shape, float* out) {
  fill_all(init, name, seed, shape, out);
  if (shape.rank() == 0 || init.zero_row < 0 || init.zero_row >= shape[0]) return;
  const int64_t width = shape.elements() / shape[0];
  std::fill_n(out + init.zero_row * width, width, 0.0F);
}

}  // namespace thimble::exec
