// Uniform random numbers for tests, the same with every standard library.
#pragma once

#include <cmath>
#include <random>

namespace thimble::test {

// Draws from [low, high) with 53 random bits. std::uniform_real_distribution of libstdc++ gives the
// same numbers, but takes two logarithms in long double for each.
class Uniform {
 public:
  Uniform(double low, double high) : low_(low), high_(high) {}

  double operator()(std::mt19937& random) const {
    const auto less = static_cast<double>(random());
    const double unit = (less + static_cast<double>(random()) * 0x1p32) * 0x1p-64;
    return (unit < 1.0 ? unit : std::nextafter(1.0, 0.0)) * (high_ - low_) + low_;
  }

 private:
  double low_;
  double high_;
};

}  // namespace thimble::test
