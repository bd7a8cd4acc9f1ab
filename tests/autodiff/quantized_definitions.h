// What the ops of quantized graphs compute, in double precision and before rounding.
#pragma once

#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/graph.h"

namespace thimble::test {

using Numbers = std::vector<double>;

inline std::vector<size_t> places_of(const Shape& shape) {
  std::vector<size_t> sizes;
  for (const int64_t dim : shape.dims()) sizes.push_back(static_cast<size_t>(dim));
  return sizes;
}

inline double scale_at(const Quantization& q, size_t channel) {
  return static_cast<double>(q.scales[q.scales.size() == 1 ? 0 : channel % q.scales.size()]);
}
inline double zero_of(const Quantization& q) {
  return q.zero_points.empty() ? 0.0 : q.zero_points[0];
}

// The bounds of a result.
struct Bounds {
  double low = -128.0;
  double high = 127.0;
};
inline Bounds bounds_of(Activation activation, double scale, int64_t zero_point) {
  Bounds b;
  const auto zero = static_cast<double>(zero_point);
  if (activation != Activation::none) b.low = std::max(b.low, zero);
  if (activation == Activation::relu6) {
    b.high = std::min(b.high, zero + std::floor(6.0 / scale + 0.5));
  }
  return b;
}

// One node: what it computes before rounding, as a function of its inputs that is linear in each,
// but for functions of single numbers.
class Definition {
 public:
  Definition(const ir::Graph& graph, const ir::Node& node) : graph_(graph), node_(node) {}

  [[nodiscard]] Numbers unrounded(const std::vector<Numbers>& in) const {
    const std::string op = node_.op->name;
    if (op == "quantize") return quantize(in[0]);
    if (op == "dequantize") return dequantize(in[0]);
    if (op == "requantize") return requantize(in[0]);
    if (op == "quantized_conv2d") return convolution(in);
    if (op == "quantized_conv_transpose2d") return transposed(in);
    if (op == "quantized_dense") return dense(in);
    if (op == "quantized_add" || op == "quantized_mul" || op == "quantized_sub")
      return pair(in, op);
    if (op == "quantized_sigmoid" || op == "quantized_tanh") return table(in[0], op);
    if (op == "quantized_average_pool2d") return average_pool(in[0]);
    if (op == "quantized_mean") return mean(in[0]);
    if (op == "concat") return concatenated(in);
    if (op == "pad") return padded(in[0]);
    if (op == "upsample2d") return upsampled(in[0]);
    if (op == "reshape" || op == "flatten") return in[0];
    throw Error(op, "the oracle has no definition of it");
  }

  [[nodiscard]] bool is_linear() const {
    const std::string op = node_.op->name;
    return op != "quantized_sigmoid" && op != "quantized_tanh";
  }

  // The bounds, for ops that clamp.
  [[nodiscard]] std::optional<Bounds> bounds() const {
    const std::string op = node_.op->name;
    if (op == "quantize" || op == "requantize" || op == "quantized_mean") return Bounds();
    if (!is_linear()) return Bounds();
    if (op == "quantized_conv2d") return bounds_of_attrs<QuantizedConv2dAttrs>();
    if (op == "quantized_conv_transpose2d") return bounds_of_attrs<QuantizedConvTranspose2dAttrs>();
    if (op == "quantized_dense") return bounds_of_attrs<QuantizedDenseAttrs>();
    if (op == "quantized_add") return bounds_of_attrs<QuantizedAddAttrs>();
    if (op == "quantized_mul") return bounds_of_attrs<QuantizedMulAttrs>();
    if (op == "quantized_sub") return bounds_of_attrs<QuantizedSubAttrs>();
    return {};
  }

 private:
  template <class T>
  [[nodiscard]] Bounds bounds_of_attrs() const {
    const auto& attrs = node_.attrs.as<T>();
    return bounds_of(attrs.activation, attrs.scale, attrs.zero_point);
  }
  [[nodiscard]] const ir::TensorType& type(int i) const {
    return graph_.type(node_.inputs[static_cast<size_t>(i)]);
  }
  [[nodiscard]] const ir::TensorType& result() const { return graph_.type(node_.outputs[0]); }
  [[nodiscard]] const Quantization& of(int i) const { return *type(i).quantization; }
  [[nodiscard]] double y_scale() const { return scale_at(*result().quantization, 0); }
  [[nodiscard]] double y_zero() const { return zero_of(*result().quantization); }

