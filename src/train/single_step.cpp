#include "train/single_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace thimble::train {
namespace {

// The one batch of a stream, which was held to what the budget leaves.
const data::Batch& only_batch(const State& state, BatchStream& stream) {
  state.limit(stream);
  stream.start(0, 0);
  const data::Batch* const batch = stream.next();
  if (batch == nullptr) throw Error("batch", "there are no samples");
  return *batch;
}

void check_samples(const State& state, const BatchStream& stream, const char* where) {
  if (!state.model.loss) throw Error(where, "the graph has no loss; call Graph::minimize");
  if (stream.samples() >= 1 && stream.samples() <= state.options.batch) return;
  throw Error(where, fmt::format("expected 1 to {} samples, the trainer's batch; got {}",
                                 state.options.batch, stream.samples()));
}

// Adds `share` times the elements of a program's output to a sum.
void add(std::span<const std::byte> output, double share, float* sum) {
  for (size_t i = 0; i < output.size() / sizeof(float); ++i) {
    float value = 0.0F;
    std::memcpy(&value, output.data() + i * sizeof(float), sizeof value);
    sum[i] += static_cast<float>(share) * value;
  }
}

}  // namespace

Evaluation single_step(State& state, BatchStream& stream) {
  check_samples(state, stream, "step");
  Feed feed(state.model, stream, true);
  const exec::Counting counting(state.account);
  state.prepare_training(stream.samples());
  static_cast<void>(state.step(only_batch(state, stream), feed));
  return state.step_sums().mean(state.finishes);
}

Evaluation single_gradients(
    State& state, BatchStream& stream,
    const std::function<float*(const std::string& name, const Shape& shape)>& room) {
  check_samples(state, stream, "gradients");
  Feed feed(state.model, stream, true);
  const exec::Counting counting(state.account);
  const int64_t count = stream.samples();
  for_each_micro_batch(count, state.micro_batch_size(), [&](const MicroBatch& micro_batch) {
    state.program(ProgramKind::gradients, micro_batch.count);
  });
  const program::Program& program =
      state.program(ProgramKind::gradients, std::min(count, state.micro_batch_size()))
          .program->data();
  std::vector<std::pair<std::string, float*>> sums;
  for (const auto& [name, id] : program.outputs) {
    sums.emplace_back(name, room(name, program.tensor(id).type.shape));
  }
  state.gradients(only_batch(state, stream), feed, [&](const exec::Session& session, double share) {
    for (const auto& [name, sum] : sums) add(session.output(name), share, sum);
  });
  return state.step_sums().mean(state.finishes);
}

}  // namespace thimble::train
