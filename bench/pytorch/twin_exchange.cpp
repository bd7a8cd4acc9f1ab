#include "twin_exchange.h"

#include <fmt/format.h>
#include <thimble/data_loader.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/safetensors/safetensors.h"
#include "ops/families/random/random.h"
#include "passes/passes.h"
#include "train/runner.h"

namespace thimble::bench {
namespace {

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

// The model's parameters and running statistics, without the optimizer's state.
void add_weights(Exchange& exchange, const std::string& prefix, const Graph& graph,
                 const Trainer& trainer) {
  for (const ir::ValueData& data : graph.ir().values) {
    const bool is_kept = data.role == ir::Role::parameter || data.role == ir::Role::state;
    if (!is_kept || data.producer >= 0)
      continue;  // an update is the same array, listed a second time
    const Array values = trainer.parameter(data.name);
    const std::span<const std::byte> bytes = values.bytes();
    exchange.add(prefix + data.name, values.dtype(), values.shape(),
                 std::vector<std::byte>(bytes.begin(), bytes.end()));
  }
}

// Reads one sample at a time, and knows where its fields lie.
class Reader {
 public:
  explicit Reader(const data::Dataset& dataset) : dataset_(dataset) {
    for (const data::Field& field : dataset.fields()) {
      buffers_.emplace_back(static_cast<size_t>(size_bytes(field.dtype, field.shape)));
      out_.push_back(buffers_.back().data());
    }
  }
  // The bytes of each field, valid until the next call.
  const std::vector<std::vector<std::byte>>& read(int64_t index) {
    dataset_.read(index, out_);
    return buffers_;
  }

 private:
  const data::Dataset& dataset_;
  std::vector<std::vector<std::byte>> buffers_;
  std::vector<void*> out_;
};

std::span<const float> floats_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

// Whether a number is a byte divided by 255, as pixels are.
bool is_pixel(float v) {
  return v >= 0.0F && v <= 1.0F && v == static_cast<float>(std::lround(255.0F * v)) / 255.0F;
}

// Marks the f32 fields that contain only pixels, in both splits.
std::vector<bool> pixel_fields(const Samples& samples) {
  const auto& fields = samples.train.fields();
  std::vector<bool> pixels;
  for (const data::Field& field : fields) pixels.push_back(field.dtype == DType::f32);
  for (const data::Dataset* dataset : {&samples.train, &samples.test}) {
    Reader reader(*dataset);
    for (int64_t i = 0; i < dataset->size(); ++i) {
      const auto& sample = reader.read(i);
      for (size_t f = 0; f < fields.size(); ++f) {
        if (!pixels[f]) continue;
        const std::span<const float> values = floats_of(sample[f]);
        pixels[f] = std::all_of(values.begin(), values.end(), is_pixel);
      }
    }
  }
  return pixels;
}

Shape with_front(const Shape& shape, std::vector<int64_t> front) {
  front.insert(front.end(), shape.dims().begin(), shape.dims().end());
  return Shape(std::move(front));
}

void add_split(Exchange& exchange, const std::string& split, const data::Dataset& dataset,
               const std::vector<bool>& pixels) {
  const auto& fields = dataset.fields();
  std::vector<std::vector<std::byte>> all(fields.size());
  Reader reader(dataset);
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const auto& sample = reader.read(i);
    for (size_t f = 0; f < fields.size(); ++f) {
      if (pixels[f]) {
        for (const float v : floats_of(sample[f])) {
          all[f].push_back(static_cast<std::byte>(std::lround(255.0F * v)));
        }
      } else {
        all[f].insert(all[f].end(), sample[f].begin(), sample[f].end());
      }
    }
  }
  for (size_t f = 0; f < fields.size(); ++f) {
    exchange.add(split + "." + fields[f].name, pixels[f] ? DType::u8 : fields[f].dtype,
                 with_front(fields[f].shape, {dataset.size()}), all[f]);
  }
}

// The names of the fields that `included` selects.
std::string names_of(const std::vector<data::Field>& fields, const std::vector<bool>& included) {
  std::string names;
  for (size_t f = 0; f < fields.size(); ++f) {
    if (included[f]) names += (names.empty() ? "" : ",") + fields[f].name;
  }
  return names;
}

std::string names_of(const std::vector<data::Field>& fields) {
  return names_of(fields, std::vector<bool>(fields.size(), true));
}

// The random nodes of a model, with one output each: what they draw, or the factors they apply to
// ones.
ir::Graph noise_graph(const ir::Graph& model) {
  ir::Graph graph;
  for (const ir::Node& node : model.nodes) {
    if (!node.op->flow.reads_rng || node.input(0) < 0)
      continue;  // attention draws only with dropout
    std::vector<Value> inputs{ops::rng_of(graph)};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const ir::TensorType& type = model.type(node.inputs[i]);
      inputs.push_back(
          graph.source(fmt::format("ones.{}", graph.values.size()), type, ir::Role::constant));
      graph.values.back().data =
          Array(std::vector<float>(static_cast<size_t>(type.shape.elements()), 1.0F), type.shape);
    }
    const Value drawn = graph.add(*node.op, node.attrs, inputs)[0];
    graph.outputs.emplace_back("noise." + std::to_string(graph.outputs.size()), drawn.id());
  }
  return graph;
}

