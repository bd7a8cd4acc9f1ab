#include "exported.h"

#include <algorithm>

#include "exec/program.h"
#include "ir/attrs.h"
#include "train/compile.h"
#include "train/given_values.h"
#include "train/update.h"

namespace thimble::cli {
namespace {

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

emit::Model model_of(const std::string& name, const std::string& target, int64_t batch) {
  emit::Model model;
  model.name = name;
  model.target = target;
  model.made_by = "thimble " THIMBLE_VERSION;
  model.feeds = {{train::kLearningRateName, emit::Feed::learning_rate},
                 {train::kUpdateNumberName, emit::Feed::update_number}};
  model.batch = batch;
  return model;
}

// Calls use(argument, bytes) with random contents.
template <class Use>
void for_each_input(const std::vector<emit::Argument>& arguments, const emit::Golden& golden,
                    uint32_t& random, const Use& use) {
  for (const emit::Argument& argument : arguments) {
    const auto index = golden.index_sizes.find(argument.name);
    const int64_t size = index == golden.index_sizes.end() ? 0 : index->second;
    use(argument, emit::test_input(argument, size, random));
  }
}

CompileFor exported_programs(const Graph& graph, const TrainerOptions& options,
                             const std::string& name) {
  return {.samples = options.batch,
          .test_samples = options.batch,
          .predict = !graph.ir().outputs.empty(),
          .reference_kernels = true,
          .name = name};
}

}  // namespace

int64_t nearest_exported_budget(const Graph& graph, const TrainerOptions& options) {
  const CompileFor wanted = exported_programs(graph, options, "");
  const Plan plan = train::State(graph.ir(), options, nullptr, &wanted).plan();
  return plan.fits ? 0 : plan.nearest_feasible_bytes;
}

Exported::Exported(const Graph& graph, const TrainerOptions& options, const std::string& name,
                   const std::string& target)
    : model_(model_of(name, target, options.batch)) {
  const CompileFor wanted = exported_programs(graph, options, name);
  CompiledTraining compiled(graph, options, wanted);
  const Plan& plan = compiled.plan();
  counted_bytes_ = plan.planned_peak_bytes + plan.input_pipeline_bytes + plan.reserved_bytes;
  trainer_ = std::make_unique<Trainer>(std::move(compiled));
  indices_ = trainer_->state().indices;
  model_.seed = options.seed;
  model_.train = &session(train::ProgramKind::update).program();
  if (wanted.predict) model_.predict = &session(train::ProgramKind::predict).program();
  model_.initial = contents();
}

Exported::Exported(Graph&& graph, int64_t batch, const std::string& name, const std::string& target)
    : model_(model_of(name, target, batch)) {
  if (graph.ir().outputs.empty()) {
    throw Error("predict", "the graph has no output to predict; name one with Graph::output");
  }
  indices_ = train::index_checks(graph.ir());
  const train::GivenValues given(graph.ir());
  given.require_all(graph.ir());
  constexpr bool kFast = false;
  runner_ = std::make_unique<train::Runner>(1, kFast);
  const train::ProgramKey key = train::key_of(train::ProgramKind::predict, batch);
  runner_->add(key, train::inference_graph(graph.ir(), batch, false));
  runner_->seal();
  given.write_to(runner_->store());
  model_.predict = &session(train::ProgramKind::predict).program();
  model_.initial = contents();
}

exec::Store& Exported::store() const {
  return trainer_ ? trainer_->state().runner.store() : runner_->store();
}

exec::Session& Exported::session(train::ProgramKind kind) const {
  if (trainer_) return *trainer_->state().program(kind, model_.batch).session;
  return *runner_->at(train::key_of(kind, model_.batch)).session;
}

std::function<std::span<const std::byte>(const std::string&)> Exported::contents() const {
  return [this](const std::string& name) {
    const exec::Store::Entry* const entry = store().find(name);
    if (entry == nullptr) throw Error(name, "is neither a parameter nor a state");
    return store().read(*entry);
  };
}

std::map<std::string, int64_t> Exported::index_sizes() const {
  std::map<std::string, int64_t> sizes;
  for (const train::IndexCheck& check : indices_) {
    const int64_t size = ir::with_batch(check.size, model_.batch);
    const auto [known, is_new] = sizes.emplace(check.source, size);
    if (!is_new) known->second = std::min(known->second, size);
  }
  return sizes;
}

void Exported::train(const emit::Interface& interface, emit::Golden& golden, int steps) {
  uint32_t random = emit::kTestSeed;
  for (int n = 0; n < steps; ++n) {
    std::vector<data::Field> fields;
    std::vector<data::Values> values;
    for_each_input(interface.train_inputs, golden, random,
                   [&](const emit::Argument& argument, std::vector<std::byte> bytes) {
                     const Shape& shape = argument.type.shape;
                     const DType dtype = argument.type.dtype;
                     fields.push_back(
                         {argument.name,
                          Shape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end())),
                          dtype, argument.role == ir::Role::label});
                     values.push_back(Array::of_bytes(dtype, shape, std::move(bytes)));
                   });
    static_cast<void>(trainer_->step(data::in_memory(std::move(fields), std::move(values))));
    const exec::Session& ran = session(train::ProgramKind::update);
    emit::Golden::Step step{.learning_rate = static_cast<float>(trainer_->state().learning_rate),
                            .results = {}};
    if (ran.program().loss) step.results.push_back(copy_of(ran.loss()));
    for (const auto& [name, id] : ran.program().metrics) {
      step.results.push_back(copy_of(ran.metric(name)));
    }
    golden.steps.push_back(std::move(step));
  }
  golden.state = emit::checksum(emit::state_bytes(model_, contents()));
}

void Exported::predict(const emit::Interface& interface, emit::Golden& golden) {
  exec::Session& runs = session(train::ProgramKind::predict);
  uint32_t random = emit::kTestSeed;
  for_each_input(interface.predict_inputs, golden, random,
                 [&](const emit::Argument& argument, const std::vector<std::byte>& bytes) {
                   std::copy(bytes.begin(), bytes.end(), runs.source(argument.name).begin());
                 });
  train::set_inference_rng(runs, 0, {0, model_.batch});
  static_cast<void>(runs.run());
  for (const auto& [name, id] : runs.program().outputs) {
    golden.outputs.emplace_back(name, emit::checksum(runs.output(name)));
  }
}

void Exported::finish(emit::Sources& sources, int test_steps) {
  emit::Golden golden;
  golden.index_sizes = index_sizes();
  if (trainer_) train(sources.interface, golden, test_steps);
  if (model_.predict != nullptr) predict(sources.interface, golden);
  emit::add_project(sources, model_, golden);
}

}  // namespace thimble::cli
