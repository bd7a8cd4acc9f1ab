#include "harness/op_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "exec/memory.h"
#include "harness/op_data.h"
#include "harness/vector_targets.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;

// A kernel of a node.
struct Kernel {
  const ir::Node& node;
  ir::KernelFn function;
  bool fast;
  int threads;
};

std::vector<Kernel> kernels_of(const ir::Node& node) {
  std::vector<Kernel> kernels{{node, node.op->kernels.ref, false, 1}};
  if (node.op->kernels.fast == nullptr) return kernels;
  kernels.push_back({node, node.op->kernels.fast, true, 1});
  kernels.push_back({node, node.op->kernels.fast, true, 4});
  return kernels;
}

// inputs: of all that the op declares, null where left out.
void run(const Kernel& kernel, const std::vector<void*>& outputs,
         const std::vector<const void*>& inputs, const ir::Params& params) {
  parallel::ThreadPool pool(kernel.threads);
  const ir::OpDef& op = *kernel.node.op;
  const bool scratch = kernel.fast && op.kernels.workspace != nullptr;
  const exec::Block workspace(scratch ? op.kernels.workspace(params, kernel.threads) : 0);
  if (workspace.bytes() > 0) {
    std::memset(workspace.data(), 0xFF, static_cast<size_t>(workspace.bytes()));
  }
  kernel.function({outputs.data(), inputs.data(), workspace.data(), params.bytes().data(),
                   static_cast<int>(kernel.node.inputs.size()), static_cast<int>(outputs.size()),
                   &pool});
}

// Parameters as bytes that may be changed; larger than any op's.
struct OpenParams {
  alignas(16) std::byte bytes[1024] = {};
  explicit OpenParams(const ir::Params& params) {
    if (params.bytes().size() > sizeof(bytes)) throw Error("test", "parameters too large");
    std::copy(params.bytes().begin(), params.bytes().end(), bytes);
  }
};

std::vector<const void*> inputs_of(const ir::Node& node, const std::vector<Bytes>& values) {
  std::vector<const void*> inputs(std::max(node.inputs.size(), node.op->signature.inputs.size()),
                                  nullptr);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] >= 0) inputs[i] = values[static_cast<size_t>(node.inputs[i])].data();
  }
  return inputs;
}

// Calls check(kernel) for every kernel of the node on every target.
template <class Check>
std::string for_each_kernel(const ir::Node& node, Check check) {
  for (const int64_t target : usable_targets()) {
    const ChosenTarget chosen(target);
    for (const Kernel& kernel : kernels_of(node)) {
      const std::string error = check(kernel);
      if (error.empty()) continue;
      return fmt::format("{} ({}, {}, {} threads): {}", node.op->name, hwy::TargetName(target),
                         kernel.fast ? "fast" : "reference", kernel.threads, error);
    }
  }
  return "";
}

std::string compare_parts(const ir::Graph& graph, const Kernel& kernel,
                          const std::vector<Bytes>& values) {
  const ir::Node& node = kernel.node;
  const ir::Params params = plan::kernel_params(graph, node);
  const ir::TensorType& type = graph.type(node.outputs[0]);
  const int64_t rows = type.shape[0];
  const auto row_bytes = static_cast<size_t>(size_bytes(type.dtype, type.shape) / rows);
  const auto inputs = inputs_of(node, values);
  Bytes whole(row_bytes * static_cast<size_t>(rows));
  run(kernel, {whole.data()}, inputs, params);
  const int64_t least = node.op->memory.part.rows(params);
  for (const int64_t step : {least, 2 * least}) {
    for (int64_t first = 0; first < rows; first += step) {
      const int64_t count = std::min(step, rows - first);
      OpenParams changed(params);
      node.op->memory.part.part(changed.bytes, first, count);
      Bytes part(row_bytes * static_cast<size_t>(count));
      run(kernel, {part.data()}, inputs, changed);
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(row_bytes) * first;
      if (!std::equal(part.begin(), part.end(), begin)) {
        return fmt::format("rows {} to {} have other bits than in the whole", first, first + count);
      }
    }
  }
  return "";
}

// The outputs after the rule, applied to pieces of so many elements.
std::vector<Bytes> updated(const Kernel& kernel, const std::vector<Bytes>& values,
                           const ir::Params& params, int64_t elements, int64_t piece) {
  const ir::Node& node = kernel.node;
  std::vector<Bytes> results;
  for (size_t t = 0; t < node.outputs.size(); ++t) {
    const int input = node.op->memory.updates[t].in;
    results.push_back(values[static_cast<size_t>(node.input(input))]);
  }
  for (int64_t first = 0; first < elements; first += piece) {
    const auto offset = first * static_cast<int64_t>(sizeof(float));
    std::vector<const void*> inputs = inputs_of(node, values);
    inputs[1] = static_cast<const std::byte*>(inputs[1]) + offset;
    std::vector<void*> outputs;
    for (size_t t = 0; t < results.size(); ++t) {
      outputs.push_back(results[t].data() + offset);
      inputs[static_cast<size_t>(node.op->memory.updates[t].in)] = outputs.back();
    }
    OpenParams changed(params);
    const auto count = static_cast<int>(std::min(piece, elements - first));
    std::memcpy(changed.bytes, &count, sizeof(count));
    run(kernel, outputs, inputs, changed);
  }
  return results;
}

}  // namespace

std::vector<std::string> ops_of_several_parts(const ir::OpDef& op, const OpCase& test) {
  std::vector<std::string> names;
  const CaseGraph made = make_graph(op, test, true);
  for (const ir::Node& node : made.graph.nodes) {
    if (node.op->memory.part.rows == nullptr) continue;
    const int64_t step = node.op->memory.part.rows(plan::kernel_params(made.graph, node));
    if (step > 0 && made.graph.type(node.outputs[0]).shape[0] > step)
      names.emplace_back(node.op->name);
  }
  return names;
}

std::string check_parts(const ir::OpDef& op, const OpCase& test) {
  const CaseGraph made = make_graph(op, test, true);
  const auto values =
      ir::run_reference(made.graph, make_data(made, test, 4).bytes(Precision::f32), Precision::f32);
  for (const ir::Node& node : made.graph.nodes) {
    if (node.op->memory.part.rows == nullptr) continue;
    const int64_t step = node.op->memory.part.rows(plan::kernel_params(made.graph, node));
    if (step <= 0) continue;
    std::string error = for_each_kernel(
        node, [&](const Kernel& kernel) { return compare_parts(made.graph, kernel, values); });
    if (!error.empty()) return error;
  }
  return "";
}

std::string check_halves(const ir::OpDef& op, const OpCase& test) {
  if (!op.optimizer.elementwise) return "";
  const CaseGraph made = make_graph(op, test, false);
  const ir::Node& node = made.graph.nodes[0];
  const ir::TensorType& param = made.graph.type(node.input(0));
  for (const ir::StateSpec& state : op.optimizer.states(node.attrs, param.shape)) {
    if (state.type != param) return "";  // not of these settings
  }
  const auto values =
      ir::run_reference(made.graph, make_data(made, test, 5).bytes(Precision::f32), Precision::f32);
  const ir::Params params = plan::kernel_params(made.graph, node);
  const int64_t elements = param.shape.elements();
  return for_each_kernel(node, [&](const Kernel& kernel) -> std::string {
    const auto whole = updated(kernel, values, params, elements, std::max<int64_t>(1, elements));
    const auto halves =
        updated(kernel, values, params, elements, std::max<int64_t>(1, elements / 2));
    return whole == halves ? "" : "two halves give other bits than the whole";
  });
}

}  // namespace thimble::test
