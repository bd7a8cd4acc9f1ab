#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "autodiff/network.h"
#include "exec/program.h"

namespace thimble::test::network_program_test {
namespace {

using ir::Precision;
using Contents = std::map<std::string, std::vector<double>>;

// Results of a run by name: the loss, the outputs and the state after the run.
using Results = std::map<std::string, std::vector<float>>;

std::vector<float> floats_of(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Results run_program(const ir::Graph& graph, const Contents& contents,
                    const exec::CompileOptions& options) {
  const exec::Program program(graph, options);
  exec::Store store({&program.graph()});
  for (const auto& entry : store.entries()) {
    const ir::Bytes bytes = ir::to_bytes(contents.at(entry.name), Precision::f32);
    std::memcpy(entry.data, bytes.data(), bytes.size());
  }
  parallel::ThreadPool pool(options.threads);
  const exec::Block arena(program.plan().arena_bytes);
  exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                        pool);
  for (const auto& [name, values] : contents) {
    const std::span<std::byte> source = session.source(name);
    if (source.empty() || store.find(name) != nullptr) continue;
    const ir::Bytes bytes = ir::to_bytes(values, Precision::f32);
    std::memcpy(source.data(), bytes.data(), bytes.size());
  }
  EXPECT_TRUE(session.run());
  Results results;
  if (graph.loss) results["loss"] = floats_of(session.loss());
  for (const auto& [name, id] : graph.outputs) results[name] = floats_of(session.output(name));
  for (const auto& entry : store.entries()) {
    if (entry.role != ir::Role::state) continue;
    results[entry.name] =
        floats_of({entry.data, static_cast<size_t>(entry.type.shape.elements()) * sizeof(float)});
  }
  return results;
}

Results run_oracle(const ir::Graph& graph, const Contents& contents) {
  const auto values = run_on(graph, contents, Precision::f32);
  const auto of = [&values](int id) { return floats_of(values[static_cast<size_t>(id)]); };
  Results results;
  if (graph.loss) results["loss"] = of(*graph.loss);
  for (const auto& [name, id] : graph.outputs) results[name] = of(id);
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ir::ValueData& data = graph.values[id];
    // The output of an update comes after its input and has its name.
    if (data.role == ir::Role::state) results[data.name] = of(static_cast<int>(id));
  }
  return results;
}

void expect_close(const Results& got, const Results& wanted) {
  // Rounding of float sums in another order, through some ten layers and back.
  constexpr double kTolerance = 1e-4;
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, values] : wanted) {
    const std::vector<float>& mine = got.at(name);
    ASSERT_EQ(mine.size(), values.size()) << name;
    double scale = 1e-3;
    for (const float v : values) scale = std::max(scale, std::abs(static_cast<double>(v)));
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(mine[i], values[i], kTolerance * scale) << name << "[" << i << "]";
    }
  }
}

ir::Graph inference_step(const Graph& network, int64_t batch) {
  return passes::specialize(ir::with_batch(network.ir(), batch), ir::Phase::inference);
}

class Network : public testing::TestWithParam<int64_t> {
 protected:
  Network() { describe_network(network_); }
  Graph network_;
};

TEST_P(Network, trains_as_the_reference_planned_or_not_fast_or_not) {
  const ir::Graph graph = training_step(network_, GetParam());
  const Contents contents = random_sources(graph, 7);
  const Results oracle = run_oracle(graph, contents);
  for (const bool fast : {false, true}) {
    for (const bool optimize : {false, true}) {
      SCOPED_TRACE(testing::Message() << "fast " << fast << " optimize " << optimize);
      expect_close(run_program(graph, contents, {.fast = fast, .optimize = optimize}), oracle);
    }
  }
}

TEST_P(Network, predicts_as_the_reference_planned_or_not_fast_or_not) {
  const ir::Graph graph = inference_step(network_, GetParam());
  const Contents contents = random_sources(graph, 8);
  const Results oracle = run_oracle(graph, contents);
  for (const bool fast : {false, true}) {
    for (const bool optimize : {false, true}) {
      SCOPED_TRACE(testing::Message() << "fast " << fast << " optimize " << optimize);
      expect_close(run_program(graph, contents, {.fast = fast, .optimize = optimize}), oracle);
    }
  }
}

TEST_P(Network, gives_the_same_bits_on_any_number_of_threads) {
  const ir::Graph graph = training_step(network_, GetParam());
  const Contents contents = random_sources(graph, 9);
  for (const bool optimize : {false, true}) {
    const Results one = run_program(graph, contents, {.threads = 1, .optimize = optimize});
    for (const int threads : {2, 4}) {
      EXPECT_EQ(run_program(graph, contents, {.threads = threads, .optimize = optimize}), one)
          << threads << " threads, optimize " << optimize;
    }
  }
}

// Fusion, shared buffers and order must not change the arithmetic.
TEST_P(Network, gives_the_same_bits_with_and_without_optimization) {
  const ir::Graph graph = training_step(network_, GetParam());
  const Contents contents = random_sources(graph, 10);
  EXPECT_EQ(run_program(graph, contents, {.optimize = true}),
            run_program(graph, contents, {.optimize = false}));
}

INSTANTIATE_TEST_SUITE_P(batch, Network, testing::Values(1, 3, 32));

TEST(network, fuses_activations_and_keeps_running_statistics_at_inference) {
  Graph network;
  describe_network(network);
  const exec::Program training(training_step(network, 2), {});
  const exec::Program inference(inference_step(network, 1), {});
  const auto count = [](const exec::Program& program, std::string_view op) {
    int n = 0;
    for (const ir::Node& node : program.graph().nodes) n += op == node.op->name ? 1 : 0;
    return n;
  };
  EXPECT_EQ(count(training, "relu"), 0) << ir::text(training.graph());
  EXPECT_EQ(count(training, "batch_norm_update"), 2);
  EXPECT_EQ(count(inference, "relu"), 0);
  EXPECT_EQ(count(inference, "batch_norm_inference"), 2);
  EXPECT_EQ(count(inference, "batch_norm_update"), 0);
}

}  // namespace
}  // namespace thimble::test::network_program_test
