#include <fmt/format.h>
#include <thimble/thimble.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "commands.h"
#include "console.h"
#include "io/npy/npy_write.h"
#include "ir/element.h"
#include "ir/rewrite.h"
#include "model.h"
#include "options.h"

namespace thimble::cli {
namespace {

struct PredictArguments {
  std::string model;
  std::string checkpoint;
  std::vector<std::string> inputs;  // "x.npy", "name=x.npy"
  std::string output;
  std::string out;
  int64_t batch = 32;
  int threads = 0;
  bool reference_kernels = false;
  bool json = false;
};

std::string names_of(const std::vector<std::string>& names) {
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

// The output of that name, or the only one. Throws UsageError.
std::pair<std::string, int> chosen_output(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& output : graph.ir().outputs) {
    if (output.first == name || (name.empty() && graph.ir().outputs.size() == 1)) return output;
    names.push_back(output.first);
  }
  throw UsageError(Error("--output", name.empty()
                                         ? fmt::format("the model has several outputs, or none; "
                                                       "name one of: {}",
                                                       names_of(names))
                                         : fmt::format("the model has no output \"{}\"; it has: {}",
                                                       name, names_of(names))));
}

// The part of a model that computes one output.
Graph part_for(const Graph& model, const std::pair<std::string, int>& output) {
  ir::Graph all = model.ir();
  all.loss.reset();
  all.metrics.clear();
  all.outputs = {output};
  std::vector<char> wanted(all.values.size(), 0);
  wanted[static_cast<size_t>(output.second)] = 1;
  std::vector<char> runs(all.nodes.size(), 0);
  for (size_t n = all.nodes.size(); n-- > 0;) {
    const ir::Node& node = all.nodes[n];
    runs[n] = std::any_of(node.outputs.begin(), node.outputs.end(),
                          [&](int id) { return wanted[static_cast<size_t>(id)] != 0; });
    if (runs[n] == 0) continue;
    for (const int id : node.inputs) {
      if (id >= 0) wanted[static_cast<size_t>(id)] = 1;
    }
  }
  ir::Rewriter rewriter(all, [&](int id) { return wanted[static_cast<size_t>(id)] != 0; });
  for (size_t n = 0; n < all.nodes.size(); ++n) {
    if (runs[n] != 0) rewriter.copy(all.nodes[n]);
  }
  Graph part;
  part.ir() = std::move(rewriter).finish();
  return part;
}

// The .npy file of each input. Throws UsageError where they do not fit the model's.
data::Dataset open_inputs(const Graph& part, const std::vector<std::string>& given) {
  const std::vector<data::Field> fields = data::fields_of(part, false);
  std::vector<std::string> names;
  for (const data::Field& field : fields) names.push_back(field.name);
  std::map<std::string, std::string> files;
  for (const std::string& text : given) {
    const size_t sign = text.find('=');
    const std::string name = sign == std::string::npos ? "" : text.substr(0, sign);
    const bool is_named = std::find(names.begin(), names.end(), name) != names.end();
    if (!is_named && names.size() != 1) {
      throw UsageError(Error("--input", fmt::format("\"{}\" does not begin with the name of an "
                                                    "input, as in NAME=x.npy; inputs: {}",
                                                    text, names_of(names))));
    }
    // A file may have the sign in its name.
    if (!is_named && !name.empty() && !std::filesystem::exists(text)) {
      throw UsageError(Error("--input", fmt::format("{} is neither a file nor NAME=FILE.npy of an "
                                                    "input; inputs: {}",
                                                    text, names_of(names))));
    }
    const std::string key = is_named ? name : names[0];
    if (!files.emplace(key, is_named ? text.substr(sign + 1) : text).second) {
      throw UsageError(Error("--input", fmt::format("{} is given twice", key)));
    }
  }
  std::vector<std::pair<data::Field, std::string>> opened;
  for (const data::Field& field : fields) {
    if (files.count(field.name) == 0) {
      throw UsageError(
          Error("--input", fmt::format("{} is missing; give {}=FILE.npy", field.name, field.name)));
    }
    opened.emplace_back(field, files[field.name]);
  }
  if (opened.empty()) {
    throw UsageError(
        Error("--output", "the output depends on no input; there is nothing to predict"));
  }
  return data::open_arrays(opened);
}

// Samples that each begin at a whole byte, one after another.
Array without_gaps(const data::Field& field, const Shape& shape, const void* samples) {
  const int64_t each = field.shape.elements();
  const int64_t row = size_bytes(field.dtype, field.shape);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes(field.dtype, shape)));
  for (int64_t i = 0; i < shape[0]; ++i) {
    element_copy_ints(bytes.data(), i * each, static_cast<const std::byte*>(samples) + i * row, 0,
                      static_cast<int>(field.dtype), each);
  }
  return Array::of_bytes(field.dtype, shape, std::move(bytes));
}

