#include "harness/op_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>

#include "exec/memory.h"
#include "harness/op_data.h"
#include "harness/uniform.h"
#include "harness/vector_targets.h"
#include "io/json/attrs.h"
#include "parallel/thread_pool.h"
#include "plan/arena.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;

constexpr unsigned char kPaint = 0xA5;
constexpr unsigned char kOtherPaint = 0x5A;
constexpr unsigned char kNanPaint = 0xFF;  // floats of these bytes are NaN

// A buffer with guard bytes on both sides that no kernel may change.
class Guarded {
 public:
  explicit Guarded(int64_t bytes, unsigned char paint = kPaint)
      : paint_(paint), size_(static_cast<size_t>(bytes)), block_(bytes + 2 * kMargin) {
    std::memset(block_.data(), paint, static_cast<size_t>(block_.bytes()));
  }
  [[nodiscard]] std::byte* data() const { return block_.data() + kMargin; }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool intact() const {
    for (size_t i = 0; i < static_cast<size_t>(kMargin); ++i) {
      if (block_.data()[i] != std::byte{paint_}) return false;
      if (data()[size_ + i] != std::byte{paint_}) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kMargin = 256;
  unsigned char paint_;
  size_t size_;
  exec::Block block_;
};

struct KernelRun {
  std::vector<Bytes> outputs;
  std::string error;
};

// Much faster than == of vectors of std::byte under a sanitizer.
bool same_bytes(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// One kernel of a node on given inputs, in guarded memory. alias: laid over its input. paint: what
// the outputs hold before.
KernelRun run_kernel(const ir::Graph& graph, const ir::Node& node, const std::vector<Bytes>& values,
                     bool fast, int threads, const ir::Alias* alias = nullptr,
                     unsigned char paint = kPaint) {
  KernelRun run;
  const ir::Params params = plan::kernel_params(graph, node);
  std::vector<Bytes> inputs;
  for (int id : node.inputs) {
    inputs.push_back(id < 0 ? Bytes() : values[static_cast<size_t>(id)]);
  }
  std::vector<const void*> sources(std::max(inputs.size(), node.op->signature.inputs.size()),
                                   nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] >= 0) sources[i] = inputs[i].data();
  }
  std::vector<Guarded> outputs;
  std::vector<void*> destinations;
  for (int id : node.outputs) {
    outputs.emplace_back(static_cast<int64_t>(ir::byte_size(graph.type(id), Precision::f32)),
                         paint);
    destinations.push_back(outputs.back().data());
  }
  const auto lay_over = [&](const ir::Alias& a) {
    const Bytes& input = inputs[static_cast<size_t>(a.in)];
    Guarded& output = outputs[static_cast<size_t>(a.out)];
    if (!input.empty()) std::memcpy(output.data(), input.data(), input.size());
    sources[static_cast<size_t>(a.in)] = output.data();
  };
  for (const ir::Alias& update : node.op->memory.updates) {
    if (static_cast<size_t>(update.in) < inputs.size() &&
        node.inputs[static_cast<size_t>(update.in)] >= 0)
      lay_over(update);
  }
  if (alias != nullptr) lay_over(*alias);
  parallel::ThreadPool pool(threads);
  const ir::ChosenKernels kernels = ir::kernels_of(graph, node);
  const int64_t scratch = kernels.workspace(params, threads, fast);
  Guarded workspace(fast ? scratch : std::max(scratch, kernels.workspace(params, threads, true)),
                    kNanPaint);
  kernels.kernel(fast)({destinations.data(), sources.data(), workspace.data(),
                        params.bytes().data(), static_cast<int>(node.inputs.size()),
                        static_cast<int>(node.outputs.size()), &pool});
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].intact()) run.error = fmt::format("{} writes past output {}", node.op->name, i);
    run.outputs.emplace_back(outputs[i].data(), outputs[i].data() + outputs[i].size());
  }
  if (!workspace.intact()) run.error = fmt::format("{} writes past its workspace", node.op->name);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (node.inputs[i] >= 0 &&
        !same_bytes(inputs[i], values[static_cast<size_t>(node.inputs[i])])) {
      run.error = fmt::format("{} changes input {}", node.op->name, i);
    }
  }
  return run;
}

