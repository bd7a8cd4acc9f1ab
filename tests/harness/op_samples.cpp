// Checks what an op declares about how its outputs depend on samples (DataFlow::samples).
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "harness/op_checks.h"
#include "harness/op_data.h"

namespace thimble::test {
namespace {

using ir::Bytes;
using ir::Precision;

constexpr double kRounding = 1e-11;
constexpr size_t kMostInputs = 8;  // all subsets of them are tried

using Counted = std::vector<char>;  // by input: whether its first dimension counts the samples

Shape with_rows(const Shape& shape, int64_t rows) {
  std::vector<int64_t> dims = shape.dims();
  dims[0] = rows;
  return Shape(std::move(dims));
}

// The case with some of the samples; nothing if the op does not accept it.
std::optional<CaseGraph> graph_of(const ir::OpDef& op, const OpCase& whole, const Counted& counted,
                                  int64_t count) {
  OpCase part = whole;
  for (size_t i = 0; i < counted.size(); ++i) {
    if (counted[i] != 0) part.inputs[i].shape = with_rows(part.inputs[i].shape, count);
  }
  try {
    return make_graph(op, part, false);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The samples [first, first + count) of `samples` in a tensor's bytes.
Bytes cut(const Bytes& all, int64_t first, int64_t count, int64_t samples) {
  const auto each = static_cast<std::ptrdiff_t>(all.size()) / samples;
  return {all.begin() + first * each, all.begin() + (first + count) * each};
}

using Outputs = std::vector<Bytes>;

class SamplesCheck {
 public:
  SamplesCheck(const ir::OpDef& op, const OpCase& test, Counted counted, int64_t samples)
      : op_(op), test_(test), counted_(std::move(counted)), samples_(samples) {}

  std::string run() {
    const int64_t first = samples_ / 2;
    whole_ = graph_of(op_, test_, counted_, samples_);
    const auto part = graph_of(op_, test_, counted_, first);
    const auto rest = graph_of(op_, test_, counted_, samples_ - first);
    if (!whole_ || !part || !rest) return "";
    if (!settle_kinds(*part, first) || !settle_kinds(*rest, samples_ - first)) return "";
    const ir::Samples rule = rule_of();
    if (rule == ir::Samples::mixed || rule == ir::Samples::statistics) return "";
    data_ = make_data(*whole_, test_, 1).bytes(Precision::f64);
    const Outputs all = results(*whole_, 0, samples_);
    const Outputs one = results(*part, 0, first);
    const Outputs other = results(*rest, first, samples_ - first);
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == Kind::mean && rule == ir::Samples::independent) continue;
      std::string error = compare(i, all, one, other, first);
      if (!error.empty()) return error;
    }
    return "";
  }

 private:
  enum class Kind { unknown, samples, mean };

  // Finds which outputs have the samples as their first dimension. False if a shape shows that the
  // op treats them in another way.
  bool settle_kinds(const CaseGraph& part, int64_t count) {
    kinds_.resize(whole_->outputs.size(), Kind::unknown);
    if (part.outputs.size() != kinds_.size()) return false;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      const Shape& all = whole_->graph.type(whole_->outputs[i]).shape;
      const Shape& some = part.graph.type(part.outputs[i]).shape;
      const bool same = all == some;
      if (!same && (all.rank() == 0 || all.rank() != some.rank() ||
                    all[0] * count != some[0] * samples_ || with_rows(all, some[0]) != some)) {
        return false;
      }
      const Kind kind = same ? Kind::mean : Kind::samples;
      if (kinds_[i] != Kind::unknown && kinds_[i] != kind) return false;
      kinds_[i] = kind;
    }
    return true;
  }

  [[nodiscard]] ir::Samples rule_of() const {
    if (op_.flow.samples == nullptr) {
      return op_.memory.updates.empty() ? ir::Samples::independent : ir::Samples::mixed;
    }
    const ir::Node& node = whole_->graph.nodes.front();
    std::vector<const ir::TensorType*> inputs;
    std::vector<ir::TensorType> outputs;
    const auto counted = std::make_unique<bool[]>(node.inputs.size() + 1);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      inputs.push_back(node.inputs[i] < 0 ? nullptr : &whole_->graph.type(node.inputs[i]));
      counted[i] = counted_[i] != 0;
    }
    for (const int id : node.outputs) outputs.push_back(whole_->graph.type(id));
    const ir::Samples rule = op_.flow.samples(
        ir::SamplesContext{{node.attrs, inputs, outputs}, {counted.get(), inputs.size()}});
    // Ignored labels change the mean.
    if (rule != ir::Samples::labelled_mean) return rule;
    const ir::IndexInput index = op_.flow.indices({node.attrs, inputs, {}});
    const TensorSpec& label = test_.inputs[static_cast<size_t>(index.input)];
    const auto ignored = static_cast<double>(index.ignored.value_or(INT64_MIN));
    return ignored >= label.low && ignored <= label.high ? ir::Samples::mixed : rule;
  }

