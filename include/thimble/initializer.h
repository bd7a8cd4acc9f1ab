// Initial values of parameters.
#pragma once

#include <cstdint>

namespace thimble {

// A rule for initial values. For a weight of shape [out, ..., in], fan_in is the product of all
// dimensions but the first and fan_out the product of all but the last. Values depend only on the
// seed and the parameter's name, not on the order of creation.
struct Initializer {
  enum class Kind : uint8_t {
    constant,
    uniform,
    normal,
    variance_uniform,
    variance_normal,
    orthogonal
  };
  enum class Fan : uint8_t { in, out, average };

  Kind kind = Kind::constant;
  double a = 0.0;  // constant: the value; uniform: low; normal: mean; variance_*: scale; else gain
  double b = 0.0;  // uniform: high (excluded); normal: standard deviation
  Fan fan = Fan::in;
  int64_t zero_row = -1;  // this row of the first dimension is 0; -1: none
  bool operator==(const Initializer&) const = default;
};

namespace init {

inline Initializer constant(double value) { return {Initializer::Kind::constant, value, 0.0}; }
inline Initializer zeros() { return constant(0.0); }
inline Initializer ones() { return constant(1.0); }
inline Initializer uniform(double low, double high) {
  return {Initializer::Kind::uniform, low, high};
}
inline Initializer normal(double mean, double stddev) {
  return {Initializer::Kind::normal, mean, stddev};
}

// Variance scale / fan, uniform or normal. Sources: LeCun et al. 1998 (scale 1, fan_in); Glorot and
// Bengio 2010 (scale 1, average fan); He et al. 2015 (scale 2, fan_in).
inline Initializer lecun_uniform() { return {Initializer::Kind::variance_uniform, 1.0}; }
inline Initializer lecun_normal() { return {Initializer::Kind::variance_normal, 1.0}; }
inline Initializer xavier_uniform() {
  return {Initializer::Kind::variance_uniform, 1.0, 0.0, Initializer::Fan::average};
}
inline Initializer xavier_normal() {
  return {Initializer::Kind::variance_normal, 1.0, 0.0, Initializer::Fan::average};
}
inline Initializer he_uniform() { return {Initializer::Kind::variance_uniform, 2.0}; }
inline Initializer he_normal() { return {Initializer::Kind::variance_normal, 2.0}; }

// U(-1/sqrt(fan_in), 1/sqrt(fan_in)): what PyTorch gives its dense and convolution weights.
inline Initializer torch_default() { return {Initializer::Kind::variance_uniform, 1.0 / 3.0}; }

// Rows (or columns, where there are fewer) orthonormal, times gain. Saxe et al. 2014.
inline Initializer orthogonal(double gain = 1.0) { return {Initializer::Kind::orthogonal, gain}; }

}  // namespace init
}  // namespace thimble