// The contents of an output must not depend on what its memory held before. run: painted with
// kPaint.
std::string find_unwritten(const ir::Graph& graph, const ir::Node& node,
                           const std::vector<Bytes>& values, bool fast, const KernelRun& run) {
  const KernelRun other = run_kernel(graph, node, values, fast, 1, nullptr, kOtherPaint);
  for (size_t i = 0; i < run.outputs.size(); ++i) {
    if (same_bytes(run.outputs[i], other.outputs[i])) continue;
    return fmt::format("{} ({}) leaves a part of output {} unwritten", node.op->name,
                       fast ? "fast" : "reference", i);
  }
  return "";
}

// Whether codes of numbers are equal but for few, which stand for neighbours (modulo 256: those of
// numbers below 0 count down from there): a number halfway between two codes may round to either.
bool same_codes(const Bytes& got, const Bytes& wanted) {
  constexpr size_t kCodesPerNeighbour = 1000;
  size_t neighbours = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto difference =
        static_cast<uint8_t>(static_cast<int>(got[i]) - static_cast<int>(wanted[i]));
    if (difference != 0 && difference != 1 && difference != 255) return false;
    if (difference != 0) ++neighbours;
  }
  return neighbours * kCodesPerNeighbour <= wanted.size();
}

bool same_integers(const OpCase& test, DType dtype, const Bytes& got, const Bytes& wanted) {
  return test.codes && dtype == DType::u8 ? same_codes(got, wanted) : got == wanted;
}

// The distance of adjacent numbers near 1: sums rounded in another order may differ by it.
double rounding_of(DType dtype) { return dtype == DType::bf16 ? 0x1p-7 : 0x1p-10; }

std::string compare_outputs(const ir::Graph& graph, const ir::Node& node, const OpCase& test,
                            const std::vector<Bytes>& got, const std::vector<Bytes>& wanted) {
  const double tolerance = test.tolerance;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const DType dtype = graph.type(node.outputs[i]).dtype;
    if (dtype == DType::f16 || dtype == DType::bf16) {
      const ir::TensorType& type = graph.type(node.outputs[i]);
      const double difference =
          relative_difference(numbers_of(got[i], type), numbers_of(wanted[i], type));
      if (difference <= tolerance + rounding_of(dtype)) continue;
      return fmt::format("{} output {} ({}) differs by {:.3g} of its largest, allowed {:.3g}",
                         node.op->name, i, to_string(dtype), difference,
                         tolerance + rounding_of(dtype));
    }
    if (dtype != DType::f32) {
      if (!same_integers(test, dtype, got[i], wanted[i])) {
        return fmt::format("{} output {} differs", node.op->name, i);
      }
      continue;
    }
    const double difference = relative_difference(ir::to_doubles(got[i], Precision::f32),
                                                  ir::to_doubles(wanted[i], Precision::f32));
    if (!(difference <= tolerance)) {
      return fmt::format("{} output {} differs by {:.3g} of its largest, allowed {:.3g}",
                         node.op->name, i, difference, tolerance);
    }
  }
  return "";
}

// Every node of the op's forward and gradient graph with the contents of all values.
template <class Check>
std::string for_each_node(const ir::OpDef& op, const OpCase& test, Check check) {
  const CaseGraph made = make_graph(op, test, true);
  const auto values =
      ir::run_reference(made.graph, make_data(made, test, 1).bytes(Precision::f32), Precision::f32);
  for (const ir::Node& node : made.graph.nodes) {
    std::string error = check(made.graph, node, values);
    if (!error.empty()) return error;
  }
  return "";
}

std::string check_fast_on_target(const ir::Graph& graph, const ir::Node& node,
                                 const std::vector<Bytes>& values, const OpCase& test) {
  const KernelRun reference = run_kernel(graph, node, values, false, 1);
  const KernelRun fast = run_kernel(graph, node, values, true, 1);
  if (!reference.error.empty()) return reference.error;
  if (!fast.error.empty()) return fast.error;
  std::string error = compare_outputs(graph, node, test, fast.outputs, reference.outputs);
  if (!error.empty()) return error;
  error = find_unwritten(graph, node, values, true, fast);
  if (!error.empty()) return error;
  for (const int threads : {2, 4}) {
    const KernelRun many = run_kernel(graph, node, values, true, threads);
    if (!many.error.empty()) return many.error;
    if (many.outputs != fast.outputs) {
      return fmt::format("{} gives other bits on {} threads", node.op->name, threads);
    }
  }
  return "";
}

}  // namespace

