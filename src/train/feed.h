// Copies the fields of batches to the sources of a program.
#pragma once

#include <thimble/data_loader.h>
#include <thimble/error.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/program.h"
#include "ir/graph.h"
#include "train/batch_stream.h"
#include "train/index_checks.h"
#include "train/micro_batches.h"

namespace thimble::train {

// Samples could not be read.
class ReadError : public Error {
 public:
  using Error::Error;
};

// Maps fields to inputs and labels of a model. Fields are matched by name; a model with one input
// (or label) takes the only input (label) field whatever its name.
class Feed {
 public:
  // stream: where the batches come from; must outlive the feed. with_labels: labels must be fed
  // too. Throws Error where a source has no field, or one of another type or shape.
  Feed(const ir::Graph& model, BatchStream& stream, bool with_labels);

  // Copies some samples of a batch, as many as the session's program takes, or reads them directly
  // if the stream keeps none. Throws ReadError where that fails.
  void copy(const data::Batch& batch, const MicroBatch& micro_batch, const exec::Session& session);

  // Milliseconds that copy has spent on reading since the last call.
  [[nodiscard]] double take_reading_ms();

  // Throws Error if a label, copied for the session, is ignored by a mean in the loss.
  void require_counted(const std::vector<IgnoredLabel>& ignored, const data::Batch& batch,
                       const MicroBatch& micro_batch, const exec::Session& session) const;

  // Throws Error naming the first index in a batch that an op of the model cannot look up: its
  // field, sample, op and range. consequence: the end of the message.
  void require_indices(const std::vector<IndexCheck>& checks, const data::Batch& batch,
                       const std::string& consequence);

 private:
  struct Link {
    std::string source;
    size_t field;
    int64_t sample_bytes;
    DType dtype;
    int64_t elements;  // of a sample
    // Samples of a packed type begin at whole bytes in batches, and follow each other in programs.
    [[nodiscard]] bool has_gaps() const { return train::has_gaps(dtype, elements); }
    [[nodiscard]] int64_t bytes(int64_t samples) const {
      return has_gaps() ? size_bytes(dtype, {samples * elements}) : samples * sample_bytes;
    }
  };
  // Throws Error where the program takes another number of bytes.
  static void require_size(const Link& link, const MicroBatch& micro_batch,
                           std::span<const std::byte> destination);
  // Copies samples to where a program reads them.
  static void fill(const Link& link, const std::byte* samples, int64_t count,
                   std::span<std::byte> destination);
  void read(const data::Batch& batch, const MicroBatch& micro_batch, const exec::Session& session);
  // To one destination per field. Throws ReadError.
  void read_rows(const data::Batch& batch, const MicroBatch& micro_batch,
                 std::span<void* const> places);
  // The batch with its contents; reads them into the feed's memory if the batch has none.
  [[nodiscard]] const data::Batch& whole(const data::Batch& batch);

  BatchStream& stream_;
  std::vector<Link> links_;
  std::vector<void*> places_;  // of a batch's fields, while they are read
  double reading_ms_ = 0.0;
  data::Batch whole_;
  std::vector<std::vector<std::byte>> contents_;  // of it
  std::vector<std::vector<std::byte>> rows_;      // by link: samples with gaps, while they are read
};

}  // namespace thimble::train
