#include "twin_exchange.h"

#include <fmt/format.h>
#include <thimble/data_loader.h>

#include <cmath>
#include <cstring>

#include "io/safetensors/safetensors.h"
#include "passes/passes.h"
#include "train/runner.h"

namespace thimble::bench {
namespace {

constexpr int64_t kDigitsTrain = 10000;
constexpr int64_t kDigitsTest = 2000;
constexpr uint64_t kDigitsSeed = 1;
constexpr int64_t kPixels = 28 * 28;

// Collects named arrays and writes them as one file.
class Exchange {
 public:
  template <class T>
  void add(const std::string& name, DType dtype, const Shape& shape, const std::vector<T>& values) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(values.data());
    entries_.push_back({name, dtype, shape, {bytes, bytes + values.size() * sizeof(T)}});
  }
  void write(const std::string& path, const io::Metadata& metadata = {}) const {
    std::vector<io::TensorView> views;
    views.reserve(entries_.size());
    for (const Entry& entry : entries_) {
      views.push_back({entry.name, entry.dtype, entry.shape, entry.bytes});
    }
    io::write_safetensors(path, views, metadata);
  }

 private:
  struct Entry {
    std::string name;
    DType dtype;
    Shape shape;
    std::vector<std::byte> bytes;
  };
  std::vector<Entry> entries_;
};

// The model's own parameters and running statistics, without the optimizer's state.
void add_weights(Exchange& exchange, const std::string& prefix, const Graph& graph,
                 const Trainer& trainer) {
  for (const ir::ValueData& data : graph.ir().values) {
    const bool is_kept = data.role == ir::Role::parameter || data.role == ir::Role::state;
    if (!is_kept || data.producer >= 0) continue;  // an update is the same array once more
    exchange.add(prefix + data.name, DType::f32, data.type.shape, trainer.parameter(data.name));
  }
}

void add_split(Exchange& exchange, const std::string& split, const data::Dataset& dataset) {
  std::vector<uint8_t> images;
  std::vector<int32_t> labels;
  std::vector<float> image(static_cast<size_t>(kPixels));
  images.reserve(static_cast<size_t>(dataset.size() * kPixels));
  for (int64_t i = 0; i < dataset.size(); ++i) {
    int32_t label = 0;
    void* const fields[] = {image.data(), &label};
    dataset.read(i, fields);
    for (const float v : image) images.push_back(static_cast<uint8_t>(std::lround(255.0F * v)));
    labels.push_back(label);
  }
  exchange.add(split + ".images", DType::u8, {dataset.size(), 28, 28, 1}, images);
  exchange.add(split + ".labels", DType::i32, {dataset.size()}, labels);
}

// The numbers that the model's random ops draw in the first steps: the same nodes, run alone.
void add_noise(Exchange& exchange, const Graph& model, const Setup& setup, int64_t steps) {
  ir::Graph graph =
      passes::specialize(ir::with_batch(model.ir(), setup.batch), ir::Phase::training);
  graph.loss.reset();
  graph.metrics.clear();
  graph.outputs.clear();
  for (const ir::Node& node : graph.nodes) {
    if (!node.op->reads_rng) continue;
    graph.outputs.emplace_back("noise." + std::to_string(graph.outputs.size()), node.outputs[0]);
  }
  if (graph.outputs.empty()) return;
  train::Runner runner(1);
  const train::ProgramKey key{0, setup.batch};
  runner.add(key, graph);
  runner.seal();
  exec::Session& session = *runner.at(key).session;
  std::vector<std::vector<std::byte>> drawn(graph.outputs.size());
  for (int64_t step = 0; step < steps; ++step) {
    const uint32_t rng[4] = {static_cast<uint32_t>(setup.seed),
                             static_cast<uint32_t>(setup.seed >> 32), static_cast<uint32_t>(step),
                             static_cast<uint32_t>(static_cast<uint64_t>(step) >> 32)};
    std::memcpy(session.source(ir::kRngName).data(), rng, sizeof(rng));
    static_cast<void>(session.run());
    for (size_t i = 0; i < drawn.size(); ++i) {
      const std::span<const std::byte> bytes = session.output(graph.outputs[i].first);
      drawn[i].insert(drawn[i].end(), bytes.begin(), bytes.end());
    }
  }
  for (size_t i = 0; i < drawn.size(); ++i) {
    const auto& [name, id] = graph.outputs[i];
    std::vector<int64_t> dims = graph.type(id).shape.dims();
    dims.insert(dims.begin(), steps);
    exchange.add(name, DType::f32, Shape(std::move(dims)), drawn[i]);
  }
}

int64_t batches_of(const Setup& setup, int64_t samples) {
  return (samples + setup.batch - 1) / setup.batch;
}

// The first batches of the first epoch, as the trainer reads them.
void add_batches(Exchange& exchange, const Setup& setup, const data::Dataset& dataset,
                 int64_t steps) {
  data::Loader loader(dataset, {.batch = setup.batch, .seed = setup.seed, .prefetch = 0});
  loader.start(0);
  std::vector<float> images;
  std::vector<int32_t> labels;
  for (int64_t step = 0; step < steps; ++step) {
    const data::Batch* const batch = loader.next();
    if (batch == nullptr || batch->count != setup.batch) {
      throw Error("steps", fmt::format("there are no {} whole batches in an epoch", steps));
    }
    const auto* const pixels = static_cast<const float*>(batch->fields[0]);
    const auto* const digits = static_cast<const int32_t*>(batch->fields[1]);
    images.insert(images.end(), pixels, pixels + setup.batch * kPixels);
    labels.insert(labels.end(), digits, digits + setup.batch);
  }
  exchange.add("images", DType::f32, {steps, setup.batch, 28, 28, 1}, images);
  exchange.add("labels", DType::i32, {steps, setup.batch}, labels);
}

}  // namespace

