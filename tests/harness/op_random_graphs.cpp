#include "harness/op_random_graphs.h"

#include <thimble/ops.h>

#include <algorithm>
#include <numeric>

#include "harness/op_random_builder.h"

namespace thimble::test {
namespace {

constexpr int64_t kMostElements = 1500;  // of a value: reference kernels are slow
constexpr int kMostAxes = 5;

class Builder : public RandomBuilder {
 public:
  Builder(uint32_t seed, RandomModel& model) : RandomBuilder(seed, model) {
    model_.batch = between(1, 4);
    if (coin()) {
      values_.push_back(g_.input("x", {between(1, 7), between(1, 7), between(1, 4)}));
    } else {
      values_.push_back(g_.input("x", {between(1, 12)}));
    }
    // A parameter is trained even if no op adds one.
    const Value scale = g_.parameter("scale", {values_[0].shape()[-1]}, init::ones());
    values_.push_back(values_[0] * scale);
  }

  void add_op(uint32_t seed) {
    random_.seed(seed);
    const size_t known = values_.size();
    (this->*kAddOps[below(std::size(kAddOps))])();
    for (size_t i = known; i < values_.size(); ++i) {
      if (size_of(values_[i]) > kMostElements || values_[i].shape().rank() > kMostAxes) {
        values_.resize(i);  // it stays in the graph as dead code
      }
    }
  }

  void minimize(uint32_t seed) {
    random_.seed(seed);
    const auto readers = g_.ir().consumers();
    Value total;
    for (size_t i = 1; i < values_.size(); ++i) {
      const Value& v = values_[i];
      if (!readers[static_cast<size_t>(v.id())].empty() || size_of(v) == 0) continue;
      const Value loss = loss_of(v);
      total = total ? total + loss : loss;
    }
    // The op that reads the last value may have been too large and dropped.
    g_.minimize(total ? total : loss_of(values_.back()));
  }

 private:
  using AddOp = void (Builder::*)();

  void unary() {
    static constexpr Value (*kOps[])(Value) = {
        [](Value x) { return relu(x); },
        [](Value x) { return leaky_relu(x, {.slope = 0.2}); },
        [](Value x) { return relu6(x); },
        [](Value x) { return sigmoid(x); },
        [](Value x) { return tanh(x); },
        [](Value x) { return swish(x); },
        [](Value x) { return gelu(x); },
        [](Value x) { return gelu(x, {.tanh_approximation = true}); },
        [](Value x) { return elu(x, {.alpha = 0.7}); },
        [](Value x) { return selu(x); },
        [](Value x) { return softplus(x, {.beta = 1.5}); },
        [](Value x) { return mish(x); },
        [](Value x) { return hard_swish(x); },
        [](Value x) { return neg(x); },
        [](Value x) { return abs(x); },
        [](Value x) { return square(tanh(x)); },
        [](Value x) { return exp(tanh(x)); },
        [](Value x) { return clip(x, {.low = -0.5, .high = 0.8}); },
        [](Value x) { return cast(x, DType::f32); },
    };
    add(kOps[below(std::size(kOps))](any()));
  }

  // Ops of numbers above 0.
  void of_positive() {
    const Value x = softplus(any()) + number_at_least(0.3, 2.0);
    switch (below(4)) {
      case 0:
        return add(log(x));
      case 1:
        return add(sqrt(x));
      case 2:
        return add(rsqrt(x));
      default:
        return add(pow(x, {.exponent = coin() ? 1.5 : -1.0}));
    }
  }

  Value partner_of(const Value& x) {
    switch (below(4)) {
      case 0:
        return x;
      case 1:
        return x.shape().rank() == 0 ? x : mean(x, {.axes = {axis_of(x)}, .keepdims = true});
      case 2:
        if (x.shape().rank() > 0 && !is_open(x.shape()[-1])) {
          return parameter({x.shape()[-1]});
        }
        return parameter({});
      default:
        return any([&](const Value& v) { return v.shape() == x.shape(); });
    }
  }
  void binary() {
    Value a = any();
    Value b = partner_of(a);
    if (coin()) std::swap(a, b);
    switch (below(4)) {
      case 0:
        return add(a + b);
      case 1:
        return add(a - b);
      case 2:
        return add(tanh(a) * b);
      default:
        return add(a / (softplus(b) + number_at_least(0.5, 1.0)));
    }
  }

  Padding padding(const Pair& most, bool may_be_same) {
    if (may_be_same && below(4) == 0) return Padding::same();
    return {between(0, most.h), between(0, most.h), between(0, most.w), between(0, most.w)};
  }
  // Whether a window with this padding fits the image.
  static bool fits(const Shape& s, const Pair& kernel, const Padding& p, const Pair& dilation) {
    return p.automatic || (s[1] + p.top + p.bottom > dilation.h * (kernel.h - 1) &&
                           s[2] + p.left + p.right > dilation.w * (kernel.w - 1));
  }

  // Ops with an activation attribute may apply it to their own result.
  void add_activated(const Value& v) {
    const size_t kind = below(5);
    add(kind == 0 ? relu(v) : kind == 1 ? relu6(v) : v);
  }

