#include <thimble/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "ir/graph.h"
#include "ir/rewrite.h"
#include "ops/families/quantized/by_rows.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_conv2d_rows/chain.h"
#include "ops/quantized_conv2d_rows/dims.h"

#define THIMBLE_OP quantized_conv2d_rows
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_conv2d_rows_impl {

namespace {

constexpr size_t kNumbers = 14;  // of a convolution

}  // namespace

QuantizedConv2dRowsAttrs numbers_of(const std::vector<QuantizedConv2dAttrs>& stages) {
  QuantizedConv2dRowsAttrs attrs;
  for (const QuantizedConv2dAttrs& s : stages) {
    const auto scale = std::bit_cast<uint32_t>(static_cast<float>(s.scale));
    for (const int64_t number :
         {s.stride.h, s.stride.w, s.padding.top, s.padding.bottom, s.padding.left, s.padding.right,
          int64_t{s.padding.automatic}, s.dilation.h, s.dilation.w, s.groups,
          static_cast<int64_t>(s.activation), int64_t{scale}, s.zero_point,
          static_cast<int64_t>(s.requantization)}) {
      attrs.convolutions.push_back(number);
    }
  }
  return attrs;
}

std::vector<QuantizedConv2dAttrs> stages_of(const QuantizedConv2dRowsAttrs& attrs) {
  const std::vector<int64_t>& all = attrs.convolutions;
  const size_t count = all.size() / kNumbers;
  if (count < 1 || count > QUANTIZED_ROWS_STAGES || all.size() % kNumbers != 0) {
    throw Error("quantized_conv2d_rows",
                fmt::format("expected {} numbers for each of 1 to {} convolutions, got {}",
                            kNumbers, QUANTIZED_ROWS_STAGES, all.size()));
  }
  std::vector<QuantizedConv2dAttrs> stages;
  for (size_t i = 0; i < count; ++i) {
    const int64_t* v = all.data() + i * kNumbers;
    if (v[10] < 0 || v[10] > static_cast<int64_t>(Activation::relu6) || v[13] < 0 || v[13] > 1 ||
        v[11] < 0 || v[11] > std::numeric_limits<uint32_t>::max()) {
      throw Error("quantized_conv2d_rows", "expected a known activation, scale and requantization");
    }
    QuantizedConv2dAttrs s{.stride = {v[0], v[1]},
                           .padding = {v[2], v[3], v[4], v[5]},
                           .dilation = {v[7], v[8]},
                           .groups = v[9],
                           .activation = static_cast<Activation>(v[10])};
    s.padding.automatic = v[6] != 0;
    s.scale = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(v[11])));
    s.zero_point = v[12];
    s.requantization = static_cast<Requantization>(v[13]);
    stages.push_back(s);
  }
  return stages;
}