// The samples of a batch by name, as views where they lie one after another.
std::map<std::string, Array> arrays_of(const std::vector<data::Field>& fields,
                                       const data::Batch& batch) {
  std::map<std::string, Array> arrays;
  for (size_t f = 0; f < fields.size(); ++f) {
    std::vector<int64_t> dims = fields[f].shape.dims();
    dims.insert(dims.begin(), batch.count);
    const Shape shape(std::move(dims));
    if (fields[f].shape.elements() * bits(fields[f].dtype) % 8 != 0) {
      arrays.insert_or_assign(fields[f].name, without_gaps(fields[f], shape, batch.fields[f]));
      continue;
    }
    const auto bytes = static_cast<size_t>(size_bytes(fields[f].dtype, shape));
    arrays.insert_or_assign(
        fields[f].name,
        Array::view(fields[f].dtype, shape,
                    std::span(static_cast<const std::byte*>(batch.fields[f]), bytes)));
  }
  return arrays;
}

int run_predict(const PredictArguments& options) {
  const Model model(options.model);
  const std::pair<std::string, int> output = chosen_output(model.graph(), options.output);
  const Graph part = part_for(model.graph(), output);
  const data::Dataset samples = open_inputs(part, options.inputs);
  const std::string weights = model.weights(options.checkpoint);
  const int64_t batch = std::min(options.batch, samples.size());
  Predictor predictor(part, weights, batch, options.threads, options.reference_kernels);
  const ir::TensorType& type = part.ir().type(part.ir().outputs[0].second);
  const Shape shape = ir::with_batch(type.shape, samples.size());
  io::NpyWriter writer(options.out, type.dtype, shape);
  data::Loader loader(samples, {.batch = batch, .shuffle = false, .training = false});
  loader.start(0);
  while (const data::Batch* read = loader.next()) {
    const Array made = predictor.run(arrays_of(samples.fields(), *read)).at(output.first);
    writer.write(made.bytes(), made.elements());
  }
  writer.commit();
  // NumPy has no bf16 and no i4.
  const DType written = type.dtype == DType::bf16 ? DType::f32
                        : type.dtype == DType::i4 ? DType::i8
                                                  : type.dtype;
  if (options.json) {
    print_json({{"recipe", model.name()},
                {"output", output.first},
                {"dtype", to_string(written)},
                {"shape", shape.dims()},
                {"file", options.out}});
    return kOk;
  }
  fmt::print("{} {}{} in {}\n", output.first, to_string(written), to_string(shape), options.out);
  return kOk;
}

}  // namespace

void add_predict(CLI::App& app, Action& action) {
  auto options = std::make_shared<PredictArguments>();
  CLI::App* command =
      app.add_subcommand("predict", "Run a model forward on .npy files; writes an output as .npy");
  add_model(*command, options->model);
  add_checkpoint(*command, options->checkpoint);
  command
      ->add_option(
          "--input", options->inputs,
          "samples of an input, [samples, ...] of any numbers; with the input's name where "
          "the output depends on more than one: image=x.npy; may be given more than once")
      ->required()
      ->type_name("[NAME=]FILE.npy")
      ->allow_extra_args(false);
  command
      ->add_option("--output", options->output,
                   "name of the output to write [the model's only one]")
      ->type_name("NAME");
  command->add_option("-o,--out", options->out, "the .npy file to write")
      ->required()
      ->type_name("FILE");
  command->add_option("--batch", options->batch, "samples computed at once [32]")
      ->check(whole_number(1))
      ->type_name("N");
  add_threads(*command, options->threads);
  add_reference_kernels(*command, options->reference_kernels);
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Examples:\n  thimble predict lenet5.safetensors --input images.npy --out logits.npy\n"
      "  thimble predict pair.safetensors --input left=a.npy --input right=b.npy --output distance "
      "--out d.npy");
  command->callback([&action, options] { action = [options] { return run_predict(*options); }; });
}

}  // namespace thimble::cli