  void convolve() {
    const Value x = image();
    if (!x) return unary();
    const int64_t groups = x.shape()[3] % 2 == 0 ? between(1, 2) : 1;
    Conv2dOptions o{.channels = groups * between(1, 3),
                    .kernel = pair(1, 3),
                    .stride = pair(1, 4),
                    .dilation = pair(1, 2),
                    .groups = groups,
                    .bias = coin()};
    o.padding = padding({2, 2}, true);
    if (!fits(x.shape(), o.kernel, o.padding, o.dilation)) return unary();
    if (below(3) > 0) return add_activated(conv2d(x, o));
    o.channels = x.shape()[3] * between(1, 2);
    add_activated(depthwise_conv2d(x, o));
  }

  void convolve_transposed() {
    const Value x = image();
    if (!x) return unary();
    const int64_t groups = x.shape()[3] % 2 == 0 ? between(1, 2) : 1;
    ConvTranspose2dOptions o{.channels = groups * between(1, 3),
                             .kernel = pair(1, 3),
                             .stride = pair(1, 3),
                             .dilation = pair(1, 2),
                             .groups = groups,
                             .bias = coin()};
    o.padding = padding({1, 1}, true);
    if (!o.padding.automatic) {
      o.output_padding = {between(0, o.stride.h - 1), between(0, o.stride.w - 1)};
    }
    const auto size = [](int64_t n, int64_t stride, int64_t cut, int64_t dilation, int64_t kernel) {
      return (n - 1) * stride - cut + dilation * (kernel - 1) + 1;
    };
    const Padding& p = o.padding;
    const bool left =
        size(x.shape()[1], o.stride.h, p.top + p.bottom, o.dilation.h, o.kernel.h) > 0 &&
        size(x.shape()[2], o.stride.w, p.left + p.right, o.dilation.w, o.kernel.w) > 0;
    if (!left && !p.automatic) return unary();
    add_activated(conv_transpose2d(x, o));
  }

  void pool() {
    const Value x = image();
    if (!x) return unary();
    const Pair kernel = pair(1, 3);
    const Padding around = padding({kernel.h - 1, kernel.w - 1}, true);
    const Pair stride = coin() ? Pair(0) : pair(1, 4);
    const bool counts = coin();
    switch (below(4)) {
      case 0:
        return add(global_average_pool2d(x));
      case 1:
        return add(global_max_pool2d(x));
      default:
        break;
    }
    if (!fits(x.shape(), kernel, around, 1)) return unary();
    if (coin()) return add(max_pool2d(x, {kernel, stride, around}));
    add(average_pool2d(x, {kernel, stride, around, counts}));
  }

  void normalise() {
    const Value x = rows();
    // Normalizing two values gives -1 and 1, whose gradient is only rounding error.
    if (!x || size_of(x) < 4 * x.shape()[-1]) return unary();
    add_activated(batch_norm(x, {.epsilon = 0.1, .affine = coin()}));
  }

  void densely() {
    const Value x = rows();
    if (!x) return unary();
    add_activated(dense(x, {.units = between(1, 9), .bias = coin()}));
  }

  void multiply() {
    const Value x = any([](const Value& v) { return v.shape().rank() >= 2; });
    if (!x) return unary();
    if (coin()) return add(matmul(tanh(x), x, {.transpose_b = true}));
    add(matmul(x, tanh(x), {.transpose_a = true}));
  }

  void normalise_exponentially() {
    const Value x = any([](const Value& v) { return v.shape().rank() > 0; });
    if (!x) return unary();
    add(coin() ? softmax(x, {axis_of(x)}) : log_softmax(x, {axis_of(x)}));
  }

  void reduce() {
    const Value x = any();
    ReduceOptions o{.keepdims = coin()};
    for (int i = 0; i < x.shape().rank(); ++i) {
      if (coin()) o.axes.push_back(i);
    }
    switch (below(3)) {
      case 0:
        return add(tanh(sum(x, o)));
      case 1:
        return add(mean(x, o));
      default:
        return add(max(x, o));
    }
  }

  void reshape_it() {
    const Value x = any([](const Value& v) {
      return v.shape().rank() >= 2 && v.shape()[0] == kBatch && v.shape().elements() % kBatch == 0;
    });
    if (!x) return unary();
    if (coin()) return add(flatten(x));
    std::vector<int64_t> dims = x.shape().dims();
    dims[0] = -1;
    if (coin()) {
      dims.insert(dims.begin() + between(1, static_cast<int64_t>(dims.size())), 1);
    } else if (dims.back() % 2 == 0) {
      dims.back() /= 2;
      dims.insert(dims.begin() + 1, 2);
    }
    add(reshape(x, Shape(dims)));
  }

  void transpose_it() {
    const Value x = any();
    std::vector<int64_t> axes(static_cast<size_t>(x.shape().rank()));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), random_);
    add(transpose(x, axes));
  }

