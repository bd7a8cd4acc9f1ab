// Denoising diffusion of 28x28 images by a U-net. Ho, Jain and Abbeel, "Denoising diffusion
// probabilistic models", NeurIPS 2020; the U-net with group normalisation of its appendix B,
// smaller. It is told the digit, and draws by Ho and Salimans, "Classifier-free diffusion
// guidance", 2022.
#include <thimble/ops.h>
#include <thimble/predictor.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "exec/memory.h"
#include "recipes/digits_data.h"
#include "recipes/recipes.h"

namespace thimble::models {
namespace {

constexpr int64_t kSide = 32;  // side of the network's input:
constexpr int64_t kBorder = 2;
constexpr int64_t kTimes = 1000;
constexpr int64_t kFrequencies = 32;
constexpr int64_t kTimeFeatures = 128;
constexpr int64_t kGroups = 8;
constexpr int64_t kHeads = 4;
constexpr int64_t kDigits = 10;
constexpr double kNotTold = 0.1;  // share of training images without their digit
// Weight of the digit's effect on the guess when drawing an image: above 1 makes images more
// typical.
constexpr double kGuidance = 2.0;
constexpr int64_t kDrawnAtOnce = 20;
constexpr double kFirstBeta = 1e-4;
constexpr double kLastBeta = 0.02;

// The share of the image's variance that is left at each time: the products of 1 - beta, with beta
// rising linearly.
const std::array<double, kTimes>& alpha_bars() {
  static const auto all = [] {
    std::array<double, kTimes> products{};
    double product = 1.0;
    for (int64_t t = 0; t < kTimes; ++t) {
      const double share = static_cast<double>(t) / static_cast<double>(kTimes - 1);
      product *= 1.0 - (kFirstBeta + (kLastBeta - kFirstBeta) * share);
      products[static_cast<size_t>(t)] = product;
    }
    return products;
  }();
  return all;
}

// A constant with a row for every time, and the rows of the given times: [N] to [N, width].
template <class Number>
Value rows(Graph& g, const std::string& name, Value time, int64_t width, const Number& number) {
  std::vector<float> table;
  for (int64_t t = 0; t < kTimes; ++t) {
    for (int64_t i = 0; i < width; ++i) table.push_back(static_cast<float>(number(t, i)));
  }
  return embedding(time, g.constant(name, {kTimes, width}, std::move(table)));
}

// The network's inputs beside the image: the time [N], i32, and the digit [N], i32, used where told
// [N, 1] is 1 and not 0.
struct Told {
  Value time;
  Value digit;
  Value told;
};

// Sines, then cosines, of the time at frequencies from 1 to 1 / 10000; two layers follow, and a
// vector for each digit.
Value features_of(Graph& g, const Told& what) {
  const Value waves = rows(g, "time.waves", what.time, 2 * kFrequencies, [](int64_t t, int64_t i) {
    const double share = static_cast<double>(i % kFrequencies) / (kFrequencies - 1);
    const double angle = static_cast<double>(t) * std::pow(10000.0, -share);
    return i < kFrequencies ? std::sin(angle) : std::cos(angle);
  });
  const Value x = swish(dense(waves, {.units = kTimeFeatures, .name = "time.1"}));
  const Value digit =
      embedding(what.digit, {.embeddings = kDigits, .width = kTimeFeatures, .name = "digit"});
  return swish(dense(x, {.units = kTimeFeatures, .name = "time.2"}) + digit * what.told);
}

Value conv(Value x, int64_t channels, int64_t kernel, const std::string& name,
           const Initializer& weight = init::torch_default()) {
  return conv2d(x, {.channels = channels,
                    .kernel = kernel,
                    .padding = (kernel - 1) / 2,
                    .weight_init = weight,
                    .name = name});
}

Value norm(Value x, const std::string& name) {
  return swish(group_norm(x, {.groups = kGroups, .name = name}));
}

// A residual block that reads the features. Initially it passes x on.
Value block(Value x, Value features, int64_t channels, const std::string& name) {
  // First, so that its gradient is computed last: it is as large as x.
  const Value passed = x.shape()[3] == channels ? x : conv(x, channels, 1, name + ".skip");
  Value h = conv(norm(x, name + ".norm1"), channels, 3, name + ".conv1");
  h = h +
      reshape(dense(features, {.units = channels, .name = name + ".time"}), {-1, 1, 1, channels});
  h = conv(norm(h, name + ".norm2"), channels, 3, name + ".conv2", init::zeros());
  return h + passed;
}

// Self-attention over all places of the image.
Value attend(Value x, const std::string& name) {
  const Shape& image = x.shape();
  const Value h = group_norm(x, {.groups = kGroups, .name = name + ".norm"});
  const Value rows = reshape(h, {-1, image[1] * image[2], image[3]});
  const Value y = multi_head_attention(rows, {.heads = kHeads, .bias = false, .name = name});
  return x + reshape(y, {-1, image[1], image[2], image[3]});
}

Value down(Value x, int64_t channels, const std::string& name) {
  return conv2d(x, {.channels = channels, .kernel = 3, .stride = 2, .padding = 1, .name = name});
}

Value up(Value x, int64_t channels, const std::string& name) {
  return conv_transpose2d(
      x, {.channels = channels, .kernel = 4, .stride = 2, .padding = 1, .name = name});
}

// v = sqrt(a) noise - sqrt(1 - a) image, for x = sqrt(a) image + sqrt(1 - a) noise [N, 32, 32, 1]
// and a the alpha_bar of the time.
Value guess(Graph& g, Value x, const Told& what) {
  const Value features = features_of(g, what);
  const Value first = block(conv(x, 32, 3, "in"), features, 32, "encoder.1");
  const Value second = block(down(first, 64, "down.1"), features, 64, "encoder.2");
  Value h = block(down(second, 128, "down.2"), features, 128, "encoder.3");
  h = attend(block(h, features, 128, "middle.1"), "middle.attention");
  h = block(h, features, 128, "middle.2");
  h = block(concat({up(h, 64, "up.2"), second}), features, 64, "decoder.2");
  h = block(concat({up(h, 32, "up.1"), first}), features, 32, "decoder.1");
  return conv(norm(h, "out.norm"), 1, 3, "out.conv", init::zeros());
}

Graph build() {
  Graph g;
  const Value image = g.input("image", {28, 28, 1});
  const std::vector<int64_t> border{0, kBorder, kBorder, 0};
  const Value x = 2.0 * pad(image, {.before = border, .after = border}) - 1.0;
  const Value time =
      cast(random_uniform(g, {kBatch}, {.high = static_cast<double>(kTimes)}), DType::i32);
  const Value noise = random_normal(x);
  const auto factor = [&](const char* name, double (*of)(double)) {
    const Value column = rows(g, name, time, 1, [of](int64_t t, int64_t) {
      return of(alpha_bars()[static_cast<size_t>(t)]);
    });
    return reshape(column, {-1, 1, 1, 1});
  };
  const Value signal = factor("signal", [](double a) { return std::sqrt(a); });
  const Value disturbance = factor("disturbance", [](double a) { return std::sqrt(1.0 - a); });
  const Value noisy = signal * x + disturbance * noise;
  const Value draw = random_uniform(g, {kBatch}, {.high = 1.0 / kNotTold});
  const Value told = clip(floor(draw), {.low = 0.0, .high = 1.0});
  const Value guessed =
      guess(g, noisy, {time, g.input("digit", {}, DType::i32), reshape(told, {-1, 1})});
  g.minimize(mse(guessed, signal * noise - disturbance * x));
  g.output("noisy", noisy);
  g.output("time", cast(time, DType::f32));
  g.output("told", told);
  g.output("v", guessed);
  return g;
}

Graph denoiser() {
  Graph g;
  const Value x = g.input("x", {kSide, kSide, 1});
  const Value time = g.input("time", {}, DType::i32);
  const Value digit = g.input("digit", {}, DType::i32);
  g.output("v", guess(g, x, {time, digit, g.input("told", {1})}));
  return g;
}

// The digits 0 to 9, repeated.
int64_t digit_of(int64_t image) { return image % kDigits; }

class Denoiser {
 public:
  Denoiser(const std::string& checkpoint, int64_t most, int threads)
      : network_(denoiser(), checkpoint, 2 * most, threads) {}

