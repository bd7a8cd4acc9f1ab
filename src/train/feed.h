// Carries the fields of batches into the sources of a program.
#pragma once

#include <thimble/data_loader.h>

#include <cstdint>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/graph.h"
#include "train/micro_batches.h"

namespace thimble::train {

// Which field feeds which input or label of a model. Matched by name; a model with one input (or
// label) takes the only input (label) field whatever its name.
class Feed {
 public:
  // with_labels: labels must be fed too. Throws Error where a source has no field, or one of
  // another type or shape.
  Feed(const ir::Graph& model, const std::vector<data::Field>& fields, bool with_labels);

  // Copies some samples of a batch, as many as the session's program takes.
  void copy(const data::Batch& batch, const Part& part, const exec::Session& session) const;

  // Throws Error where a label takes its sample out of a loss's mean.
  void require_counted(const std::vector<IgnoredLabel>& ignored, const data::Batch& batch) const;

  // Throws Error naming the first number in a batch that an op of the model has to look up and
  // cannot: its field, sample, op and the range. consequence: how the message ends. Returns where
  // there is none.
  void require_indices(const ir::Graph& model, const data::Batch& batch,
                       const std::string& consequence) const;

 private:
  struct Link {
    std::string source;
    size_t field;
    int64_t sample_bytes;
  };
  // The link that feeds a value, or a reshaped one; null: there is none.
  [[nodiscard]] const Link* link_of(const ir::Graph& model, int value) const;
  std::vector<Link> links_;
};

}  // namespace thimble::train
