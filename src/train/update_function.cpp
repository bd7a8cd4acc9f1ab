#include "train/update_function.h"

#include <algorithm>
#include <cstring>

#include "plan/arena.h"
#include "train/update.h"

namespace thimble::train {
namespace {

constexpr size_t kFixedInputs = 4;  // parameter, gradient, learning rate, number of the update

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace

UpdateFunction::UpdateFunction(const Optimizer& optimizer, const Shape& shape, int threads) {
  const ir::OptimizerValue& value = optimizer.value();
  states_ = value.op->optimizer.states(value.settings, shape);
  std::vector<Value> inputs{graph_.source("parameter", {DType::f32, shape}, ir::Role::parameter),
                            graph_.source("gradient", {DType::f32, shape}, ir::Role::input),
                            graph_.scalar(kLearningRateName, DType::f32),
                            graph_.scalar(kUpdateNumberName, DType::i32)};
  for (const ir::StateSpec& spec : states_) {
    inputs.push_back(graph_.source(spec.name, spec.type, ir::Role::state));
  }
  graph_.add(*value.op, value.settings, inputs);
  for (const Value& input : inputs) {
    const ir::TensorType& type = graph_.type(input.id());
    buffers_.emplace_back(std::max<int64_t>(size_bytes(type.dtype, type.shape), 1));
  }
  const ir::Node& node = graph_.nodes.front();
  params_ = plan::kernel_params(graph_, node);
  workspace_ = exec::Block(plan::workspace_bytes(graph_, node, {.threads = threads}));
}

void UpdateFunction::run(std::span<float> parameter, std::span<const float> gradient,
                         std::span<const std::span<std::byte>> states, double lr, int64_t number,
                         parallel::ThreadPool& pool) {
  const auto rate = static_cast<float>(lr);
  const auto update = static_cast<int32_t>(number);
  std::vector<std::span<const std::byte>> given{std::as_bytes(parameter), std::as_bytes(gradient),
                                                bytes_of(rate), bytes_of(update)};
  given.insert(given.end(), states.begin(), states.end());
  std::vector<const void*> sources;
  for (size_t i = 0; i < given.size(); ++i) {
    std::copy(given[i].begin(), given[i].end(), buffers_[i].data());
    sources.push_back(buffers_[i].data());
  }
  std::vector<void*> results{buffers_[0].data()};
  for (size_t i = 0; i < states.size(); ++i) results.push_back(buffers_[kFixedInputs + i].data());
  const ir::OpDef& op = *graph_.nodes.front().op;
  const auto count = static_cast<int>(sources.size());
  // Kernels look for optional states, and for a momentum that is scheduled.
  sources.resize(op.signature.inputs.size(), nullptr);
  results.resize(op.signature.outputs.size(), nullptr);
  const ir::KernelFn kernel = op.kernels.fast != nullptr ? op.kernels.fast : op.kernels.ref;
  kernel({results.data(), sources.data(), workspace_.data(), params_.bytes().data(), count,
          static_cast<int>(states.size()) + 1, &pool});
  const auto copy_back = [](const exec::Block& from, std::span<std::byte> to) {
    std::copy_n(from.data(), to.size(), to.data());
  };
  copy_back(buffers_[0], std::as_writable_bytes(parameter));
  for (size_t i = 0; i < states.size(); ++i) copy_back(buffers_[kFixedInputs + i], states[i]);
}

void fill_first(const ir::StateSpec& state, std::span<std::byte> of) {
  std::fill(of.begin(), of.end(), std::byte{0});
  if (state.first == 0.0) return;
  const auto first = static_cast<float>(state.first);
  for (size_t at = 0; at + sizeof first <= of.size(); at += sizeof first) {
    std::memcpy(of.data() + at, &first, sizeof first);
  }
}

}  // namespace thimble::train
