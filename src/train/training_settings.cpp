#include "train/training_settings.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <map>
#include <set>
#include <string_view>

#include "ir/sizes.h"
#include "program/attrs_bytes.h"
#include "train/counters.h"
#include "train/program_settings.h"

namespace thimble::train {
namespace {

constexpr int64_t kMostOfOpenBatch = int64_t{INT32_MAX} * kBatch;
constexpr int64_t kMostIndexBatch = int64_t{1} << 24;
constexpr auto kLastRole = static_cast<int64_t>(ir::Role::gradient);
constexpr size_t kLeastValue = 4 * 8;
constexpr size_t kLeastCheck = 4 * 8;

void write_interface(const ir::Graph& graph, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(graph.values.size()));
  for (const ir::ValueData& data : graph.values) {
    to.text(*data.name);
    program::write_type(data.type, to);
    to.number(static_cast<int64_t>(data.role));
  }
  to.number(graph.loss.value_or(-1));
  for (const auto* const named : {&graph.outputs, &graph.metrics}) {
    to.number(static_cast<int64_t>(named->size()));
    for (const auto& [name, id] : *named) {
      to.text(name);
      to.number(id);
    }
  }
}

ir::Graph read_interface(program::ByteReader& from) {
  ir::Graph graph;
  const size_t values = from.count("values of the model", kLeastValue);
  for (size_t i = 0; i < values; ++i) {
    ir::ValueData data;
    data.name = from.name("name of a value");
    data.type = program::read_type(from, kMostOfOpenBatch);
    data.role = static_cast<ir::Role>(from.number("role of a value", 0, kLastRole));
    const bool is_field = data.role == ir::Role::input || data.role == ir::Role::label;
    const std::vector<int64_t>& dims = data.type.shape.dims();
    if (is_field && (dims.empty() || dims[0] != kBatch)) {
      from.fail("shape of a value", fmt::format("of the field \"{}\" has no batch", data.name));
    }
    graph.values.push_back(std::move(data));
  }
  const auto last = static_cast<int64_t>(values) - 1;
  const int64_t loss = from.number("loss of the model", -1, last);
  if (loss >= 0) graph.loss = static_cast<int>(loss);
  for (auto* const named : {&graph.outputs, &graph.metrics}) {
    named->resize(from.count("results of the model", 2 * 8));
    for (auto& [name, id] : *named) {
      name = from.name("name of a result");
      id = static_cast<int>(from.number("number of a result", 0, last));
    }
  }
  for (const auto& [name, id] : graph.metrics) {
    if (graph.type(id).dtype == DType::f32) continue;
    from.fail("a metric", fmt::format("\"{}\" is not f32", name));
  }
  return graph;
}

void write_finishes(const Finishes& finishes, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(finishes.size()));
  for (const auto& [name, finish] : finishes) {
    to.text(name);
    to.text(finish.op->name);
    program::write_attrs(finish.attrs, to);
    program::write_type(finish.mean, to);
  }
}

// Whether the op takes the mean and makes one number of it.
void require_score(const Finish& finish, const program::ByteReader& from) {
  const ir::TensorType* const mean = &finish.mean;
  try {
    const auto made = ir::infer_types(*finish.op, finish.attrs, std::span(&mean, 1));
    if (made.size() == 1 && made[0] == ir::TensorType{DType::f32, {}}) return;
  } catch (const Error& error) {
    from.fail("a score", fmt::format("does not fit its op: {}", error.what()));
  }
  from.fail("a score", "is no single number");
}

// The score of a metric is computed from the metric itself, by an op that takes such means.
void read_finishes(TrainingProgram& training, program::ByteReader& from) {
  constexpr size_t kLeastFinish = 6 * 8;
  std::map<std::string_view, int> metrics;
  for (const auto& [name, id] : training.interface.metrics) metrics.try_emplace(name, id);
  const size_t count = from.count("scores of an epoch", kLeastFinish);
  for (size_t i = 0; i < count; ++i) {
    const std::string name = from.text("metric of a score");
    const std::string op = from.text("op of a score");
    Finish finish;
    finish.op = ir::find_op(op);
    if (finish.op == nullptr || !finish.op->flow.of_means) {
      from.fail("op of a score", fmt::format("is \"{}\", which computes none", op));
    }
    finish.attrs = program::read_attrs(finish.op->signature.attrs, from);
    finish.mean = program::read_type(from);
    const auto metric = metrics.find(name);
    if (metric == metrics.end() || training.interface.type(metric->second) != finish.mean) {
      from.fail("metric of a score", fmt::format("\"{}\" is none of its type", name));
    }
    require_score(finish, from);
    training.finishes.emplace(name, std::move(finish));
  }
}