namespace {

// A convolution of the chain, with the types of what it reads and makes.
struct Stage {
  ir::Attrs attrs;
  ir::TensorType x;
  const ir::TensorType* weight;
  const ir::TensorType* bias;
  ir::TensorType y;
};

std::vector<Stage> chain_of(const ir::Attrs& attrs, std::span<const ir::TensorType* const> inputs) {
  std::vector<Stage> stages;
  ir::TensorType x = *inputs[0];
  size_t next = 1;
  for (const QuantizedConv2dAttrs& each : stages_of(attrs.as<QuantizedConv2dRowsAttrs>())) {
    Stage stage{ir::Attrs::of(each), x, inputs[next], inputs[next + 1], {}};
    const ir::TensorType* const own[] = {&stage.x, stage.weight, stage.bias};
    stage.y = ir::infer_types(quantized_convolution(), stage.attrs, own).at(0);
    x = stage.y;
    stages.push_back(std::move(stage));
    next += 2;
  }
  return stages;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const size_t count = stages_of(c.attrs.as<QuantizedConv2dRowsAttrs>()).size();
  const auto given = static_cast<size_t>(
      std::count_if(c.inputs.begin(), c.inputs.end(), [](const auto* type) { return type; }));
  const auto complete = given == 1 + 2 * count && c.inputs[given - 1] != nullptr;
  if (!complete) {
    c.fail(fmt::format("expected x, and a weight and a bias for each of {} convolutions", count));
  }
  return {chain_of(c.attrs, c.inputs).back().y};
}

ir::Params params(const ir::KernelContext& c) {
  quantized_conv2d_rows_dims d{};
  std::vector<quantized_factor> factors;
  for (const Stage& stage : chain_of(c.attrs, c.inputs)) {
    const ir::TensorType* const own[] = {&stage.x, stage.weight, stage.bias};
    const ir::Params made =
        quantized_convolution().kernels.params({stage.attrs, own, {&stage.y, 1}});
    const std::vector<std::byte>& bytes = made.bytes();
    std::memcpy(&d.stages[d.count++], bytes.data(), sizeof(quantized_conv2d_dims));
    const size_t known = factors.size();
    factors.resize(known +
                   (bytes.size() - sizeof(quantized_conv2d_dims)) / sizeof(quantized_factor));
    std::memcpy(factors.data() + known, bytes.data() + sizeof(quantized_conv2d_dims),
                bytes.size() - sizeof(quantized_conv2d_dims));
  }
  return with_channels(d, factors);
}

int64_t workspace(const ir::Params& p, int /*threads*/) {
  const auto d = p.as<quantized_conv2d_rows_dims>();
  int64_t bytes = 0;
  for (int i = 1; i < d.count; ++i) {
    const conv_dims& stage = d.stages[i].conv;
    bytes += int64_t{quantized_rows_kept(&stage)} * stage.w * stage.c;
  }
  return bytes;
}

ir::DeviceWork device_work(const ir::Params& p) {
  const auto d = p.as<quantized_conv2d_rows_dims>();
  ir::DeviceWork work;
  for (int i = 0; i < d.count; ++i) add_convolution(work, d.stages[i], false);
  return work;
}

std::vector<ir::ArgDoc> inputs() {
  static constexpr const char* kNames[][2] = {
      {"weight", "bias"},   {"weight2", "bias2"}, {"weight3", "bias3"}, {"weight4", "bias4"},
      {"weight5", "bias5"}, {"weight6", "bias6"}, {"weight7", "bias7"}, {"weight8", "bias8"}};
  static_assert(std::size(kNames) == QUANTIZED_ROWS_STAGES);
  std::vector<ir::ArgDoc> all{
      {.name = "x", .doc = "[N, H, W, C], i8 with one scale", .types = DType::i8}};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    const bool further = i > 0;
    all.push_back({.name = kNames[i][0],
                   .doc = "[K, kh, kw, C / groups], i8",
                   .optional = further,
                   .types = DType::i8});
    all.push_back({.name = kNames[i][1], .doc = "[K]", .optional = further, .types = DType::i32});
  }
  return all;
}

const OpDef& rows_op() {
  static const OpDef def{
      .name = "quantized_conv2d_rows",
      .signature{
          .doc = "quantized_conv2d several times, one after another, with the same bits. A row is "
                 "computed when the next convolution needs it, so that of each result between two "
                 "of them only the rows that a window covers lie in memory.",
          .inputs = inputs(),
          .outputs = {{"y", "[N, P, Q, K], i8 with one scale"}},
          .attrs = ir::Attrs::schema_of<QuantizedConv2dRowsAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace = workspace,
          .device_work = device_work,
          .ref = ir::kernel_fn<&f32::quantized_conv2d_rows_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv2d_rows_ref>(),
          .any_type = true,
      },
  };
  return def;
}

// --- Which convolutions become one ---

// The bytes of the rows that a convolution keeps of what it reads, in a chain.
int64_t kept_bytes(const ir::Graph& graph, const ir::Node& node) {
  const auto& attrs = node.attrs.as<QuantizedConv2dAttrs>();
  const Shape& x = graph.type(node.input(0)).shape;
  const int64_t covered = (graph.type(node.input(1)).shape[1] - 1) * attrs.dilation.h + 1;
  return std::min(covered, x[1]) * x[2] * x[3];
}

int64_t elements(const ir::Graph& graph, int id) { return graph.type(id).shape.elements(); }

