// The cases on which every unary op is tested.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/op_cases.h"

namespace thimble::test {

// values: the range of x; attrs: none for the defaults; suffix: distinguishes cases with different
// attributes.
inline std::vector<OpCase> unary_cases(const TensorSpec& values, const ir::Attrs& attrs = {},
                                       const std::string& suffix = "") {
  const std::pair<const char*, Shape> shapes[] = {
      {"matrix", {3, 7}}, {"scalar", {}}, {"empty", {0, 4}}, {"two_and_a_half_tiles", {40001}}};
  std::vector<OpCase> cases;
  for (const auto& [name, shape] : shapes) {
    TensorSpec x = values;
    x.shape = shape;
    cases.push_back({.name = name + suffix, .inputs = {x}, .attrs = attrs, .expect = {shape}});
  }
  return cases;
}

inline std::vector<OpCase> operator+(std::vector<OpCase> cases, const std::vector<OpCase>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

// Inputs that every unary op refuses, and attributes that this op refuses with a message.
inline std::vector<RejectCase> unary_rejects() {
  return {
      {.name = "doubles", .inputs = {{.shape = {2}, .dtype = DType::f64}}, .error = "cast first"}};
}
inline std::vector<RejectCase> unary_rejects(const char* name, const ir::Attrs& attrs,
                                             const char* error) {
  std::vector<RejectCase> rejects = unary_rejects();
  rejects.push_back({.name = name, .inputs = {{.shape = {2}}}, .attrs = attrs, .error = error});
  return rejects;
}

}  // namespace thimble::test
