// Shared by the builders of random ops: random numbers, and the values that an op may read.
#pragma once

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "harness/op_random_graphs.h"

namespace thimble::test {

class RandomBuilder {
 public:
  RandomBuilder(uint32_t seed, RandomModel& model)
      : model_(model), g_(model.graph), random_(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  size_t below(size_t n) { return static_cast<size_t>(between(0, static_cast<int64_t>(n) - 1)); }
  bool coin() { return between(0, 1) == 1; }
  Pair pair(int64_t low, int64_t high) { return {between(low, high), between(low, high)}; }

  // Later values are more likely, so that graphs are deep as well as wide.
  Value any() {
    return values_[values_.size() - 1 - std::min(below(values_.size()), below(values_.size()))];
  }
  template <class Condition>
  Value any(Condition condition) {
    std::vector<Value> fit;
    std::copy_if(values_.begin(), values_.end(), std::back_inserter(fit), condition);
    return fit.empty() ? Value()
                       : fit[fit.size() - 1 - std::min(below(fit.size()), below(fit.size()))];
  }
  // A value whose last dimension may be that of a parameter and whose first is the batch.
  Value rows() {
    return any([](const Value& v) {
      return v.shape().rank() >= 2 && v.shape()[0] == kBatch && !is_open(v.shape()[-1]);
    });
  }
  Value image() {
    return any([](const Value& v) {
      const Shape& s = v.shape();
      return s.rank() == 4 && !is_open(s[1]) && !is_open(s[2]) && !is_open(s[3]);
    });
  }

  static bool is_open(int64_t dim) { return dim >= kBatch; }
  [[nodiscard]] int64_t size_of(const Value& v) const {
    return ir::with_batch(v.shape(), model_.batch).elements();
  }
  Value number(double value) {
    return g_.constant("number_" + std::to_string(++numbers_), {}, {static_cast<float>(value)});
  }
  Value number_at_least(double low, double high) {
    return number(std::uniform_real_distribution<double>(low, high)(random_));
  }
  void add(const Value& v) { values_.push_back(v); }

  Value parameter(const Shape& shape) {
    return g_.parameter("parameter_" + std::to_string(++numbers_), shape, init::ones());
  }
  int64_t axis_of(const Value& x) {
    const int64_t rank = x.shape().rank();
    return between(-rank, rank - 1);
  }

  // An input of indices below `end`, of this shape in every sample.
  Value indices(const Shape& sample, int64_t end) {
    const std::string name = "index_" + std::to_string(++numbers_);
    model_.classes[name] = end;
    return g_.input(name, sample, DType::i32);
  }

 protected:
  RandomModel& model_;
  Graph& g_;
  std::mt19937 random_;
  std::vector<Value> values_;
  int numbers_ = 0;
};

// Each function adds an op that reads existing values, or returns false if none fits. In
// op_random_sequences.cpp.
bool add_attention(RandomBuilder& b);
bool add_recurrent_layer(RandomBuilder& b);
bool add_rows_by_index(RandomBuilder& b);
bool add_larger_image(RandomBuilder& b);

}  // namespace thimble::test
