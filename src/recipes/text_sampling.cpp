#include "recipes/text_sampling.h"

#include <thimble/data_text.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "data/random.h"
#include "train/step_model.h"

namespace thimble::models {
namespace {

constexpr uint64_t kSampleStream = 0x7e5a;
constexpr int64_t kLength = 256;

// Writes one text after another.
class TextWriter {
 public:
  TextWriter(const TextModel& model, const std::string& checkpoint, const SampleOptions& options)
      : options_(options),
        length_(options.length.value_or(kLength)),
        temperature_(options.temperature.value_or(1.0)),
        top_k_(options.top_k.value_or(0)),
        context_(model.context),
        model_(model.step(), checkpoint, options.threads) {}

  // Text `number`, or its beginning if it is told to stop.
  std::string write(int64_t number) {
    data::Random random(data::key_of(kSampleStream, options_.seed, number));
    std::string text = options_.prompt;
    tell(number, text);
    std::span<const float> scores = read(text);
    for (int64_t i = 0; i < length_ && !stopped(); ++i) {
      const double uniform = static_cast<double>(random.next() >> 11U) * 0x1p-53;
      text += static_cast<char>(drawn_index(scores, temperature_, top_k_, uniform));
      tell(number, std::string_view(text).substr(text.size() - 1));
      if (options_.on_progress) {
        options_.on_progress(number * length_ + i + 1, options_.count * length_);
      }
      if (i + 1 == length_) break;
      const bool full = context_ > 0 && model_.position() == context_;
      scores = full ? read(text) : take(text.back());
    }
    return text;
  }

  [[nodiscard]] bool stopped() const { return options_.stop && options_.stop(); }

 private:
  void tell(int64_t number, std::string_view piece) const {
    if (options_.on_text && !piece.empty()) options_.on_text(number, piece);
  }
  std::span<const float> take(char byte) { return model_.step(static_cast<uint8_t>(byte)); }

  // Resets the model and reads the end of the text, at most half the context. A text begins as if
  // after a line break.
  std::span<const float> read(const std::string& text) {
    std::string_view end = text;
    if (context_ > 0) {
      const auto room = static_cast<size_t>(context_ / 2);
      end = end.substr(end.size() - std::min(end.size(), room));
    }
    model_.restart();
    if (end.empty()) return take('\n');
    std::span<const float> scores;
    for (const char byte : end) scores = take(byte);
    return scores;
  }

  const SampleOptions& options_;
  int64_t length_;
  double temperature_;
  int64_t top_k_;  // 0: all
  int64_t context_;
  train::StepModel model_;
};

}  // namespace

data::Dataset text_data(const std::string& path, int64_t built_in, int64_t window,
                        data::Split split) {
  const data::TextOptions options{.window = window};
  if (!path.empty()) return data::text(path, options, split);
  return data::text_of(data::generated_text(built_in).text, options, split);
}

Schedule text_schedule(double learning_rate, int64_t steps) {
  const int64_t warm = std::max<int64_t>(1, steps / 20);
  return Schedule::warmup(
      warm, Schedule::cosine_annealing({.max = learning_rate,
                                        .min = 0.1 * learning_rate,
                                        .decay_steps = std::max<int64_t>(1, steps - warm)}));
}

void learn_next_byte(Graph& g, Value logits, Value next) {
  const Value loss = softmax_cross_entropy(logits, next);
  g.minimize(loss);
  g.metric("bits_per_byte", loss / std::log(2.0));
  g.output("logits", logits);
}

Samples sample_text(const TextModel& model, const std::string& checkpoint,
                    const SampleOptions& options) {
  TextWriter writer(model, checkpoint, options);
  Samples samples;
  for (int64_t i = 0; i < options.count && !writer.stopped(); ++i) {
    samples.texts.push_back(writer.write(i));
  }
  return samples;
}

int32_t drawn_index(std::span<const float> scores, double temperature, int64_t top_k,
                    double uniform) {
  // NaN scores are never taken.
  const auto score = [&](int32_t index) {
    const double value = scores[static_cast<size_t>(index)];
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  if (top_k > 0 && static_cast<size_t>(top_k) < order.size()) {
    // Equal scores rank by index, so the choice is the same on every machine.
    const auto ranks_before = [&](int32_t a, int32_t b) {
      return score(a) > score(b) || (score(a) == score(b) && a < b);
    };
    std::partial_sort(order.begin(), order.begin() + top_k, order.end(), ranks_before);
    order.resize(static_cast<size_t>(top_k));
  }
  const int32_t best = *std::max_element(order.begin(), order.end(),
                                         [&](int32_t a, int32_t b) { return score(a) < score(b); });
  if (temperature <= 0.0) return best;
  std::vector<double> sums;
  double sum = 0.0;
  for (const int32_t index : order) {
    sum += std::exp((score(index) - score(best)) / temperature);
    sums.push_back(sum);
  }
  const auto found = std::upper_bound(sums.begin(), sums.end() - 1, uniform * sum);
  return order[static_cast<size_t>(found - sums.begin())];
}

}  // namespace thimble::models
