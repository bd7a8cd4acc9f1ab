#include "model.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <cstring>
#include <tuple>

#include "io/safetensors/safetensors.h"
#include "train/compile.h"
#include "train/stored_tensor.h"

namespace thimble::python {

std::unique_ptr<train::BatchStream> stream_from(const nb::object& given,
                                                const data::LoaderOptions& loader, bool in_order) {
  if (nb::isinstance<data::Dataset>(given)) {
    const auto dataset = nb::cast<data::Dataset>(given);
    if (in_order) return std::make_unique<InterruptibleStream>(dataset, loader);
    return std::make_unique<train::LoaderStream>(dataset, loader);
  }
  if (in_order && nb::isinstance<ArrayTable>(given)) {
    return std::make_unique<ArrayStream>(nb::cast<std::shared_ptr<ArrayTable>>(given),
                                         loader.batch);
  }
  if (nb::isinstance<ArrayTable>(given)) {
    return std::make_unique<train::LoaderStream>(nb::cast<data::Dataset>(given.attr("dataset")()),
                                                 loader);
  }
  // The first batch, as a table, defines the fields of all batches.
  const auto [sample, epoch, batches] =
      nb::cast<std::tuple<std::shared_ptr<ArrayTable>, nb::object, int64_t>>(given);
  return std::make_unique<IterableStream>(sample->fields(), epoch, batches);
}

PredictedRows::PredictedRows(const ir::Graph& model, int64_t samples) {
  if (model.outputs.empty()) {
    throw Error("predict", "the graph has no output; name one with Graph.output");
  }
  for (const auto& [name, id] : model.outputs) {
    train::require_parts_of_samples(model, name);
    outputs_.push_back({name, model.type(id)});
  }
  if (samples > 0) make_arrays(samples);
}

void PredictedRows::make_arrays(int64_t samples) {
  made_ = true;
  for (Output& output : outputs_) {
    const Shape shape = ir::with_batch(output.type.shape, samples);
    arrays_[output.name.c_str()] = new_array(output.type.dtype, shape, &output.array);
    write(output, output.collected);
  }
}

void PredictedRows::write(Output& output, std::span<const std::byte> bytes) {
  if (output.array == nullptr) {
    output.collected.insert(output.collected.end(), bytes.begin(), bytes.end());
  } else if (!bytes.empty()) {
    std::memcpy(output.array + output.written, bytes.data(), bytes.size());
    output.written += bytes.size();
  }
}

void PredictedRows::append(Output& output, std::span<const std::byte> bytes, int64_t count) {
  const DType dtype = output.type.dtype;
  if (!is_packed(dtype)) return write(output, bytes);
  write(output, io::unpacked(dtype, ir::with_batch(output.type.shape, count), bytes));
}

void PredictedRows::append(const exec::Session& session, int64_t count) {
  for (Output& output : outputs_) append(output, session.output(output.name), count);
  samples_ += count;
}

nb::dict PredictedRows::finish() && {
  if (!made_) make_arrays(samples_);
  return std::move(arrays_);
}

nb::object copied(const exec::Store& store, const exec::Store::Entry& entry) {
  const std::span<const std::byte> bytes = store.read(entry);
  std::byte* data = nullptr;
  nb::object array = new_array(entry.type.dtype, entry.type.shape, &data);
  unpack(entry.type.dtype, data, bytes, entry.type.shape.elements());
  array.attr("setflags")(nb::arg("write") = false);
  return array;
}

nb::dict model_tensors(const ir::Graph& model, const exec::Store& store, nb::handle owner) {
  nb::dict views;
  for (const ir::ValueData& value : model.values) {
    if (value.role != ir::Role::parameter && value.role != ir::Role::state) continue;
    const exec::Store::Entry* const entry = store.find(value.name);
    if (entry == nullptr) continue;
    views[value.name->c_str()] =
        entry->data == nullptr || is_packed(entry->type.dtype)
            ? copied(store, *entry)
            : view_array(entry->type.dtype, entry->type.shape, entry->data, owner);
  }
  return views;
}

void check_tensor(const exec::Store& store, const std::string& name, const InputArray& values) {
  const exec::Store::Entry* const entry = store.find(name);
  if (entry == nullptr || static_cast<int64_t>(values.nbytes()) !=
                              io::file_bytes(entry->type.dtype, entry->type.shape)) {
    throw Error(name, "there is no parameter or statistic of so many bytes");
  }
  if (!is_packed(entry->type.dtype)) return;
  const auto* const bytes = static_cast<const std::byte*>(values.data());
  static_cast<void>(
      io::packed(name, entry->type.dtype, entry->type.shape, {bytes, values.nbytes()}));
}

nb::object unpacked_tensor(const exec::Store& store, const std::string& name,
                           const InputArray& values) {
  const exec::Store::Entry* const entry = store.find(name);
  const DType dtype = dtype_of(values.dtype(), name);
  if (entry == nullptr || entry->type.dtype != DType::i4 || dtype != DType::u8 ||
      shape_of(values) != train::packed_shape(entry->type.shape)) {
    return nb::none();
  }
  std::byte* data = nullptr;
  nb::object array = new_array(DType::i4, entry->type.shape, &data);
  unpack(DType::i4, data, {static_cast<const std::byte*>(values.data()), values.nbytes()},
         entry->type.shape.elements());
  return array;
}

void set_tensor(exec::Store& store, const std::string& name, const InputArray& values) {
  check_tensor(store, name, values);
  const exec::Store::Entry* const entry = store.find(name);
  store.overwrite(*entry, [&](std::span<std::byte> bytes) {
    if (is_packed(entry->type.dtype)) {
      pack(entry->type.dtype, bytes.data(), values.data(), entry->type.shape.elements());
    } else {
      std::memmove(bytes.data(), values.data(), bytes.size());
    }
  });
}

nb::object constant_tensor(const ir::Graph& model, const std::string& name) {
  for (const ir::ValueData& value : model.values) {
    if (value.role != ir::Role::constant || value.producer >= 0 || *value.name != name) {
      continue;
    }
    const Array& given = *value.data;
    std::byte* data = nullptr;
    nb::object array = new_array(given.dtype(), given.shape(), &data);
    unpack(given.dtype(), data, given.bytes(), given.shape().elements());
    return array;
  }
  return nb::none();
}

nb::dict model_sources(const ir::Graph& model, ir::Role role) {
  nb::dict fields;
  for (const ir::ValueData& value : model.values) {
    if (value.role != role) continue;
    const std::vector<int64_t>& dims = value.type.shape.dims();
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    fields[value.name->c_str()] = nb::make_tuple(to_string(value.type.dtype), shape_tuple(sample));
  }
  return fields;
}

}  // namespace thimble::python
