// A convolution is linear in the image and in the weights; its gradients and the transposed
// convolution are the adjoints of these two maps, whatever the attributes:
//   <conv2d(x, w), y> = <x, conv_transpose2d(y, w)> = <w, weight gradient of x and y>.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <thimble/ops.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "autodiff/autodiff.h"
#include "exec/program.h"
#include "ir/reference.h"

namespace thimble::test::adjoint_test {
namespace {

using ir::Precision;

struct Convolution {
  Shape image, weight;
  Conv2dAttrs attrs;
};

Convolution random_convolution(uint32_t seed) {
  std::mt19937 random(seed);
  const auto between = [&random](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const auto pair = [&](int64_t low, int64_t high) {
    const int64_t h = between(low, high);
    return Pair(h, between(low, high));
  };
  // Enough channels for every kernel: pixels or channels in the vector lanes, and depthwise.
  constexpr int64_t kChannels[] = {1, 2, 3, 4, 8, 17, 40};
  const auto channels = [&] { return kChannels[between(0, std::size(kChannels) - 1)]; };
  Convolution c;
  c.attrs.groups = between(0, 2) == 0 ? between(2, 5) : 1;
  const int64_t in = c.attrs.groups == 1 ? channels() : between(1, 3);
  const int64_t out = c.attrs.groups == 1 ? channels() : between(1, 3);
  const Pair kernel = pair(1, 5);
  c.attrs.stride = pair(1, 5);
  c.attrs.dilation = pair(1, 3);
  Pair size = pair(1, 17);
  if (between(0, 3) == 0) {
    c.attrs.padding = Padding::same();
  } else {
    const Pair before = pair(0, 4);
    const Pair after = pair(0, 4);
    c.attrs.padding = {before.h, after.h, before.w, after.w};
    const auto least = [](int64_t taps, int64_t dilation, int64_t padding) {
      return dilation * (taps - 1) + 1 - padding;
    };
    size.h = std::max(size.h, least(kernel.h, c.attrs.dilation.h, before.h + after.h));
    size.w = std::max(size.w, least(kernel.w, c.attrs.dilation.w, before.w + after.w));
  }
  c.image = {between(1, 4), size.h, size.w, in * c.attrs.groups};
  c.weight = {out * c.attrs.groups, kernel.h, kernel.w, in};
  return c;
}

// The output_padding that makes the transposed convolution as large as the image: the rows that no
// window of the convolution reaches. Nothing where the image is no result of one: with "same"
// padding the result is always size * stride.
std::optional<ConvTranspose2dAttrs> transposed_attrs(const Convolution& c, const Shape& y) {
  ConvTranspose2dAttrs t{.stride = c.attrs.stride,
                         .padding = c.attrs.padding,
                         .dilation = c.attrs.dilation,
                         .groups = c.attrs.groups};
  const Padding& p = t.padding;
  if (p.automatic) {
    const bool whole = c.image[1] == y[1] * t.stride.h && c.image[2] == y[2] * t.stride.w;
    return whole ? std::optional(t) : std::nullopt;
  }
  const auto rest = [](int64_t image, int64_t padding, int64_t taps, int64_t dilation,
                       int64_t stride) {
    return (image + padding - dilation * (taps - 1) - 1) % stride;
  };
  t.output_padding = {rest(c.image[1], p.top + p.bottom, c.weight[1], t.dilation.h, t.stride.h),
                      rest(c.image[2], p.left + p.right, c.weight[2], t.dilation.w, t.stride.w)};
  return t;
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// All values of a graph: those of every node by the fast kernels in float where asked for, else by
// the reference kernels in double.
class Values {
 public:
  Values(const ir::Graph& graph, std::map<int, std::vector<double>> numbers, bool fast)
      : numbers_(std::move(numbers)) {
    if (fast) {
      run_fast(graph);
      return;
    }
    std::map<int, ir::Bytes> sources;
    for (const auto& [id, values] : numbers_) sources[id] = ir::to_bytes(values, Precision::f64);
    const auto all = ir::run_reference(graph, std::move(sources), Precision::f64);
    for (const auto& [name, id] : graph.outputs) {
      numbers_[id] = ir::to_doubles(all[static_cast<size_t>(id)], Precision::f64);
    }
  }
  [[nodiscard]] const std::vector<double>& of(int id) const { return numbers_.at(id); }

 private:
  void run_fast(const ir::Graph& graph) {
    const exec::Program program(graph, {.threads = 2, .optimize = false});
    const exec::Store store({&program.graph()});
    parallel::ThreadPool pool(2);
    const exec::Block arena(program.plan().arena_bytes);
    std::memset(arena.data(), 0xFF, static_cast<size_t>(arena.bytes()));
    exec::Session session(program.data(), store, {arena.data(), static_cast<size_t>(arena.bytes())},
                          pool);
    for (const auto& [id, values] : numbers_) {
      const ir::Bytes bytes = ir::to_bytes(values, Precision::f32);
      std::memcpy(session.source(graph.data(id).name).data(), bytes.data(), bytes.size());
    }
    (void)session.run();
    for (const auto& [name, id] : graph.outputs) {
      const auto bytes = session.output(name);
      numbers_[id] = ir::to_doubles({bytes.begin(), bytes.end()}, Precision::f32);
    }
  }
  std::map<int, std::vector<double>> numbers_;
};

std::string check_adjoints(const Convolution& c, bool fast) {
  // Each side is a sum of up to some thousand products.
  const double rounding = fast ? 1e-5 : 1e-13;
  ir::Graph graph;
  const auto source = [&graph](const char* name, const Shape& shape) {
    return graph.source(name, {DType::f32, shape}, ir::Role::input);
  };
  const Value x = source("x", c.image);
  const Value w = source("w", c.weight);
  const Value down = conv2d(x, w, Value(), c.attrs);
  const Value y = source("y", down.shape());
  // The adjoints as gradients of <down, y>, and the transposed convolution.
  const autodiff::Cotangent seed{down, y};
  const int wanted[] = {x.id(), w.id()};
  const auto gradients = autodiff::append_gradients(graph, {&seed, 1}, wanted);
  graph.outputs = {
      {"down", down.id()}, {"dx", gradients[0].gradient}, {"dw", gradients[1].gradient}};
  const auto attrs = transposed_attrs(c, y.shape());
  if (attrs) graph.outputs.emplace_back("up", conv_transpose2d(y, w, Value(), *attrs).id());
  if (attrs && graph.type(graph.outputs.back().second).shape != c.image) {
    return "the transposed convolution has shape " +
           to_string(graph.type(graph.outputs.back().second).shape);
  }

  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::map<int, std::vector<double>> numbers;
  for (const Value& v : {x, w, y}) {
    std::vector<double>& of_v = numbers[v.id()];
    of_v.resize(static_cast<size_t>(v.shape().elements()));
    for (double& number : of_v) number = static_cast<double>(normal(random));
  }
  const Values values(graph, numbers, fast);
  const double wanted_product = inner_product(values.of(down.id()), values.of(y.id()));
  const double scale = std::sqrt(inner_product(values.of(down.id()), values.of(down.id())) *
                                 inner_product(values.of(y.id()), values.of(y.id())));
  for (const auto& [name, id] : graph.outputs) {
    if (name == "down") continue;
    const int other = name == "dw" ? w.id() : x.id();
    const double product = inner_product(values.of(id), values.of(other));
    if (std::abs(product - wanted_product) <= rounding * (scale + 1e-3)) continue;
    return fmt::format("{}: {:.17g} instead of {:.17g}", name, product, wanted_product);
  }
  return "";
}

void expect_adjoints(bool fast) {
  rc::detail::checkGTest([fast] {
    const auto seed = *rc::gen::noShrink(
        rc::gen::resize(rc::kNominalSize, rc::gen::inRange<uint32_t>(0, 1U << 30U)));
    const Convolution c = random_convolution(seed);
    const std::string error = check_adjoints(c, fast);
    if (!error.empty()) {
      RC_FAIL(fmt::format("{}\nimage {}, weight {}, {}", error, to_string(c.image),
                          to_string(c.weight), ir::Attrs::of(c.attrs).text()));
    }
  });
}

TEST(random_convolution, has_the_adjoints_that_its_gradients_and_transpose_compute) {
  expect_adjoints(false);
}

TEST(random_convolution, has_the_adjoints_of_the_fast_kernels) { expect_adjoints(true); }

}  // namespace
}  // namespace thimble::test::adjoint_test