std::vector<Bytes> run_fast(const ir::Graph& graph, const ir::Node& node,
                            const std::vector<Bytes>& values) {
  return run_kernel(graph, node, values, true, 1).outputs;
}

std::string check_shapes(const ir::OpDef& op, const OpCase& test) {
  const CaseGraph made = make_graph(op, test, false);
  if (!test.expect.empty() && test.expect.size() != made.outputs.size()) {
    return fmt::format("{} outputs, expected {}", made.outputs.size(), test.expect.size());
  }
  for (size_t i = 0; i < test.expect.size(); ++i) {
    const Shape& shape = made.graph.type(made.outputs[i]).shape;
    if (shape != test.expect[i]) {
      return fmt::format("output {} has shape {}, expected {}", i, to_string(shape),
                         to_string(test.expect[i]));
    }
  }
  return for_each_node(
      op, test, [](const ir::Graph& graph, const ir::Node& node, const std::vector<Bytes>& values) {
        const KernelRun run = run_kernel(graph, node, values, false, 1);
        return run.error.empty() ? find_unwritten(graph, node, values, false, run) : run.error;
      });
}

std::string check_reference(const ir::OpDef& op, const OpCase& test) {
  if (op.kernels.ref64 == nullptr) return "";
  const CaseGraph made = make_graph(op, test, false);
  const CaseData data = make_data(made, test, 2);
  const auto single = ir::run_reference(made.graph, data.bytes(Precision::f32), Precision::f32);
  const auto twice = ir::run_reference(made.graph, data.bytes(Precision::f64), Precision::f64);
  for (int id : made.outputs) {
    const auto v = static_cast<size_t>(id);
    const DType dtype = made.graph.type(id).dtype;
    if (dtype != DType::f32) {
      if (!same_integers(test, dtype, single[v], twice[v]))
        return "the two precisions differ in an integer output";
      continue;
    }
    const double difference = relative_difference(ir::to_doubles(single[v], Precision::f32),
                                                  ir::to_doubles(twice[v], Precision::f64));
    if (!(difference <= test.tolerance)) {
      return fmt::format("float differs from double by {:.3g} of its largest, allowed {:.3g}",
                         difference, test.tolerance);
    }
  }
  return "";
}

std::string check_fast(const ir::OpDef& op, const OpCase& test) {
  return for_each_node(op, test,
                       [&](const ir::Graph& graph, const ir::Node& node,
                           const std::vector<Bytes>& values) -> std::string {
                         if (ir::kernels_of(graph, node).fast == nullptr) return "";
                         for (const int64_t target : usable_targets()) {
                           const ChosenTarget chosen(target);
                           const std::string error =
                               check_fast_on_target(graph, node, values, test);
                           if (!error.empty())
                             return fmt::format("{}: {}", hwy::TargetName(target), error);
                         }
                         return "";
                       });
}

std::string check_in_place(const ir::OpDef& op, const OpCase& test) {
  return for_each_node(
      op, test,
      [&](const ir::Graph& graph, const ir::Node& node,
          const std::vector<Bytes>& values) -> std::string {
        std::vector<ir::Alias> aliases = node.op->memory.in_place;
        aliases.insert(aliases.end(), node.op->memory.views.begin(), node.op->memory.views.end());
        for (const ir::Alias& alias : aliases) {
          const auto in = static_cast<size_t>(alias.in);
          if (in >= node.inputs.size() || node.inputs[in] < 0) continue;
          if (values[static_cast<size_t>(node.inputs[in])].size() !=
              values[static_cast<size_t>(node.outputs[static_cast<size_t>(alias.out)])].size()) {
            continue;
          }
          for (const bool fast : {false, true}) {
            if (fast && ir::kernels_of(graph, node).fast == nullptr) continue;
            const KernelRun separate = run_kernel(graph, node, values, fast, 2);
            const KernelRun in_place = run_kernel(graph, node, values, fast, 2, &alias);
            if (!in_place.error.empty()) return in_place.error;
            if (separate.outputs != in_place.outputs) {
              return fmt::format("{} ({}) gives other bits with output {} on input {}",
                                 node.op->name, fast ? "fast" : "reference", alias.out, alias.in);
            }
          }
        }
        return "";
      });
}