  [[nodiscard]] Numbers quantize(Numbers x) const {
    for (double& v : x) v = v / y_scale() + y_zero();
    return x;
  }
  [[nodiscard]] Numbers dequantize(Numbers x) const {
    const Shape& shape = type(0).shape;
    size_t inner = 1;
    if (of(0).axis) {
      for (int a = *of(0).axis + 1; a < shape.rank(); ++a) inner *= static_cast<size_t>(shape[a]);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = scale_at(of(0), i / inner) * (x[i] - zero_of(of(0)));
    }
    return x;
  }
  [[nodiscard]] Numbers requantize(Numbers x) const {
    for (double& v : x) v = (v - zero_of(of(0))) * scale_at(of(0), 0) / y_scale() + y_zero();
    return x;
  }

  // The sum of a convolution's output channel as a result.
  [[nodiscard]] double scaled(double sum, size_t channel) const {
    return sum * scale_at(of(0), 0) * scale_at(of(1), channel) / y_scale() + y_zero();
  }

  // Calls visit(pixel of x, tap, output) for each product of the convolution between images `from`
  // and `to` with weights [K, r, s, C / groups].
  template <class T, class Visit>
  void for_each_product(const T& attrs, const Shape& from, const Shape& to, const Shape& weight,
                        const Visit& visit) const {
    const auto x = places_of(from);
    const auto y = places_of(to);
    const auto w = places_of(weight);
    const size_t group_k = w[0] / static_cast<size_t>(attrs.groups);
    for (size_t n = 0; n < y[0]; ++n) {
      for (size_t p = 0; p < y[1]; ++p) {
        for (size_t q = 0; q < y[2]; ++q) {
          for (size_t k = 0; k < y[3]; ++k) {
            for (size_t r = 0; r < w[1]; ++r) {
              for (size_t s = 0; s < w[2]; ++s) {
                const int64_t h = static_cast<int64_t>(p) * attrs.stride.h - attrs.padding.top +
                                  static_cast<int64_t>(r) * attrs.dilation.h;
                const int64_t v = static_cast<int64_t>(q) * attrs.stride.w - attrs.padding.left +
                                  static_cast<int64_t>(s) * attrs.dilation.w;
                if (h < 0 || h >= from[1] || v < 0 || v >= from[2]) continue;
                for (size_t c = 0; c < w[3]; ++c) {
                  const size_t channel = k / group_k * w[3] + c;
                  visit(
                      ((n * x[1] + static_cast<size_t>(h)) * x[2] + static_cast<size_t>(v)) * x[3] +
                          channel,
                      ((k * w[1] + r) * w[2] + s) * w[3] + c,
                      ((n * y[1] + p) * y[2] + q) * y[3] + k);
                }
              }
            }
          }
        }
      }
    }
  }

  // Adds the bias, and brings sums to the result's scale.
  [[nodiscard]] Numbers finished(Numbers sums, const std::vector<Numbers>& in) const {
    const auto channels = static_cast<size_t>(result().shape[-1]);
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t k = i % channels;
      sums[i] = scaled(sums[i] + (in.size() > 2 && !in[2].empty() ? in[2][k] : 0.0), k);
    }
    return sums;
  }
  [[nodiscard]] Numbers convolution(const std::vector<Numbers>& in) const {
    const auto& attrs = node_.attrs.as<QuantizedConv2dAttrs>();
    Numbers sums(static_cast<size_t>(result().shape.elements()), 0.0);
    for_each_product(
        attrs, type(0).shape, result().shape, type(1).shape,
        [&](size_t x, size_t w, size_t y) { sums[y] += (in[0][x] - zero_of(of(0))) * in[1][w]; });
    return finished(std::move(sums), in);
  }
  // The adjoint of the convolution from the result to x.
  [[nodiscard]] Numbers transposed(const std::vector<Numbers>& in) const {
    const auto& attrs = node_.attrs.as<QuantizedConvTranspose2dAttrs>();
    Numbers sums(static_cast<size_t>(result().shape.elements()), 0.0);
    for_each_product(
        attrs, result().shape, type(0).shape, type(1).shape,
        [&](size_t y, size_t w, size_t x) { sums[y] += (in[0][x] - zero_of(of(0))) * in[1][w]; });
    return finished(std::move(sums), in);
  }
  [[nodiscard]] Numbers dense(const std::vector<Numbers>& in) const {
    const auto units = static_cast<size_t>(type(1).shape[0]);
    const auto features = static_cast<size_t>(type(1).shape[1]);
    Numbers sums(static_cast<size_t>(result().shape.elements()), 0.0);
    for (size_t i = 0; i < sums.size(); ++i) {
      for (size_t c = 0; c < features; ++c) {
        sums[i] +=
            (in[0][i / units * features + c] - zero_of(of(0))) * in[1][i % units * features + c];
      }
    }
    return finished(std::move(sums), in);
  }

