#include "ir/own_constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace thimble::ir {
namespace {

// Of tables of sines and powers, which other machines may round otherwise: relative, of numbers
// above 1.
constexpr float kMostDifference = 1e-6F;

// Whether two arrays of one type hold the same numbers.
bool are_alike(const Array& a, const Array& b) {
  if (a.dtype() != DType::f32) return a == b;
  const std::span<const float> others = b.as<float>();
  return std::equal(others.begin(), others.end(), a.as<float>().begin(), [](float x, float y) {
    const float most = kMostDifference * std::max(1.0F, std::abs(x));
    return x == y || (std::isfinite(x) && std::abs(x - y) <= most);
  });
}

}  // namespace

Value own_constant(Graph& graph, const std::string& name, const Array& values) {
  const Value known = graph.own_constant(name, [&] { return values; });
  const ValueData& have = graph.data(known.id());
  const TensorType wanted{values.dtype(), values.shape()};
  if (have.role == Role::constant && have.type == wanted && are_alike(*have.data, values)) {
    return known;
  }
  throw Error(name, fmt::format("is thimble's own constant {}, but the graph has a {} {} of that "
                                "name with other values; write the model file anew",
                                to_string(wanted), to_string(have.role), to_string(have.type)));
}

}  // namespace thimble::ir