  // v of images x, the first of which is image `first` of all, at a time.
  [[nodiscard]] std::vector<float> guess(const std::vector<float>& x, int64_t time, int64_t first) {
    const size_t count = x.size() / (kSide * kSide);
    std::vector<float> both = x;  // once with the digit, once without
    both.insert(both.end(), x.begin(), x.end());
    std::vector<int32_t> digits(2 * count);
    std::vector<float> told(2 * count, 0.0F);
    for (size_t i = 0; i < count; ++i) {
      digits[i] = static_cast<int32_t>(digit_of(first + static_cast<int64_t>(i)));
      told[i] = 1.0F;
    }
    const std::vector<int32_t> times(2 * count, static_cast<int32_t>(time));
    std::vector<float> v =
        network_.run({{"x", both}, {"time", times}, {"digit", digits}, {"told", told}})
            .at("v")
            .floats();
    for (size_t i = 0; i < x.size(); ++i) {
      const float without = v[x.size() + i];
      v[i] = without + static_cast<float>(kGuidance) * (v[i] - without);
    }
    v.resize(x.size());
    return v;
  }

 private:
  Predictor network_;
};

void add_noise(std::vector<float>& x, double factor, int64_t step, int64_t first, uint64_t seed) {
  constexpr int64_t kPixels = kSide * kSide;
  std::vector<float> noise(kPixels);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()) / kPixels; ++i) {
    const std::string name = std::to_string(step) + "." + std::to_string(first + i);
    exec::fill_initial(init::normal(0.0, factor), name, seed, {kPixels}, noise.data());
    for (int64_t k = 0; k < kPixels; ++k) {
      x[static_cast<size_t>(i * kPixels + k)] += noise[static_cast<size_t>(k)];
    }
  }
}