void write_checks(const TrainingProgram& training, program::ByteWriter& to) {
  to.number(static_cast<int64_t>(training.indices.size()));
  for (const IndexCheck& check : training.indices) {
    to.text(check.source);
    to.text(check.op);
    to.number(check.size);
    to.flag(check.ignored.has_value());
    to.number(check.ignored.value_or(0));
  }
  to.number(static_cast<int64_t>(training.ignored_labels.size()));
  for (const IgnoredLabel& label : training.ignored_labels) {
    to.text(label.source);
    to.number(label.value);
  }
}

// Indices are 32 bits wide and come with the data.
class IndexFields {
 public:
  explicit IndexFields(const ir::Graph& interface) {
    for (const ir::ValueData& value : interface.values) {
      const bool is_field = value.role == ir::Role::input || value.role == ir::Role::label;
      if (is_field && value.type.dtype == DType::i32) names_.insert(value.name);
    }
  }
  // Reads the name of one.
  [[nodiscard]] std::string read(const char* field, program::ByteReader& from) const {
    std::string name = from.text(field);
    if (names_.count(name) > 0) return name;
    from.fail(field, fmt::format("\"{}\" is no input or label of i32", name));
  }

 private:
  std::set<std::string_view> names_;
};

void read_checks(TrainingProgram& training, program::ByteReader& from) {
  const IndexFields fields(training.interface);
  training.indices.resize(from.count("checks of indices", kLeastCheck));
  for (IndexCheck& check : training.indices) {
    check.source = fields.read("field of indices", from);
    check.op = from.text("op of indices");
    check.size = from.number("number of classes or rows", 0, INT64_MAX / kMostIndexBatch);
    const bool has_ignored = from.flag("whether an index is ignored");
    const int64_t ignored = from.number("ignored index", INT32_MIN, INT32_MAX);
    if (has_ignored) check.ignored = ignored;
  }
  training.ignored_labels.resize(from.count("ignored labels", 2 * 8));
  for (IgnoredLabel& label : training.ignored_labels) {
    label.source = fields.read("field of labels", from);
    label.value = from.number("ignored label", INT32_MIN, INT32_MAX);
  }
}

// A sparse update. The settings of a program without one end before it.
void write_scheme(const TrainingProgram& training, program::ByteWriter& to) {
  if (!training.options.scheme) return;
  to.text(training.options.scheme->text());
  for (const int64_t number : {training.plan.parameters, training.plan.trained_parameters,
                               training.plan.read_only_bytes}) {
    to.number(number);
  }
}

void read_scheme(TrainingProgram& training, program::ByteReader& from) {
  if (from.at_end()) return;
  training.options.scheme = UpdateScheme::parse(from.text("scheme"), from.file());
  for (int64_t* const number : {&training.plan.parameters, &training.plan.trained_parameters,
                                &training.plan.read_only_bytes}) {
    *number = from.number("a number of trained parameters", 0, kMostOfOpenBatch);
  }
}

}  // namespace

std::vector<std::byte> settings_bytes(const TrainingProgram& training, const ValueSizes& values) {
  program::ByteWriter to;
  to.text(training.name);
  to.text(training.recipe);
  to.number(training.epochs);
  write_options(training.options, to);
  to.number(training.micro_batch_size);
  write_interface(training.interface, to);
  write_finishes(training.finishes, to);
  write_checks(training, to);
  write_plan(training.plan, to);
  write_value_sizes(values, to);
  write_scheme(training, to);
  return to.bytes();
}

namespace {

// Whether a batch of every field has a size that memory can be counted in.
void check_batch(const TrainingProgram& training, const program::ByteReader& from) {
  for (const ir::ValueData& value : training.interface.values) {
    if (value.role != ir::Role::input && value.role != ir::Role::label) continue;
    const Shape batch = ir::with_batch(value.type.shape, training.options.batch);
    if (ir::bounded_elements(batch) <= ir::kMostElements) continue;
    from.fail("shape of a value", fmt::format("of the field \"{}\" is too large for a batch of {}",
                                              value.name, training.options.batch));
  }
}

}  // namespace

ValueSizes read_settings(TrainingProgram& training, program::ByteReader& from) {
  training.name = from.text("name of the model");
  training.recipe = from.text("recipe");
  training.epochs = from.number("epochs", 0, kMostCount);
  training.options = read_options(from);
  training.micro_batch_size = from.number("samples of a micro-batch", 1, training.options.batch);
  training.interface = read_interface(from);
  check_batch(training, from);
  read_finishes(training, from);
  read_checks(training, from);
  training.plan = read_plan(from);
  ValueSizes values = read_value_sizes(from);
  read_scheme(training, from);
  if (!from.at_end()) from.fail("the settings", "are followed by something else");
  return values;
}

}  // namespace thimble::train