  // The element of input i that element `at` of the result reads.
  [[nodiscard]] size_t broadcast(size_t at, int i) const {
    const auto y = places_of(result().shape);
    const auto x = places_of(type(i).shape);
    size_t from = 0;
    size_t stride = 1;
    for (size_t a = 0; a < y.size(); ++a) {
      const size_t axis = y.size() - 1 - a;
      const size_t index = at % y[axis];
      at /= y[axis];
      if (a >= x.size()) continue;
      const size_t size = x[x.size() - 1 - a];
      if (size > 1) from += index * stride;
      stride *= size;
    }
    return from;
  }
  [[nodiscard]] Numbers pair(const std::vector<Numbers>& in, const std::string& op) const {
    Numbers y(static_cast<size_t>(result().shape.elements()));
    for (size_t i = 0; i < y.size(); ++i) {
      const double a = (in[0][broadcast(i, 0)] - zero_of(of(0))) * scale_at(of(0), 0);
      const double b = (in[1][broadcast(i, 1)] - zero_of(of(1))) * scale_at(of(1), 0);
      const double made = op == "quantized_add" ? a + b : op == "quantized_sub" ? a - b : a * b;
      y[i] = made / y_scale() + y_zero();
    }
    return y;
  }

  [[nodiscard]] Numbers table(Numbers x, const std::string& op) const {
    for (double& v : x) {
      const double at = scale_at(of(0), 0) * (v - zero_of(of(0)));
      const double made = op == "quantized_tanh" ? std::tanh(at) : 1.0 / (1.0 + std::exp(-at));
      v = made / y_scale() + y_zero();
    }
    return x;
  }

