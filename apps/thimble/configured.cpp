#include "configured.h"

#include <fmt/format.h>
#include <thimble/adapt.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "commands.h"
#include "exec/program.h"
#include "import/tflite/gradients.h"
#include "ir/graph.h"
#include "train/compile.h"
#include "train/state.h"
#include "train/update.h"

namespace thimble::cli {
namespace {

// The model with its loss; what is not to be trained is frozen.
Graph training_of(const Graph& graph, const ConfigureOptions& options) {
  return from_command_line([&] {
    return adapt(graph, {.loss = options.loss,
                         .label = options.label,
                         .metrics = options.metrics,
                         .freeze = {"*"},
                         .trainable = options.trainable});
  });
}

Optimizer optimizer_of(const std::string& text) {
  const std::string settings = text == "sgd"        ? "sgd:momentum=0"
                               : text == "momentum" ? "sgd:momentum=0.9"
                                                    : text;
  return from_command_line([&] { return Optimizer::parse(settings, Optimizer(SGD{})); });
}

// One training that was planned for reference kernels.
class Planned {
 public:
  Planned(const Graph& graph, const std::string& optimizer, int64_t batch, int64_t budget) {
    TrainerOptions options{.optimizer = optimizer_of(optimizer),
                           .batch = batch,
                           .memory_budget = budget,
                           .swap = Swap::never,
                           .input_pipeline_bytes = 1,
                           .threads = 1};
    CompiledTraining compiled(graph, options,
                              {.samples = batch, .test_samples = batch, .reference_kernels = true});
    peak_bytes_ = compiled.plan().planned_peak_bytes;
    trainer_ = std::make_unique<Trainer>(std::move(compiled));
    training_ = {optimizer, batch,
                 &trainer_->state().program(train::ProgramKind::update, batch).session->program(),
                 [this](const std::string& name) {
                   exec::Store& store = trainer_->state().runner.store();
                   const exec::Store::Entry* const entry = store.find(name);
                   if (entry == nullptr) throw Error(name, "is neither a parameter nor a state");
                   return store.read(*entry);
                 }};
  }
  Planned(const Planned&) = delete;

  [[nodiscard]] int64_t peak_bytes() const { return peak_bytes_; }
  [[nodiscard]] const emit::MicroTraining& training() const { return training_; }

 private:
  int64_t peak_bytes_ = 0;
  std::unique_ptr<Trainer> trainer_;
  emit::MicroTraining training_;
};

// Evaluation and prediction of one sample.
class Forward {
 public:
  explicit Forward(const Graph& graph) {
    constexpr bool kFast = false;
    runner_ = std::make_unique<train::Runner>(1, kFast);
    runner_->add(kEvaluate, train::evaluation_graph(graph.ir(), 1));
    runner_->add(kPredict, train::inference_graph(graph.ir(), 1, false));
    runner_->seal();
  }
  [[nodiscard]] const program::Program& evaluate() { return of(kEvaluate); }
  [[nodiscard]] const program::Program& predict() { return of(kPredict); }

 private:
  const program::Program& of(const train::ProgramKey& key) {
    return runner_->at(key).session->program();
  }
  train::ProgramKey kEvaluate = train::key_of(train::ProgramKind::evaluate, 1);
  train::ProgramKey kPredict = train::key_of(train::ProgramKind::predict, 1);
  std::unique_ptr<train::Runner> runner_;
};

// Whether a parameter holds what the tensor does, in its order.
bool is_same(const Array& parameter, const tflite::TensorInfo& tensor,
             const std::array<int64_t, 3>& reversed) {
  const std::span<const std::byte> bytes = parameter.bytes();
  if (tensor.type != tflite::kFloat32 || bytes.size() != tensor.data.size()) return false;
  const auto [a, b, c] = reversed;
  for (int64_t i = 0; i < parameter.elements(); ++i) {
    int64_t from = i;
    if (a > 0) from = (i % c * b + i / c % b) * a + i / (b * c);
    if (std::memcmp(bytes.data() + i * 4, tensor.data.data() + from * 4, 4) != 0) return false;
  }
  return true;
}

std::map<std::string, emit::MicroPlace> places_of(const tflite::File& file,
                                                  const tflite::Network& network) {
  std::map<std::string, emit::MicroPlace> places;
  for (const ir::ValueData& value : network.graph.ir().values) {
    const auto found = network.tensor_of.find(*value.name);
    if (value.role != ir::Role::parameter || found == network.tensor_of.end()) continue;
    emit::MicroPlace place{.tensor = found->second};
    const auto reversed = network.reversed.find(*value.name);
    if (reversed != network.reversed.end()) place.reversed = reversed->second;
    if (value.data->elements() == value.type.shape.elements() &&
        is_same(*value.data, file.tensor(place.tensor), place.reversed)) {
      places[*value.name] = place;
    }
  }
  return places;
}

class Configuring {
 public:
  Configuring(const tflite::File& file, const ConfigureOptions& options)
      : file_(file),
        options_(options),
        network_(tflite::read_network(file)),
        graph_(training_of(network_.graph, options)),
        forward_(graph_) {
    model_.places = places_of(file, network_);
    model_.feeds = {{train::kLearningRateName, emit::Feed::learning_rate},
                    {train::kUpdateNumberName, emit::Feed::update_number}};
    model_.evaluate = &forward_.evaluate();
    model_.predict = &forward_.predict();
    model_.tensors = static_cast<uint32_t>(file.tensors().size());
    model_.structure = tflite::structure_of(file);
    plan(0);
    describe();
    made_.program = emit::micro_program_file(model_);
    most_bytes_ = made_.memory_bytes();
  }

