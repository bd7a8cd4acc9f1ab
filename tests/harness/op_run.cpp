#include "harness/op_run.h"

#include "exec/memory.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace thimble::test {

std::vector<ir::Bytes> run_op(const char* name, const ir::Attrs& attrs,
                              const std::vector<Tensor>& inputs, Kernel which) {
  const ir::OpDef* op = ir::find_op(name);
  if (op == nullptr) throw Error(name, "no such op in the library");
  return run_op(*op, attrs, inputs, which);
}

std::vector<ir::Bytes> run_op(const ir::OpDef& op, const ir::Attrs& attrs,
                              const std::vector<Tensor>& inputs, Kernel which) {
  ir::Graph graph;
  std::vector<Value> values;
  std::vector<const void*> sources(std::max(inputs.size(), op.signature.inputs.size()), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].absent) {
      values.emplace_back();
      continue;
    }
    values.push_back(graph.source(std::to_string(i), inputs[i].type, ir::Role::input));
    sources[i] = inputs[i].bytes.data();
  }
  std::vector<ir::Bytes> outputs;
  std::vector<void*> destinations;
  for (const Value& output : graph.add(op, attrs, values)) {
    outputs.emplace_back(static_cast<size_t>(size_bytes(output.dtype(), output.shape())));
  }
  for (const ir::Alias& update : op.memory.updates) {
    const auto in = static_cast<size_t>(update.in);
    const auto out = static_cast<size_t>(update.out);
    if (in < inputs.size() && out < outputs.size()) outputs[out] = inputs[in].bytes;
  }
  for (ir::Bytes& output : outputs) destinations.push_back(output.data());
  const ir::Params params = plan::kernel_params(graph, graph.nodes.back());
  const ir::ChosenKernels kernels = ir::kernels_of(graph, graph.nodes.back());
  const bool fast = which == Kernel::fast;
  parallel::ThreadPool pool(1);
  const exec::Block workspace(
      std::max(kernels.workspace(params, 1, fast), kernels.workspace(params, 1, true)));
  kernels.kernel(fast)({destinations.data(), sources.data(), workspace.data(),
                        params.bytes().data(), static_cast<int>(inputs.size()),
                        static_cast<int>(outputs.size()), &pool});
  return outputs;
}

std::vector<float> evaluate(Value value, std::span<const uint32_t> rng) {
  std::map<int, ir::Bytes> sources;
  const Value state = value.graph().find_source(ir::kRngName);
  if (state) {
    const auto bytes = std::as_bytes(rng);
    sources[state.id()].assign(bytes.begin(), bytes.end());
    sources[state.id()].resize(static_cast<size_t>(
        size_bytes(state.dtype(), state.shape())));  // the rest: the whole batch
  }
  const auto all = ir::run_reference(value.graph(), std::move(sources), ir::Precision::f32);
  return values_of<float>(all[static_cast<size_t>(value.id())]);
}

}  // namespace thimble::test
