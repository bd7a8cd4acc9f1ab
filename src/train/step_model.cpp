#include "train/step_model.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <cstring>
#include <string_view>

#include "train/checkpoint.h"
#include "train/compile.h"

namespace thimble::train {
namespace {

constexpr const char* kToken = "token";
constexpr const char* kPosition = "position";
constexpr const char* kLogits = "logits";
const ProgramKey kKey{0, 1};

// Sets an input of one i32. Empty: the graph does not have it.
void set(std::span<std::byte> input, int64_t value) {
  const auto number = static_cast<int32_t>(value);
  if (!input.empty()) std::memcpy(input.data(), &number, sizeof(number));
}

// Throws Error unless the input holds one i32 for a batch of 1. Empty: the graph does not have it.
void require_number(const ir::Graph& graph, const char* name, std::span<const std::byte> input) {
  for (const ir::ValueData& data : graph.values) {
    if (data.producer >= 0 || data.name != std::string_view(name) || input.empty()) continue;
    if (data.type.dtype == DType::i32 && input.size() == sizeof(int32_t)) continue;
    throw Error(name, fmt::format("expected an input of one i32 for each sample, [N, 1]; got {}",
                                  ir::to_string(data.type)));
  }
}

// Throws Error unless token and, where there is one, position are inputs of one i32.
void require_numbers(const ir::Graph& graph, const exec::Session& session) {
  if (session.source(kToken).empty()) {
    throw Error(kToken,
                "no output depends on an input of this name: the model needs one, i32 [N, 1]");
  }
  for (const char* const name : {kToken, kPosition}) {
    require_number(graph, name, session.source(name));
  }
}

}  // namespace

StepModel::StepModel(const Graph& graph, const std::string& checkpoint, int threads)
    : model_(graph.ir()), runner_(threads) {
  runner_.add(kKey, inference_graph(model_, 1, false));
  runner_.seal();
  // Before the weights are read: an unfit model is the clearer error.
  require_numbers(model_, *runner_.at(kKey).session);
  load_weights(runner_.store(), model_, checkpoint);
  runner_.rebind();  // builds the session anew
  const exec::Session& session = *runner_.at(kKey).session;
  for (const auto& [name, id] : model_.outputs) {
    if (name == kLogits) continue;
    Carried carried{session.source(name), session.output(name), {}};
    if (carried.input.size() != carried.output.size()) {
      throw Error(name, "this output has no input of its name and type to be carried to");
    }
    carried.kept.resize(carried.input.size());
    carried_.push_back(std::move(carried));
  }
}

void StepModel::restart() {
  for (Carried& carried : carried_) carried.kept.assign(carried.kept.size(), std::byte{0});
  position_ = 0;
}

std::span<const float> StepModel::step(int32_t token) {
  exec::Session& session = *runner_.at(kKey).session;
  for (const Carried& carried : carried_) {
    std::memcpy(carried.input.data(), carried.kept.data(), carried.kept.size());
  }
  set(session.source(kToken), token);
  set(session.source(kPosition), position_);
  static_cast<void>(session.run());  // never fails: there is no loss
  for (Carried& carried : carried_) {
    std::memcpy(carried.kept.data(), carried.output.data(), carried.kept.size());
  }
  ++position_;
  const std::span<const std::byte> logits = session.output(kLogits);
  return {reinterpret_cast<const float*>(logits.data()), logits.size() / sizeof(float)};
}

}  // namespace thimble::train