Samples load_samples(const std::string& dir, int64_t limit_train) {
  const bool built_in = dir.empty();
  data::Dataset train = built_in ? data::digits(kDigitsTrain, kDigitsSeed, data::Split::train)
                                 : data::mnist(dir, data::Split::train);
  data::Dataset test = built_in ? data::digits(kDigitsTest, kDigitsSeed, data::Split::test)
                                : data::mnist(dir, data::Split::test);
  if (limit_train > 0) train = train.take(limit_train);
  return {std::move(train), std::move(test), built_in ? "built-in digits" : "MNIST"};
}

Trainer trainer_of(const Setup& setup, int64_t train_samples) {
  TrainerOptions options{.optimizer = setup.recipe.optimizer(),
                         .batch = setup.batch,
                         .seed = setup.seed,
                         .threads = setup.threads};
  if (setup.recipe.schedule != nullptr) {
    options.schedule = setup.recipe.schedule(options.optimizer.learning_rate(),
                                             setup.epochs * batches_of(setup, train_samples));
  }
  return {setup.recipe.build(), options};
}

void write_samples(const Samples& samples, const std::string& path) {
  Exchange exchange;
  add_split(exchange, "train", samples.train);
  add_split(exchange, "test", samples.test);
  exchange.write(path, {{"name", samples.name}});
}

void write_start(const Setup& setup, const Samples& samples, const std::string& path) {
  Exchange exchange;
  add_weights(exchange, "weights.", setup.recipe.build(), trainer_of(setup, samples.train.size()));
  std::vector<int32_t> order;
  for (int64_t epoch = 0; epoch < setup.epochs; ++epoch) {
    const std::vector<int64_t> visits = data::epoch_order(samples.train.size(), setup.seed, epoch);
    order.insert(order.end(), visits.begin(), visits.end());
  }
  exchange.add("order", DType::i32, {setup.epochs, samples.train.size()}, order);
  exchange.write(path);
}

void write_steps(const Setup& setup, const Samples& samples, int64_t steps,
                 const std::string& path) {
  const Graph graph = setup.recipe.build();
  Trainer trainer = trainer_of(setup, samples.train.size());
  Exchange exchange;
  add_batches(exchange, setup, samples.train, steps);
  add_noise(exchange, graph, setup, steps);
  add_weights(exchange, "before.", graph, trainer);
  std::vector<float> losses;
  FitOptions fit;
  fit.on_step = [&](const StepReport& step) { losses.push_back(static_cast<float>(step.loss)); };
  fit.stop = [&] { return static_cast<int64_t>(losses.size()) == steps; };
  static_cast<void>(trainer.fit(samples.train, fit));
  add_weights(exchange, "after.", graph, trainer);
  exchange.add("loss", DType::f32, {steps}, losses);
  const int64_t total = setup.epochs * batches_of(setup, samples.train.size());
  exchange.write(path, {{"total_steps", std::to_string(total)}});
}

std::vector<float> read_images(const std::string& path) {
  const io::Safetensors file = io::Safetensors::read(path);
  const io::TensorView* const images = file.find("images");
  if (images == nullptr || images->dtype != DType::f32) {
    throw Error(path, "expected a tensor \"images\" of type f32");
  }
  std::vector<float> values(images->bytes.size() / sizeof(float));
  std::memcpy(values.data(), images->bytes.data(), images->bytes.size());
  return values;
}

std::vector<float> draw_images(const Recipe& recipe, const std::string& checkpoint, int64_t count,
                               uint64_t seed) {
  return recipe.sample(checkpoint, {.count = count, .seed = seed}).images;
}

}  // namespace thimble::bench