// Numbers that the model's random ops draw in the first steps.
void add_noise(Exchange& exchange, const Graph& model, const Setup& setup, int64_t steps) {
  const ir::Graph graph =
      noise_graph(passes::specialize(ir::with_batch(model.ir(), setup.batch), ir::Phase::training));
  if (graph.outputs.empty()) return;
  train::Runner runner(1);
  const train::ProgramKey key{0, setup.batch};
  runner.add(key, graph);
  runner.seal();
  exec::Session& session = *runner.at(key).session;
  std::vector<std::vector<std::byte>> drawn(graph.outputs.size());
  for (int64_t step = 0; step < steps; ++step) {
    const uint32_t rng[ops::kRngWords] = {
        static_cast<uint32_t>(setup.seed), static_cast<uint32_t>(setup.seed >> 32),
        static_cast<uint32_t>(step), static_cast<uint32_t>(static_cast<uint64_t>(step) >> 32)};
    std::memcpy(session.source(ir::kRngName).data(), rng, sizeof(rng));
    static_cast<void>(session.run());
    for (size_t i = 0; i < drawn.size(); ++i) {
      const std::span<const std::byte> bytes = session.output(graph.outputs[i].first);
      drawn[i].insert(drawn[i].end(), bytes.begin(), bytes.end());
    }
  }
  for (size_t i = 0; i < drawn.size(); ++i) {
    const auto& [name, id] = graph.outputs[i];
    exchange.add(name, graph.type(id).dtype, with_front(graph.type(id).shape, {steps}), drawn[i]);
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
  const auto& fields = dataset.fields();
  std::vector<std::vector<std::byte>> all(fields.size());
  for (int64_t step = 0; step < steps; ++step) {
    const data::Batch* const batch = loader.next();
    if (batch == nullptr || batch->count != setup.batch) {
      throw Error("steps", fmt::format("there are no {} whole batches in an epoch", steps));
    }
    for (size_t f = 0; f < fields.size(); ++f) {
      const auto* const begin = static_cast<const std::byte*>(batch->fields[f]);
      all[f].insert(all[f].end(), begin,
                    begin + setup.batch * size_bytes(fields[f].dtype, fields[f].shape));
    }
  }
  for (size_t f = 0; f < fields.size(); ++f) {
    exchange.add("field." + fields[f].name, fields[f].dtype,
                 with_front(fields[f].shape, {steps, setup.batch}), all[f]);
  }
}

}  // namespace

Samples load_samples(const Recipe& recipe, const std::string& dir, int64_t limit_train) {
  data::Dataset train = recipe.data(dir, data::Split::train);
  if (limit_train > 0) train = train.take(limit_train);
  return {std::move(train), recipe.data(dir, data::Split::test),
          dir.empty() ? recipe.built_in_name : recipe.real_name};
}

Trainer trainer_of(const Setup& setup, int64_t train_samples) {
  Optimizer optimizer = setup.plain_sgd ? SGD{.lr = 1.0} : setup.recipe.optimizer();
  optimizer = optimizer.with_learning_rate(optimizer.learning_rate() * setup.lr_scale);
  if (setup.epsilon > 0.0) {
    optimizer =
        Optimizer::parse(fmt::format("{}:epsilon={}", optimizer.name(), setup.epsilon), optimizer);
  }
  TrainerOptions options{.optimizer = optimizer,
                         .ema_decay = setup.recipe.ema_decay,
                         .batch = setup.batch,
                         .seed = setup.seed,
                         .threads = setup.threads};
  if (setup.recipe.schedule != nullptr && !setup.plain_sgd) {
    options.schedule = setup.recipe.schedule(options.optimizer.learning_rate(),
                                             setup.epochs * batches_of(setup, train_samples));
  }
  return {setup.recipe.build(), options};
}

void write_samples(const Samples& samples, const std::string& path) {
  Exchange exchange;
  const std::vector<bool> pixels = pixel_fields(samples);
  add_split(exchange, "train", samples.train, pixels);
  add_split(exchange, "test", samples.test, pixels);
  const auto& fields = samples.train.fields();
  exchange.write(
      path,
      {{"name", samples.name}, {"fields", names_of(fields)}, {"bytes", names_of(fields, pixels)}});
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
  exchange.write(path, {{"total_steps", std::to_string(total)},
                        {"fields", names_of(samples.train.fields())},
                        {"plain_sgd", setup.plain_sgd ? "1" : "0"},
                        {"lr_scale", fmt::format("{}", setup.lr_scale)},
                        {"epsilon", fmt::format("{}", setup.epsilon)}});
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
  return recipe.sample(checkpoint, {.count = count, .seed = seed}).images.floats();
}

}  // namespace thimble::bench
