#include "ml_train/weights.h"

#include <thimble/trainer.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

// For every element in the graph's order its place in the users' order.
template <class Visit>
void for_each_place(const Weight& w, Visit visit) {
  std::array<int64_t, 4> strides{w.dims[1] * w.dims[2] * w.dims[3], w.dims[2] * w.dims[3],
                                 w.dims[3], 1};
  Dims size{};
  Dims step{};
  for (size_t i = 0; i < 4; ++i) {
    size[i] = w.dims[static_cast<size_t>(w.order[i])];
    step[i] = strides[static_cast<size_t>(w.order[i])];
  }
  const int64_t block = w.swapped_gates;
  int64_t at = 0;
  for (int64_t a = 0; a < size[0]; ++a)
    for (int64_t b = 0; b < size[1]; ++b)
      for (int64_t c = 0; c < size[2]; ++c)
        for (int64_t d = 0; d < size[3]; ++d) {
          int64_t place = a * step[0] + b * step[1] + c * step[2] + d * step[3];
          if (block > 0) {
            const int64_t column = place % w.dims[3];
            if (column < block) place += block;
            if (column >= block && column < 2 * block) place -= block;
          }
          visit(static_cast<size_t>(at++), static_cast<size_t>(place));
        }
}

struct Fans {
  double in = 1.0;
  double out = 1.0;
};

Fans fans_of(const Dims& d) {
  const auto product = [](int64_t a, int64_t b, int64_t c) {
    return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  };
  if (d[0] == 1 && d[1] == 1) {
    const auto width = static_cast<double>(d[3]);
    return {d[2] == 1 ? width : static_cast<double>(d[2]), width};
  }
  return {product(d[1], d[2], d[3]), product(d[0], d[2], d[3])};
}

// The standard library's distributions differ between implementations.
double uniform(std::mt19937& random) { return (random() + 0.5) / 4294967296.0; }

double normal(std::mt19937& random) {
  const double radius = std::sqrt(-2.0 * std::log(uniform(random)));
  return radius * std::cos(2.0 * std::numbers::pi * uniform(random));
}

std::vector<float> initial_values(const Weight& w, std::mt19937& random) {
  std::vector<float> values(static_cast<size_t>(w.elements()),
                            w.initializer == "ones" ? 1.0F : 0.0F);
  if (w.initializer == "ones" || w.initializer == "zeros") return values;
  const Fans fans = fans_of(w.dims);
  const bool lecun = w.initializer.starts_with("lecun");
  const bool xavier = w.initializer.starts_with("xavier");
  const double variance = lecun    ? 1.0 / fans.in
                          : xavier ? 2.0 / (fans.in + fans.out)
                                   : 2.0 / fans.in;
  const bool is_uniform = w.initializer.ends_with("uniform");
  const double limit = std::sqrt(3.0 * variance);
  for (float& value : values) {
    value = static_cast<float>(is_uniform ? limit * (2.0 * uniform(random) - 1.0)
                                          : std::sqrt(variance) * normal(random));
  }
  return values;
}

constexpr const char* kScale = "_scale";  // of a state's codes, behind its name

std::string in_trainer(const Weight& weight, const std::string& state) {
  return state.empty() ? weight.name : weight.name + "." + state;
}

}  // namespace

std::vector<float> Weight::in_graph(std::span<const float> from) const {
  std::vector<float> to(from.size());
  for_each_place(*this, [&](size_t graph, size_t user) { to[graph] = from[user]; });
  return to;
}

std::vector<float> Weight::from_graph(std::span<const float> from) const {
  std::vector<float> to(from.size());
  for_each_place(*this, [&](size_t graph, size_t user) { to[user] = from[graph]; });
  return to;
}

Weight& WeightStore::add(Weight weight) {
  if (Weight* const known = find(weight.name)) {
    if (known->dims != weight.dims) {
      throw std::invalid_argument("[" + weight.name +
                                  "] has other dimensions now, or in a layer that shares it");
    }
    if (known->order != weight.order || known->shape != weight.shape ||
        known->swapped_gates != weight.swapped_gates) {
      throw std::invalid_argument("[" + weight.name +
                                  "] is shared by layers that read it in different ways; layers "
                                  "of one type can share weights");
    }
    return *known;
  }
  weight.values = initial_values(weight, random_);
  weights_.push_back(std::make_unique<Weight>(std::move(weight)));
  return *(by_name_[weights_.back()->name] = weights_.back().get());
}

Weight* WeightStore::find(const std::string& name) {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<float> WeightStore::read(const Weight& weight, const std::string& state) const {
  if (state.empty() && !weight.values.empty()) return weight.values;
  return weight.from_graph(trainer_->parameter(in_trainer(weight, state)).as<float>());
}

void WeightStore::write(Weight& weight, std::span<const float> values, const std::string& state) {
  ++writes_;
  if (state.empty() && (weight.exposed || trainer_ == nullptr)) {
    weight.values.resize(values.size());
    std::copy(values.begin(), values.end(), weight.values.begin());
  }
  if (trainer_ != nullptr) {
    trainer_->set_parameter(in_trainer(weight, state),
                            Array(weight.in_graph(values), weight.shape));
  }
}

std::vector<Array> WeightStore::read_state(const Weight& weight, const std::string& state) const {
  const std::string name = in_trainer(weight, state);
  std::vector<Array> arrays{trainer_->parameter(name)};
  if (arrays[0].dtype() == DType::u8) arrays.push_back(trainer_->parameter(name + kScale));
  return arrays;
}

void WeightStore::write_state(const Weight& weight, const std::string& state,
                              const std::vector<Array>& arrays) {
  ++writes_;
  const std::string name = in_trainer(weight, state);
  trainer_->set_parameter(name, arrays[0]);
  if (arrays.size() > 1) trainer_->set_parameter(name + kScale, arrays[1]);
}

float* WeightStore::expose(Weight& weight) {
  if (weight.values.empty()) weight.values = read(weight);
  weight.exposed = true;
  return weight.values.data();
}

std::map<std::string, Array> WeightStore::in_graph() const {
  std::map<std::string, Array> values;
  for (const auto& weight : weights_) {
    values.emplace(weight->name, Array(weight->in_graph(weight->values), weight->shape));
  }
  return values;
}

void WeightStore::hold_in(Trainer* trainer) {
  for (const auto& weight : weights_) {
    if (trainer != nullptr && !weight->exposed) weight->values = {};
    if (trainer == nullptr && weight->values.empty()) weight->values = read(*weight);
  }
  trainer_ = trainer;
}

void WeightStore::push() {
  if (trainer_ == nullptr) return;
  for (const auto& weight : weights_) {
    if (!weight->exposed) continue;
    trainer_->set_parameter(weight->name, Array(weight->in_graph(weight->values), weight->shape));
  }
}

void WeightStore::pull() {
  if (trainer_ == nullptr) return;
  for (const auto& weight : weights_) {
    if (!weight->exposed) continue;
    const std::vector<float> now =
        weight->from_graph(trainer_->parameter(weight->name).as<float>());
    std::copy(now.begin(), now.end(), weight->values.begin());
  }
}

}  // namespace thimble::ml_train