std::string check_gradient(const ir::OpDef& op, const OpCase& test) {
  // Central differences of a smooth function: error near step^2, rounding near 1e-16 / step.
  constexpr double kStep = 1e-5;
  constexpr int kDirections = THIMBLE_SANITIZED ? 1 : 3;
  if (op.gradient.vjp == nullptr) return "";
  const CaseGraph with = make_graph(op, test, true);
  // Differences of 16-bit numbers are too coarse for finite differences; check_types tests these.
  // Those of int8 are steps; tests/autodiff/quantized_gradient_test.cpp compares their gradients.
  for (const ir::ValueData& value : with.graph.values) {
    if (value.type.dtype == DType::f16 || value.type.dtype == DType::bf16) return "";
    if (!is_floating(value.type.dtype) && autodiff::is_differentiable(value.type)) return "";
  }
  const CaseGraph plain = make_graph(op, test, false);
  const CaseData data = make_data(with, test, 3);
  const auto values = ir::run_reference(with.graph, data.bytes(Precision::f64), Precision::f64);
  const auto target = [&](const CaseData& at) {
    CaseData sources;
    sources.raw = at.raw;
    for (int id : plain.inputs) {
      if (id >= 0 && at.numbers.count(id) > 0) sources.numbers[id] = at.numbers.at(id);
    }
    const auto results =
        ir::run_reference(plain.graph, sources.bytes(Precision::f64), Precision::f64);
    double sum = 0.0;
    for (const auto& [output, cotangent] : with.cotangents) {
      const auto y = ir::to_doubles(results[static_cast<size_t>(output)], Precision::f64);
      const std::vector<double>& weights = data.numbers.at(cotangent);
      for (size_t i = 0; i < y.size(); ++i) sum += y[i] * weights[i];
    }
    return sum;
  };
  std::mt19937 random(4);
  const Uniform uniform(-1.0, 1.0);
  for (const autodiff::Gradient& gradient : with.gradients) {
    std::vector<double> dx(data.numbers.at(gradient.value).size(), 0.0);
    if (gradient.gradient >= 0) {
      dx = ir::to_doubles(values[static_cast<size_t>(gradient.gradient)], Precision::f64);
    }
    for (int k = 0; k < kDirections; ++k) {
      CaseData up = data;
      CaseData down = data;
      double expected = 0.0;
      double scale = 1e-3;
      for (size_t i = 0; i < dx.size(); ++i) {
        const double u = uniform(random);
        up.numbers[gradient.value][i] += kStep * u;
        down.numbers[gradient.value][i] -= kStep * u;
        expected += dx[i] * u;
        scale += std::abs(dx[i] * u);
      }
      const double measured = (target(up) - target(down)) / (2.0 * kStep);
      if (!(std::abs(measured - expected) <= test.grad_tolerance * scale)) {
        return fmt::format("gradient by {}: rule says {:.9g}, finite differences {:.9g}",
                           with.graph.data(gradient.value).name, expected, measured);
      }
    }
  }
  return "";
}

std::string check_attributes(const ir::OpDef& op, const OpCase& test) {
  const ir::Attrs attrs = test.attrs ? test.attrs : ir::Attrs::defaults(op.signature.attrs);
  const std::string text = io::attrs_to_json(attrs).dump();
  const ir::Attrs again =
      io::attrs_from_json(op.signature.attrs, nlohmann::json::parse(text), op.name);
  if (attrs.full_text() == again.full_text()) return "";
  return fmt::format("attributes {} come back from JSON as {}", attrs.full_text(),
                     again.full_text());
}

std::string check_rejects(const ir::OpDef& op, const RejectCase& test) {
  try {
    make_graph(op, {.name = test.name, .inputs = test.inputs, .attrs = test.attrs}, false);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.find(test.error) != std::string::npos) return "";
    return fmt::format("expected a message with \"{}\", got \"{}\"", test.error, what);
  }
  return "accepted, but must be refused";
}

std::vector<std::string> ops_of_case(const ir::OpDef& op, const OpCase& test) {
  std::vector<std::string> names;
  for (const ir::Node& node : make_graph(op, test, true).graph.nodes) {
    names.emplace_back(node.op->name);
  }
  return names;
}

}  // namespace thimble::test
