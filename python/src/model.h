// Shared by trainers and predictors: data in, outputs out, parameters as arrays.
#pragma once

#include <memory>

#include "array_batches.h"
#include "bindings.h"
#include "exec/program.h"

namespace thimble::python {

// Makes a stream of a method's argument: a data set, arrays (an ArrayTable), or a tuple of a table
// of the first batch, a function that begins an epoch, and the number of batches. in_order: read in
// the given order.
std::unique_ptr<train::BatchStream> stream_from(const nb::object& given,
                                                const data::LoaderOptions& loader, bool in_order);

// The outputs of a model over many batches, as arrays by name. If the number of samples is known
// (above 0), results are written to their final place; else they are collected.
class PredictedRows {
 public:
  // Throws Error where the model has no output.
  PredictedRows(const ir::Graph& model, int64_t samples);
  // Appends the outputs of a batch. Needs no GIL.
  void append(const exec::Session& session, int64_t count);
  nb::dict finish() &&;

 private:
  struct Output {
    std::string name;
    ir::TensorType type;
    std::byte* array = nullptr;  // of the result, once its size is known
    size_t written = 0;
    std::vector<std::byte> collected;  // until then
  };
  void make_arrays(int64_t samples);
  static void append(Output& output, std::span<const std::byte> bytes, int64_t count);
  // Elements in NumPy's form.
  static void write(Output& output, std::span<const std::byte> bytes);

  std::vector<Output> outputs_;
  nb::dict arrays_;
  bool made_ = false;
  int64_t samples_ = 0;
};

// The model's parameters and states as arrays over the store's memory, which owner keeps alive.
// Contents of the swap file and packed ones are copied and read-only, because writes would be lost.
nb::dict model_tensors(const ir::Graph& model, const exec::Store& store, nb::handle owner);

// Throws Error where there is none of this name or the bytes are not as many, and where an element
// is outside of a packed type's range.
void check_tensor(const exec::Store& store, const std::string& name, const InputArray& values);
// The elements of an i4 that a file holds two in a byte (train/stored_tensor.h), as int8; else
// none.
nb::object unpacked_tensor(const exec::Store& store, const std::string& name,
                           const InputArray& values);
// Overwrites one of them with elements of its type. Errors: as check_tensor, and where the swap
// file fails.
void set_tensor(exec::Store& store, const std::string& name, const InputArray& values);

// The values of a constant of this name, None where there is none.
nb::object constant_tensor(const ir::Graph& model, const std::string& name);

// {name: (element type, shape of a sample)} of the inputs or labels.
nb::dict model_sources(const ir::Graph& model, ir::Role role);

}  // namespace thimble::python