// One step from a time to an earlier one (-1: the image). With as many steps as times it samples
// from the distribution; with fewer it takes the most likely way. Song, Meng and Ermon, "Denoising
// diffusion implicit models", ICLR 2021, equation 12 with eta 1 and 0. Returns the scale of the
// noise to add.
double step_back(std::vector<float>& x, const std::vector<float>& v, int64_t time, int64_t earlier,
                 bool ancestral) {
  const double now = alpha_bars()[static_cast<size_t>(time)];
  const double then = earlier < 0 ? 1.0 : alpha_bars()[static_cast<size_t>(earlier)];
  const double variance = ancestral ? (1.0 - then) / (1.0 - now) * (1.0 - now / then) : 0.0;
  const double along = std::sqrt(1.0 - then - variance);
  for (size_t i = 0; i < x.size(); ++i) {
    const double noisy = x[i];
    const double image = std::clamp(
        std::sqrt(now) * noisy - std::sqrt(1.0 - now) * static_cast<double>(v[i]), -1.0, 1.0);
    const double noise = (noisy - std::sqrt(now) * image) / std::sqrt(1.0 - now);
    x[i] = static_cast<float>(std::sqrt(then) * image + along * noise);
  }
  return std::sqrt(variance);
}

// Without the border, from -1..1 to 0..1.
void append_images(std::vector<float>& images, const std::vector<float>& x) {
  constexpr int64_t kEnd = kSide - kBorder;
  for (size_t first = 0; first < x.size(); first += kSide * kSide) {
    for (int64_t row = kBorder; row < kEnd; ++row) {
      for (int64_t column = kBorder; column < kEnd; ++column) {
        images.push_back((x[first + static_cast<size_t>(row * kSide + column)] + 1.0F) / 2.0F);
      }
    }
  }
}

Samples sample(const std::string& checkpoint, const SampleOptions& options) {
  const int64_t steps = options.steps.value_or(unet_ddpm.sample_steps);
  Denoiser network(checkpoint, std::min(kDrawnAtOnce, options.count), options.threads);
  std::vector<float> images;
  std::vector<int64_t> classes;
  const auto complete = [&images, &classes]() -> Samples {
    const auto count = static_cast<int64_t>(classes.size());
    return {.images = {std::move(images), {count, 28, 28, 1}}, .classes = std::move(classes)};
  };
  int64_t done = 0;
  const int64_t chunks = (options.count + kDrawnAtOnce - 1) / kDrawnAtOnce;
  for (int64_t first = 0; first < options.count; first += kDrawnAtOnce) {
    const int64_t count = std::min(kDrawnAtOnce, options.count - first);
    std::vector<float> x(static_cast<size_t>(count * kSide * kSide), 0.0F);
    add_noise(x, 1.0, steps, first, options.seed);
    for (int64_t step = steps - 1; step >= 0; --step) {
      if (options.stop && options.stop()) return complete();
      // The times divide 0..999 evenly, the last one and the first included.
      const auto time_of = [&](int64_t s) {
        return s < 0 ? -1 : steps == 1 ? kTimes - 1 : s * (kTimes - 1) / (steps - 1);
      };
      const int64_t time = time_of(step);
      const std::vector<float> guessed = network.guess(x, time, first);
      const double more = step_back(x, guessed, time, time_of(step - 1), steps == kTimes);
      if (more > 0.0) add_noise(x, more, step, first, options.seed);
      if (options.on_progress) options.on_progress(++done, chunks * steps);
    }
    append_images(images, x);
    for (int64_t i = 0; i < count; ++i) classes.push_back(digit_of(first + i));
  }
  return complete();
}

}  // namespace

const Recipe unet_ddpm{
    .name = "unet_ddpm",
    .doc = "denoising diffusion of 28x28 images by a U-net",
    .build = build,
    .data = digits_data,
    .data_doc = kDigitsDoc,
    .built_in_name = kDigitsBuiltInName,
    .real_name = kDigitsRealName,
    .batch = 16,
    .epochs = 12,
    .optimizer = []() -> Optimizer { return AdamW{.lr = 2e-3, .weight_decay = 0.0}; },
    .schedule =
        [](double lr, int64_t steps) {
          const int64_t rise = std::min<int64_t>(200, steps / 10);
          const Schedule fall =
              Schedule::linear({.max = lr, .min = 0.0, .decay_steps = steps - rise});
          return rise > 0 ? Schedule::warmup(rise, fall) : fall;
        },
    .ema_decay = 0.998,
    .makes = SampleKind::images,
    .sampler = sample,
    .sample_steps = 50,
    .most_steps = kTimes,
    .judge = "lenet5",
    .judge_epochs = 10,
    .judged = 100,
    .denoiser = denoiser,
};

}  // namespace thimble::models