  // Whether a budget of the device is kept; 0: none. The program is then planned for it.
  bool keeps(int64_t budget) {
    if (budget == 0 || budget >= most_bytes_) return true;
    if (budget <= emit::kMicroRuntimeBytes + made_.program.state_bytes) return false;
    try {
      plan(budget);
    } catch (const Error&) {  // the planner finds no order and no values to recompute
      return false;
    }
    made_.program = emit::micro_program_file(model_);
    return made_.memory_bytes() <= budget;
  }

  // The least budget that is kept, found by bisection; `known` where it is not below that one.
  // refused: a budget that is not kept.
  int64_t least_budget(int64_t refused, int64_t known = INT64_MAX) {
    int64_t kept = most_bytes_;
    if (kept >= known) {
      if (!keeps(known - 1)) return known;
      kept = known - 1;
    }
    while (kept - refused > 1) {
      const int64_t middle = refused + (kept - refused) / 2;
      (keeps(middle) ? kept : refused) = middle;
    }
    return kept;
  }

  Configured run() && {
    const int64_t budget = options_.memory_budget;
    if (!keeps(budget)) {
      throw Error("memory_budget",
                  fmt::format("{} bytes cannot be kept; {} are the least. Train less (--trainable "
                              "auto), or take a smaller batch or an optimizer with less state",
                              budget, least_budget(budget)));
    }
    for (const std::string& optimizer : options_.optimizers) {
      made_.gradients.push_back(gradients(optimizer));
    }
    for (const program::Tensor& tensor : model_.trainings.front().program->tensors) {
      if (tensor.recomputed) made_.recomputed.push_back(*tensor.name);
    }
    return std::move(made_);
  }

 private:
  // budget: of the device; 0: none.
  void plan(int64_t budget) {
    planned_.clear();
    model_.trainings.clear();
    size_t i = 0;
    for (const std::string& optimizer : options_.optimizers) {
      for (const int64_t batch : options_.batches) {
        int64_t planned = 0;
        if (budget > 0) {
          const int64_t arena = budget - emit::kMicroRuntimeBytes - made_.program.state_bytes;
          planned = arena / 8 * 8 + beside_arena_[i++];
        }
        planned_.push_back(std::make_unique<Planned>(graph_, optimizer, batch, planned));
        model_.trainings.push_back(planned_.back()->training());
        if (budget == 0) {
          beside_arena_.push_back(planned_.back()->peak_bytes() -
                                  model_.trainings.back().program->arena_bytes);
        }
      }
    }
  }

  // The files, by what is trained.
  void describe() {
    std::vector<int> tensors;
    std::map<int, std::span<const std::byte>> emptied;
    for (const std::string& name : emit::trained_parameters(*model_.trainings.front().program)) {
      const auto place = model_.places.find(name);
      if (place == model_.places.end()) {
        throw Error(
            "configure",
            fmt::format("\"{}\" is no float tensor of {}: it cannot be trained here. Models on "
                        "int8 are trained on a device by C sources (thimble export-c)",
                        name, file_.name()));
      }
      const int tensor = place->second.tensor;
      for (const TrainedTensor& other : made_.trained) {
        if (other.tensor != tensor) continue;
        throw Error("configure", fmt::format("\"{}\" and \"{}\" are one tensor of {}: freeze both",
                                             other.parameter, name, file_.name()));
      }
      const ir::ValueData& value = parameter(name);
      made_.trained.push_back(
          {name, tensor, value.type.shape, size_bytes(value.type.dtype, value.type.shape)});
      tensors.push_back(tensor);
      emptied[tensor] = {};
    }
    made_.weights = tflite::wof_file(file_, tensors, options_.layout);
    made_.model = tflite::with_contents(file_, emptied);
    model_.model_bytes = static_cast<uint32_t>(made_.model.size());
    model_.model_crc =
        static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(made_.model.data()),
                                    static_cast<uInt>(made_.model.size())));
    const tflite::File rest = tflite::File::parse(
        file_.name(), std::vector<char>(made_.model.begin(), made_.model.end()));
    for (auto& [name, place] : model_.places) {
      const auto& data = rest.tensor(place.tensor).data;
      if (data.empty()) continue;
      made_.frozen.push_back(name);
      const int64_t offset = reinterpret_cast<const char*>(data.data()) - rest.bytes().data();
      if (place.reversed[0] == 0 && offset % 4 == 0) place.offset = offset;
    }
  }