// Where the parts of a run of convolutions end, so that the largest sum of what a part reads, keeps
// and writes is least, and then the number of convolutions that share a part.
std::vector<size_t> parts_of(const ir::Graph& graph, const std::vector<size_t>& run) {
  struct Best {
    int64_t bytes = std::numeric_limits<int64_t>::max();
    size_t shared = 0;
    size_t first = 0;  // of the last part
  };
  std::vector<Best> best(run.size() + 1);
  best[0].bytes = 0;
  for (size_t end = 1; end <= run.size(); ++end) {
    const int64_t made = elements(graph, graph.nodes[run[end - 1]].outputs[0]);
    int64_t kept = 0;
    for (size_t first = end; first-- > 0 && end - first <= QUANTIZED_ROWS_STAGES;) {
      const ir::Node& node = graph.nodes[run[first]];
      const int64_t own = elements(graph, node.input(0)) + kept + made;
      const Best candidate{std::max(best[first].bytes, own), best[first].shared + end - first - 1,
                           first};
      if (std::pair(candidate.bytes, candidate.shared) <
          std::pair(best[end].bytes, best[end].shared)) {
        best[end] = candidate;
      }
      kept += kept_bytes(graph, node);
    }
  }
  std::vector<size_t> ends;
  for (size_t end = run.size(); end > 0; end = best[end].first) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

// Runs of nodes, each of which alone reads the result of the one before it.
std::vector<std::vector<size_t>> runs_of(const ir::Graph& graph) {
  const std::vector<char> read_once = graph.read_once();
  std::vector<std::vector<size_t>> runs;
  std::vector<int> run_of(graph.nodes.size(), -1);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (node.op != &quantized_convolution() || node.input(2) < 0) continue;
    const int x = node.input(0);
    const int producer = graph.data(x).producer;
    const int run = producer < 0 ? -1 : run_of[static_cast<size_t>(producer)];
    if (run >= 0 && read_once[static_cast<size_t>(x)] != 0) {
      run_of[n] = run;
      runs[static_cast<size_t>(run)].push_back(n);
    } else {
      run_of[n] = static_cast<int>(runs.size());
      runs.push_back({n});
    }
  }
  return runs;
}

}  // namespace

ir::Graph rewritten(const ir::Graph& graph) {
  // Of the last node of each part, its first one; of the others, nothing.
  std::vector<std::vector<size_t>> parts(graph.nodes.size());
  std::vector<char> is_inner(graph.nodes.size(), 0);
  for (const std::vector<size_t>& run : runs_of(graph)) {
    size_t first = 0;
    for (const size_t end : parts_of(graph, run)) {
      for (size_t i = first; i + 1 < end; ++i) is_inner[run[i]] = 1;
      parts[run[end - 1]].assign(run.begin() + static_cast<ptrdiff_t>(first),
                                 run.begin() + static_cast<ptrdiff_t>(end));
      first = end;
    }
  }
  ir::Rewriter rewriter(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    if (is_inner[n] != 0) continue;
    if (parts[n].size() < 2) {
      rewriter.copy(node);
      continue;
    }
    std::vector<QuantizedConv2dAttrs> stages;
    std::vector<Value> inputs{rewriter.map(graph.nodes[parts[n][0]].input(0))};
    for (const size_t part : parts[n]) {
      stages.push_back(graph.nodes[part].attrs.as<QuantizedConv2dAttrs>());
      inputs.push_back(rewriter.map(graph.nodes[part].input(1)));
      inputs.push_back(rewriter.map(graph.nodes[part].input(2)));
    }
    rewriter.graph().reopen_layer(node.layer);
    rewriter.replace(node,
                     rewriter.graph().add(rows_op(), ir::Attrs::of(numbers_of(stages)), inputs));
    rewriter.graph().end_layer();
  }
  return std::move(rewriter).finish();
}

}  // namespace thimble::ops::quantized_conv2d_rows_impl

THIMBLE_OP_FOLDER(quantized_conv2d_rows) {
  static const OpDef* const defs[] = {&rows_op()};
  return defs;
}

namespace thimble::ops {

ir::Graph convolutions_by_rows(const ir::Graph& graph) {
  return quantized_conv2d_rows_impl::rewritten(graph);
}

}  // namespace thimble::ops

namespace thimble {

void describe(QuantizedConv2dRowsAttrs& a, ir::FieldVisitor& v) {
  v.field("convolutions", a.convolutions, "14 numbers of each convolution of the chain");
}

}  // namespace thimble
