#include "plan/lifetimes.h"

#include <algorithm>
#include <numeric>

#include "plan/nth.h"

namespace thimble::plan {
namespace {

// The input that an alias names, or -1 if it is left out.
int input_of(std::span<const int> inputs, const ir::Alias& alias) {
  const auto index = static_cast<size_t>(alias.in);
  return index < inputs.size() ? inputs[index] : -1;
}

}  // namespace

void Sequence::add(const ir::OpDef& op, std::span<const int> inputs, std::span<const int> outputs,
                   int64_t workspace) {
  steps_.push_back({&op, static_cast<int>(values_.size()), static_cast<int>(inputs.size()),
                    static_cast<int>(outputs.size()), workspace});
  values_.insert(values_.end(), inputs.begin(), inputs.end());
  values_.insert(values_.end(), outputs.begin(), outputs.end());
}

void Sequence::assign(std::span<const int64_t> bytes, std::span<const int> results) {
  steps_.clear();
  values_.clear();
  bytes_.assign(bytes.begin(), bytes.end());
  results_.assign(results.begin(), results.end());
}

void Sequence::reserve(size_t steps, size_t values_of_steps) {
  steps_.reserve(steps);
  values_.reserve(values_of_steps);
}

std::vector<int64_t> value_bytes(const ir::Graph& graph) {
  std::vector<int64_t> bytes;
  bytes.reserve(graph.values.size());
  for (const ir::ValueData& data : graph.values) {
    bytes.push_back(ir::is_persistent(data.role) ? kPersistent
                                                 : size_bytes(data.type.dtype, data.type.shape));
  }
  return bytes;
}

Sequence sequence_of(const ir::Graph& graph, std::span<const int64_t> workspaces) {
  Sequence sequence(value_bytes(graph), graph.results());
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    sequence.add(*node.op, node.inputs, node.outputs, workspaces.empty() ? 0 : workspaces[n]);
  }
  return sequence;
}

void Sharing::find(const Sequence& sequence, bool in_place) {
  sequence_ = &sequence;
  lives_.assign(static_cast<size_t>(sequence.values()), {});
  leader_.resize(lives_.size());
  std::iota(leader_.begin(), leader_.end(), 0);
  find_lifetimes();
  for (int n = 0; n < sequence.size(); ++n) visit(n, in_place);
}

void Sharing::find_lifetimes() {
  const int end = sequence_->size();
  for (int n = 0; n < end; ++n) {
    for (const int id : sequence_->outputs(n)) nth(lives_, id) = {n, n + 1};
  }
  for (int n = 0; n < end; ++n) {
    for (const int id : sequence_->inputs(n)) {
      if (id >= 0) nth(lives_, id).death = n + 1;
    }
  }
  // Results live past the end, so that nothing takes over their buffers.
  for (const int id : sequence_->results()) nth(lives_, id).death = end + 1;
}

void Sharing::visit(int n, bool in_place) {
  const ir::OpDef& op = *sequence_->step(n).op;
  for (const ir::Alias& view : op.memory.views) join(n, view);
  for (const ir::Alias& update : op.memory.updates) join(n, update);
  if (!in_place || op.memory.in_place.empty()) return;
  taken_.clear();
  for (const ir::Alias& alias : op.memory.in_place) {
    const int input = input_of(sequence_->inputs(n), alias);
    if (!may_take_over(n, alias, input)) continue;
    const int leader = leader_of(input);
    const bool used = std::find(taken_.begin(), taken_.end(), leader) != taken_.end() ||
                      std::find(taken_.begin(), taken_.end(), -1 - alias.out) != taken_.end();
    if (used) continue;
    taken_.push_back(leader);
    taken_.push_back(-1 - alias.out);
    join(n, alias);
  }
}

bool Sharing::may_take_over(int n, const ir::Alias& alias, int input) const {
  if (input < 0 || sequence_->bytes(input) == kPersistent) return false;
  const int output = sequence_->outputs(n)[static_cast<size_t>(alias.out)];
  if (sequence_->bytes(output) != sequence_->bytes(leader_of(input))) return false;
  if (life(leader_of(input)).death > n + 1) return false;
  // A kernel that is not elementwise may read another argument after writing.
  const std::span<const int> inputs = sequence_->inputs(n);
  const auto reads = std::count_if(inputs.begin(), inputs.end(), [&](int id) {
    return id >= 0 && leader_of(id) == leader_of(input);
  });
  return reads == 1 || sequence_->step(n).op->flow.elementwise;
}

void Sharing::join(int n, const ir::Alias& alias) {
  const int input = input_of(sequence_->inputs(n), alias);
  if (input < 0 || sequence_->bytes(input) == kPersistent) return;
  const int output = sequence_->outputs(n)[static_cast<size_t>(alias.out)];
  const int leader = leader_of(input);
  nth(leader_, output) = leader;
  Lifetime& life = nth(lives_, leader);
  life.death = std::max(life.death, nth(lives_, output).death);
}

int64_t largest(const std::vector<int64_t>& live) {
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

std::vector<int64_t> live_bytes(const Sequence& sequence, const Sharing& sharing) {
  const int end = sequence.size();
  // First the change at each step, then its running sum.
  std::vector<int64_t> live(static_cast<size_t>(end), 0);
  if (end == 0) return live;
  for (int id = 0; id < sequence.values(); ++id) {
    if (!sharing.has_buffer(id)) continue;
    const Lifetime life = sharing.life(id);
    nth(live, life.birth) += sequence.bytes(id);
    if (life.death < end) nth(live, life.death) -= sequence.bytes(id);
  }
  int64_t now = 0;
  for (int n = 0; n < end; ++n) {
    now += nth(live, n);
    nth(live, n) = now + sequence.step(n).workspace;
  }
  return live;
}

}  // namespace thimble::plan