  // Of an optimizer and the first batch size.
  [[nodiscard]] std::string gradients(const std::string& optimizer) const {
    std::map<std::string, int> tensors = network_.tensor_of;
    const tflite::Network results = tflite::read_network(file_, true);
    for (size_t i = 0; i < file_.operators().size(); ++i) {
      for (const auto& [name, id] : results.graph.ir().outputs) {
        if (name != std::to_string(i)) continue;
        tensors[*results.graph.ir().data(id).name] = file_.operators()[i].outputs[0];
      }
    }
    for (const int input : file_.inputs()) tensors[file_.tensor(input).name] = input;
    const TrainerOptions options{.optimizer = optimizer_of(optimizer),
                                 .batch = options_.batches[0]};
    return tflite::gradient_file(
        train::training_graph(graph_.ir(), options, options.batch, train::StepKind::update),
        tensors);
  }

  [[nodiscard]] const ir::ValueData& parameter(const std::string& name) const {
    const auto& values = graph_.ir().values;
    return *std::find_if(values.begin(), values.end(),
                         [&](const ir::ValueData& value) { return *value.name == name; });
  }

  const tflite::File& file_;
  const ConfigureOptions& options_;
  tflite::Network network_;
  Graph graph_;
  Forward forward_;
  emit::MicroModel model_;
  std::vector<std::unique_ptr<Planned>> planned_;
  // What the planner counts beside the arena of each training: states and all weights.
  std::vector<int64_t> beside_arena_;
  int64_t most_bytes_ = 0;  // without a budget
  Configured made_;
};

}  // namespace

int64_t Configured::memory_bytes() const {
  return (program.arena_bytes + 7) / 8 * 8 + program.state_bytes + emit::kMicroRuntimeBytes;
}

Configured configured(const tflite::File& file, const ConfigureOptions& options) {
  return Configuring(file, options).run();
}

std::vector<std::string> chosen_parameters(const tflite::File& file, ConfigureOptions options) {
  const tflite::Network network = tflite::read_network(file);
  const auto places = places_of(file, network);
  if (!places.empty()) {  // what is wrong whatever is trained
    options.trainable = {"*"};
    static_cast<void>(training_of(network.graph, options));
  }
  // Parameters of one layer stand beside each other.
  std::vector<std::vector<std::string>> layers;
  std::string last;
  for (const ir::ValueData& value : network.graph.ir().values) {
    if (places.count(*value.name) == 0) continue;
    const std::string& name = *value.name;
    const std::string layer = name.substr(0, name.rfind('.'));
    if (layers.empty() || layer != last) layers.emplace_back();
    layers.back().push_back(name);
    last = layer;
  }
  std::optional<Error> why;
  std::vector<std::vector<std::string>> too_large;
  const auto fits = [&](const std::vector<std::string>& trained) {
    options.trainable = trained;
    try {
      if (Configuring(file, options).keeps(options.memory_budget)) return true;
      too_large.push_back(trained);
    } catch (const Error& error) {
      if (!why) why = error;
    }
    return false;
  };
  std::vector<std::string> trained;
  for (size_t n = layers.size(); n > 0; --n) {
    std::vector<std::string> more = trained;
    more.insert(more.end(), layers[n - 1].begin(), layers[n - 1].end());
    if (!fits(more)) {
      more = trained;
      for (const std::string& name : layers[n - 1]) {
        if (name.ends_with(".bias")) more.push_back(name);
      }
      if (more.size() == trained.size() || !fits(more)) continue;
    }
    trained = std::move(more);
  }
  if (!trained.empty()) return trained;
  if (too_large.empty()) {
    if (why) throw Error(*why);
    throw Error("configure",
                "the model has no float weights to train. Models on int8 are "
                "trained on a device by C sources (thimble export-c)");
  }
  int64_t least = INT64_MAX;
  for (const std::vector<std::string>& parameters : too_large) {
    options.trainable = parameters;
    least = Configuring(file, options).least_budget(options.memory_budget, least);
  }
  throw Error("memory_budget",
              fmt::format("{} bytes cannot be kept, whatever is trained; {} are the least. Take a "
                          "smaller batch or an optimizer with less state",
                          options.memory_budget, least));
}

}  // namespace thimble::cli