  [[nodiscard]] Numbers average_pool(const Numbers& x) const {
    const auto& attrs = node_.attrs.as<QuantizedAveragePool2dAttrs>();
    const auto from = places_of(type(0).shape);
    const auto to = places_of(result().shape);
    const Pair stride = attrs.stride.h > 0 ? attrs.stride : attrs.kernel;
    Numbers y;
    for (size_t n = 0; n < to[0]; ++n) {
      for (size_t p = 0; p < to[1]; ++p) {
        for (size_t q = 0; q < to[2]; ++q) {
          for (size_t c = 0; c < to[3]; ++c) {
            double sum = 0.0;
            for (int64_t r = 0; r < attrs.kernel.h; ++r) {
              for (int64_t s = 0; s < attrs.kernel.w; ++s) {
                const int64_t h = static_cast<int64_t>(p) * stride.h - attrs.padding.top + r;
                const int64_t v = static_cast<int64_t>(q) * stride.w - attrs.padding.left + s;
                const bool inside =
                    h >= 0 && v >= 0 && h < type(0).shape[1] && v < type(0).shape[2];
                sum += inside ? x[((n * from[1] + static_cast<size_t>(h)) * from[2] +
                                   static_cast<size_t>(v)) *
                                      from[3] +
                                  c]
                              : zero_of(of(0));
              }
            }
            y.push_back(sum / static_cast<double>(attrs.kernel.h * attrs.kernel.w));
          }
        }
      }
    }
    return y;
  }
  // Over height and width of images.
  [[nodiscard]] Numbers mean(const Numbers& x) const {
    const auto size = places_of(type(0).shape);
    const size_t cells = size[1] * size[2];
    Numbers y(size[0] * size[3], y_zero());
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t n = i / (cells * size[3]);
      y[n * size[3] + i % size[3]] +=
          (x[i] - zero_of(of(0))) * scale_at(of(0), 0) / (y_scale() * static_cast<double>(cells));
    }
    return y;
  }
  // Along the last axis.
  [[nodiscard]] Numbers concatenated(const std::vector<Numbers>& in) const {
    Numbers y;
    const size_t rows = static_cast<size_t>(result().shape.elements() / result().shape[-1]);
    for (size_t row = 0; row < rows; ++row) {
      for (const Numbers& part : in) {
        const auto width = static_cast<std::ptrdiff_t>(part.size() / rows);
        const auto begin = part.begin() + static_cast<std::ptrdiff_t>(row) * width;
        y.insert(y.end(), begin, begin + width);
      }
    }
    return y;
  }
  [[nodiscard]] Numbers padded(const Numbers& x) const {
    const auto& options = node_.attrs.as<PadOptions>();
    const auto from = places_of(type(0).shape);
    const auto to = places_of(result().shape);
    Numbers y(static_cast<size_t>(result().shape.elements()), zero_of(of(0)));
    for (size_t i = 0; i < x.size(); ++i) {
      size_t rest = i;
      size_t at = 0;
      size_t stride = 1;
      for (size_t axis = from.size(); axis-- > 0;) {
        at += (rest % from[axis] + static_cast<size_t>(options.before[axis])) * stride;
        rest /= from[axis];
        stride *= to[axis];
      }
      y[at] = x[i];
    }
    return y;
  }
  // By a scale of 2.
  [[nodiscard]] Numbers upsampled(const Numbers& x) const {
    const bool linear = node_.attrs.as<Upsample2dOptions>().mode == Upsampling::bilinear;
    const auto from = places_of(type(0).shape);
    const auto to = places_of(result().shape);
    const auto around = [&](size_t i, size_t size) {
      const double place = (static_cast<double>(i) + 0.5) / 2.0 - 0.5;
      const double at = linear ? std::clamp(place, 0.0, static_cast<double>(size - 1))
                               : static_cast<double>(i / 2);
      const auto first = static_cast<size_t>(at);
      return std::tuple{first, std::min(first + 1, size - 1), at - static_cast<double>(first)};
    };
    Numbers y;
    for (size_t n = 0; n < to[0]; ++n) {
      for (size_t p = 0; p < to[1]; ++p) {
        for (size_t q = 0; q < to[2]; ++q) {
          for (size_t c = 0; c < to[3]; ++c) {
            const auto [top, bottom, down] = around(p, from[1]);
            const auto [left, right, across] = around(q, from[2]);
            const auto pixel = [&](size_t h, size_t w) {
              return x[((n * from[1] + h) * from[2] + w) * from[3] + c];
            };
            y.push_back(
                (1 - down) * ((1 - across) * pixel(top, left) + across * pixel(top, right)) +
                down * ((1 - across) * pixel(bottom, left) + across * pixel(bottom, right)));
          }
        }
      }
    }
    return y;
  }

  const ir::Graph& graph_;
  const ir::Node& node_;
};

// For each maximum of a pooling without padding: its place in x.
inline std::vector<size_t> places_of_maxima(const ir::Graph& graph, const ir::Node& node,
                                            const Numbers& x) {
  const auto& attrs = node.attrs.as<MaxPool2dAttrs>();
  const auto from = places_of(graph.type(node.inputs[0]).shape);
  const auto to = places_of(graph.type(node.outputs[0]).shape);
  std::vector<size_t> places;
  for (size_t n = 0; n < to[0]; ++n) {
    for (size_t p = 0; p < to[1]; ++p) {
      for (size_t q = 0; q < to[2]; ++q) {
        for (size_t c = 0; c < to[3]; ++c) {
          std::optional<size_t> best;
          for (int64_t cell = 0; cell < attrs.kernel.h * attrs.kernel.w; ++cell) {
            const size_t h = p * static_cast<size_t>(attrs.kernel.h) +
                             static_cast<size_t>(cell / attrs.kernel.w);
            const size_t w = q * static_cast<size_t>(attrs.kernel.w) +
                             static_cast<size_t>(cell % attrs.kernel.w);
            const size_t at = ((n * from[1] + h) * from[2] + w) * from[3] + c;
            if (!best || x[at] > x[*best]) best = at;
          }
          places.push_back(*best);
        }
      }
    }
  }
  return places;
}

}  // namespace thimble::test