  [[nodiscard]] Outputs results(const CaseGraph& made, int64_t first, int64_t count) const {
    std::map<int, Bytes> sources;
    for (size_t i = 0; i < made.inputs.size(); ++i) {
      if (made.inputs[i] < 0) continue;
      Bytes bytes = data_.at(whole_->inputs[i]);
      if (counted_[i] != 0) bytes = cut(bytes, first, count, samples_);
      if (i == 0 && op_.flow.reads_rng) {
        const uint32_t words[] = {static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
        std::memcpy(bytes.data() + 4 * sizeof(uint32_t), words, sizeof words);
      }
      sources[made.inputs[i]] = std::move(bytes);
    }
    const auto all = ir::run_reference(made.graph, std::move(sources), Precision::f64);
    Outputs outputs;
    for (const int id : made.outputs) outputs.push_back(all[static_cast<size_t>(id)]);
    return outputs;
  }

  [[nodiscard]] std::string compare(size_t i, const Outputs& all, const Outputs& one,
                                    const Outputs& other, int64_t first) const {
    // Samples of packed types need not begin with a byte.
    if (is_packed(whole_->graph.type(whole_->outputs[i]).dtype)) return "";
    const bool numbers = whole_->graph.type(whole_->outputs[i]).dtype == DType::f32;
    Bytes joined = one[i];
    joined.insert(joined.end(), other[i].begin(), other[i].end());
    if (!numbers) {
      return kinds_[i] == Kind::mean || joined == all[i] ? "" : says_wrong(i);
    }
    std::vector<double> got = ir::to_doubles(joined, Precision::f64);
    const std::vector<double> wanted = ir::to_doubles(all[i], Precision::f64);
    if (kinds_[i] == Kind::mean) {
      const double share = static_cast<double>(first) / static_cast<double>(samples_);
      for (size_t k = 0; k < wanted.size(); ++k) {
        got[k] = share * got[k] + (1.0 - share) * got[wanted.size() + k];
      }
      got.resize(wanted.size());
    }
    return relative_difference(got, wanted) <= kRounding ? "" : says_wrong(i);
  }

  [[nodiscard]] std::string says_wrong(size_t output) const {
    std::string inputs;
    for (size_t i = 0; i < counted_.size(); ++i) {
      if (counted_[i] != 0) inputs += fmt::format("{}{}", inputs.empty() ? "" : ", ", i);
    }
    return fmt::format("with {} samples in inputs {}, output {} is not {} its parts", samples_,
                       inputs, output,
                       kinds_[output] == Kind::mean ? "the mean of" : "one after another");
  }

  const ir::OpDef& op_;
  const OpCase& test_;
  Counted counted_;
  int64_t samples_;
  std::optional<CaseGraph> whole_;
  std::vector<Kind> kinds_;
  std::map<int, Bytes> data_;
};

}  // namespace

std::string check_samples(const ir::OpDef& op, const OpCase& test) {
  std::map<int64_t, std::vector<size_t>> inputs;  // by their first dimension
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const TensorSpec& spec = test.inputs[i];
    if (spec.absent || spec.state || spec.shape.rank() == 0 || spec.shape[0] < 2) continue;
    if (i == 0 && op.flow.reads_rng) continue;
    if (!is_packed(spec.dtype)) inputs[spec.shape[0]].push_back(i);
  }
  for (const auto& [samples, candidates] : inputs) {
    const size_t all = (size_t{1} << candidates.size()) - 1;
    for (size_t subset = candidates.size() <= kMostInputs ? 1 : all; subset <= all; ++subset) {
      Counted counted(test.inputs.size(), 0);
      for (size_t bit = 0; bit < candidates.size(); ++bit) {
        counted[candidates[bit]] = (subset >> bit & 1U) != 0 ? 1 : 0;
      }
      std::string error = SamplesCheck(op, test, counted, samples).run();
      if (!error.empty()) return error;
    }
  }
  return "";
}

}  // namespace thimble::test