  void join() {
    const Value x = any([](const Value& v) { return v.shape().rank() > 0; });
    if (!x) return unary();
    const Value y = any([&](const Value& v) { return v.shape() == x.shape(); });
    // A size along the batch axis would be the batch of another size.
    const int64_t axis = between(1, 8) % x.shape().rank();
    if (is_open(x.shape()[static_cast<int>(axis)])) return unary();
    add(concat({x, y, x}, {axis}));
  }

  void cut() {
    const Value x = any([](const Value& v) {
      return v.shape().rank() > 0 && !is_open(v.shape()[-1]) && v.shape()[-1] >= 2;
    });
    if (!x) return unary();
    const int64_t n = x.shape()[-1];
    const int64_t first = between(1, n - 1);
    if (coin()) {
      for (const Value& part : split(x, {.axis = -1, .sizes = {first, n - first}})) add(part);
    } else {
      const int64_t start = coin() ? -first : first - 1;
      const int64_t stop = coin() ? kEnd : n;
      add(slice(x, -1, start, stop, between(1, 3)));
    }
  }

  void pad_it() {
    const Value x = any([](const Value& v) { return v.shape().rank() > 0; });
    if (!x) return unary();
    PadOptions o{.value = 0.25};
    for (const int64_t dim : x.shape().dims()) {
      o.before.push_back(is_open(dim) ? 0 : between(0, 2));
      o.after.push_back(is_open(dim) ? 0 : between(0, 1));
    }
    add(pad(x, o));
  }

  void draw() {
    const Value x = any();
    switch (below(4)) {
      case 0:
        return add(dropout(x, {.p = 0.3}));
      case 1:
        return add(x + random_normal(x, {.mean = 0.1, .stddev = 0.5}));
      case 2:
        return add(x * random_uniform(x, {.low = 0.5, .high = 1.5}));
      default:
        return add(reparametrize(x, tanh(x)));
    }
  }

  void attend() {
    if (!add_attention(*this)) unary();
  }
  void recur() {
    if (!add_recurrent_layer(*this)) unary();
  }
  void look_up() {
    if (!add_rows_by_index(*this)) unary();
  }
  void enlarge() {
    if (!add_larger_image(*this)) unary();
  }

  Reduction reduction(const Value& x) {
    const bool has_batch = x.shape().rank() > 0 && x.shape()[0] == kBatch;
    return std::array{Reduction::mean, Reduction::sum,
                      Reduction::batch_mean}[below(has_batch ? 3 : 2)];
  }

  Value loss_of(const Value& x) {
    const bool is_batch = x.shape().rank() > 0 && x.shape()[0] == kBatch;
    const std::vector<int64_t>& dims = x.shape().dims();
    const bool sample_closed = is_batch && std::none_of(dims.begin() + 1, dims.end(),
                                                        [](int64_t d) { return is_open(d); });
    if (!sample_closed || below(8) == 0) return mean(square(x));
    const std::string name = "label_" + std::to_string(++numbers_);
    const Shape sample(std::vector<int64_t>(dims.begin() + 1, dims.end()));
    const LossOptions o{reduction(x)};
    if (sample.rank() > 0 && below(3) == 0) {
      const Shape indices(std::vector<int64_t>(dims.begin() + 1, dims.end() - 1));
      model_.classes[name] = dims.back();
      const Value label = g_.label(name, indices);
      g_.metric("accuracy_" + name, accuracy(x, label));
      g_.output("guess_" + name, argmax(x));
      return softmax_cross_entropy(x, label, {.reduction = o.reduction});
    }
    const Value target = g_.label(name, sample, DType::f32);
    const Value share = sigmoid(target);
    switch (below(6)) {
      case 0:
        return mse(x, target, o);
      case 1:
        return mae(x, target, o);
      case 2:
        return huber(x, target, {0.7, o.reduction});
      case 3:
        return binary_cross_entropy_with_logits(x, share, o);
      case 4:
        return gaussian_kl(x, tanh(x), {o.reduction});
      default:
        return kl_divergence(log_softmax(x), share, {false, o.reduction});
    }
  }

  static constexpr AddOp kAddOps[] = {&Builder::unary,
                                      &Builder::of_positive,
                                      &Builder::binary,
                                      &Builder::convolve,
                                      &Builder::convolve,
                                      &Builder::convolve_transposed,
                                      &Builder::pool,
                                      &Builder::normalise,
                                      &Builder::densely,
                                      &Builder::multiply,
                                      &Builder::normalise_exponentially,
                                      &Builder::reduce,
                                      &Builder::reshape_it,
                                      &Builder::transpose_it,
                                      &Builder::join,
                                      &Builder::cut,
                                      &Builder::pad_it,
                                      &Builder::draw,
                                      &Builder::attend,
                                      &Builder::recur,
                                      &Builder::look_up,
                                      &Builder::enlarge};
};

}  // namespace

RandomModel random_model(uint32_t seed, const std::vector<uint32_t>& ops) {
  RandomModel model;
  Builder builder(seed, model);
  for (const uint32_t op : ops) builder.add_op(op);
  builder.minimize(seed);
  return model;
}

}  // namespace thimble::test
