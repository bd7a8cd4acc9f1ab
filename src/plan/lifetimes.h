// Lifetimes of values in a step whose order is fixed, and which values share a buffer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "plan/nth.h"

namespace thimble::plan {

inline constexpr int64_t kPersistent = -1;  // bytes of a value outside the arena

// A sequence of steps that read and write numbered values: the nodes of a graph, or a planner's
// trial in which some nodes are recomputed.
class Sequence {
 public:
  struct Step {
    const ir::OpDef* op;
    int first;  // index of its first value in values_
    int inputs;
    int outputs;
    int64_t workspace;  // bytes
  };

  // bytes: of each value. results: values that are read after the last step.
  Sequence(std::vector<int64_t> bytes, std::vector<int> results)
      : bytes_(std::move(bytes)), results_(std::move(results)) {}

  // Clears it and keeps its memory.
  void assign(std::span<const int64_t> bytes, std::span<const int> results);
  void add_value(int64_t bytes) { bytes_.push_back(bytes); }

  // Inputs of -1 are skipped. A value is written once. A value that no step writes is a source.
  void add(const ir::OpDef& op, std::span<const int> inputs, std::span<const int> outputs,
           int64_t workspace);
  // Adds a step of another sequence. Values have other numbers here: read(id) gives that of an
  // input, made(id) that of an output.
  template <typename Read, typename Made>
  void add(const Sequence& from, int n, const Read& read, const Made& made) {
    Step step = from.step(n);
    step.first = static_cast<int>(values_.size());
    steps_.push_back(step);
    for (const int id : from.inputs(n)) values_.push_back(id < 0 ? -1 : read(id));
    for (const int id : from.outputs(n)) values_.push_back(made(id));
  }
  void reserve(size_t steps, size_t values_of_steps);

  [[nodiscard]] int size() const { return static_cast<int>(steps_.size()); }
  [[nodiscard]] const Step& step(int n) const { return nth(steps_, n); }
  [[nodiscard]] std::span<const int> inputs(int n) const {
    return {values_.data() + step(n).first, static_cast<size_t>(step(n).inputs)};
  }
  [[nodiscard]] std::span<const int> outputs(int n) const {
    return {values_.data() + step(n).first + step(n).inputs, static_cast<size_t>(step(n).outputs)};
  }
  // Number of reads and writes of all steps.
  [[nodiscard]] size_t ids() const { return values_.size(); }
  [[nodiscard]] int values() const { return static_cast<int>(bytes_.size()); }
  [[nodiscard]] int64_t bytes(int id) const { return nth(bytes_, id); }
  [[nodiscard]] const std::vector<int>& results() const { return results_; }

 private:
  std::vector<Step> steps_;
  std::vector<int> values_;
  std::vector<int64_t> bytes_;
  std::vector<int> results_;
};

// Bytes of each value in the arena, or kPersistent.
[[nodiscard]] std::vector<int64_t> value_bytes(const ir::Graph& graph);

// The nodes of a graph in their order. workspaces: bytes, by node; empty: none.
[[nodiscard]] Sequence sequence_of(const ir::Graph& graph, std::span<const int64_t> workspaces);

struct Lifetime {
  int birth = 0;  // the first step
  int death = 0;  // one past the last step; at most birth if nothing reads the value
};

// Groups of values that share one buffer. Views always share. An output shares the buffer of an
// input that dies at the same step if the op allows it.
class Sharing {
 public:
  // The sequence must outlive this object, or be replaced by the next call of find.
  Sharing(const Sequence& sequence, bool in_place) { find(sequence, in_place); }
  Sharing() = default;  // empty until find
  // Clears it and keeps its memory.
  void find(const Sequence& sequence, bool in_place);

  // The first value of the group.
  [[nodiscard]] int leader_of(int id) const { return nth(leader_, id); }
  // The lifetime of a leader is that of its whole group.
  [[nodiscard]] Lifetime life(int leader) const { return nth(lives_, leader); }
  // Whether the value owns a buffer: it leads its group, lies in the arena, and something reads or
  // writes it.
  [[nodiscard]] bool has_buffer(int id) const {
    return sequence_->bytes(id) != kPersistent && leader_of(id) == id &&
           life(id).death > life(id).birth;
  }

 private:
  void find_lifetimes();
  void visit(int n, bool in_place);
  [[nodiscard]] bool may_take_over(int n, const ir::Alias& alias, int input) const;
  void join(int n, const ir::Alias& alias);

  const Sequence* sequence_ = nullptr;
  std::vector<Lifetime> lives_;
  std::vector<int> leader_;
  std::vector<int> taken_;  // inputs whose buffers the visited step has taken over
};

// Bytes alive in the arena at each step, workspaces included.
[[nodiscard]] std::vector<int64_t> live_bytes(const Sequence& sequence, const Sharing& sharing);
// The largest of them; 0 if there is none.
[[nodiscard]] int64_t largest(const std::vector<int64_t>& live);

}  // namespace thimble::plan
