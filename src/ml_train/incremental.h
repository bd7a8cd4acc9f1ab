// Sequences whose rows are computed call by call. Attention keeps the keys and values of all rows,
// so that a call computes its own rows alone.
#pragma once

#include <thimble/predictor.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ml_train/network.h"

namespace thimble::ml_train {

class ModelNode;

// What a call computed for one output of the model.
struct NewOutput {
  Dim dim;              // of the new rows
  const float* values;  // [batch, c, rows, w], valid until the next call
};

class IncrementalRun {
 public:
  // Throws std::invalid_argument where a layer of the model mixes rows.
  IncrementalRun(ModelNode& model, int64_t batch);

  [[nodiscard]] int64_t batch() const { return batch_; }
  // Rows [from, to) of every sequence. inputs: [batch, c, h, w] of the model's input sizes, whose
  // first to - from rows are read; of indexes for an embedding the first to - from indexes. Throws
  // std::invalid_argument where rows before `from` were not computed yet, or there are fewer rows.
  std::vector<NewOutput> run(const std::vector<float*>& inputs, int64_t from, int64_t to);

 private:
  struct Program {
    BuiltNetwork network;
    Predictor predictor;
  };

  [[nodiscard]] bool has_indexes(const Port& input) const;
  Program& program(int64_t count, int64_t before);
  [[nodiscard]] std::map<std::string, Array> values_of(const Program& program,
                                                       const std::vector<float*>& inputs,
                                                       int64_t from, int64_t to) const;
  void keep(const Program& program, int64_t from, int64_t to);

  ModelNode& model_;
  int64_t batch_;
  int64_t capacity_ = 0;  // rows of a sequence
  int64_t done_ = 0;      // rows that were computed
  std::map<std::pair<int64_t, int64_t>, Program> programs_;
  std::map<std::string, std::vector<float>> caches_;  // [batch, capacity, heads, width]
  std::map<std::string, Array> outputs_;
};

}  // namespace thimble::ml_train
