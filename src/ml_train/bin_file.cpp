// BIN files: weights, what the optimizer keeps, and where the training stands. Raw float32 (weights
// also float16), little endian; the guide describes the layout.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <stdexcept>

#include "ml_train/model_node.h"

static_assert(std::endian::native == std::endian::little, "BIN files are little endian");

namespace thimble::ml_train {
namespace {

using Mark = std::array<char, 4>;
constexpr Mark kAdamMark = {'a', 'd', 'a', 'm'};
constexpr Mark kCodedMark = {'a', 'd', 'm', '8'};  // of adam with state_bits=8
constexpr const char* kMoments[] = {"exp_avg", "exp_avg_sq"};

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Replaces the file at once.
void write_file(const std::string& path, const std::string& bytes) {
  const std::string part = path + ".part";
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0) {
    std::remove(part.c_str());
    throw std::invalid_argument("[" + path + "] cannot be written");
  }
}

std::string read_file(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw std::invalid_argument("[" + path + "] cannot be read");
  std::string bytes(size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) throw std::invalid_argument("[" + path + "] cannot be read");
  return bytes;
}

}  // namespace

class BinFile {
 public:
  explicit BinFile(ModelNode& model) : model_(model) { find_order(); }

  void save(const std::string& path) {
    std::string bytes;
    for (Weight* weight : order_) append_weight(bytes, model_.weights_->read(*weight));
    const bool has_moments =
        model_.trainer_ && model_.optimizer_ && model_.optimizer_->getType() == "adam";
    if (has_moments) {
      bytes.append(mark().data(), mark().size());
      for (Weight* weight : trained()) {
        for (const char* moment : kMoments) append_moment(bytes, *weight, moment);
      }
    }
    if (model_.trains_) {
      append(bytes, static_cast<uint32_t>(model_.epoch_));
      append(bytes, static_cast<uint32_t>(model_.trainer_ ? model_.trainer_->steps() : 0));
    }
    write_file(path, bytes);
  }

  void load(const std::string& path) {
    const std::string bytes = read_file(path);
    size_t needed = 0;
    for (const Weight* weight : order_) needed += weight_bytes(*weight);
    if (bytes.size() < needed) {
      throw std::invalid_argument("[" + path + "] has " + std::to_string(bytes.size()) +
                                  " bytes, and the weights of this model have " +
                                  std::to_string(needed));
    }
    if (!model_.trains_) {
      read_weights(bytes);
      return;
    }
    const size_t rest = bytes.size() - needed;
    const bool marked = is_adam() && rest >= mark().size() &&
                        std::memcmp(bytes.data() + needed, mark().data(), mark().size()) == 0;
    const size_t moments = marked ? mark().size() + moment_bytes() : 0;
    const bool has_moments = marked && rest >= moments;
    const size_t counters = rest - (has_moments ? moments : 0);
    if (rest != 0 && counters != 2 * sizeof(uint32_t) && counters != 0) {
      failed(0, path + " has " + std::to_string(rest) +
                    " bytes after the weights, which are not this optimizer's: they are ignored");
      read_weights(bytes);
      return;
    }
    read_weights(bytes);
    if (has_moments) read_moments(bytes, needed + mark().size());
    if (counters != 0) read_counters(bytes, bytes.size() - counters, has_moments);
  }

 private:
  static size_t bytes_of(const Weight& weight) {
    return static_cast<size_t>(weight.elements()) * sizeof(float);
  }
  static void append_floats(std::string& to, const std::vector<float>& values) {
    to.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  }
  [[nodiscard]] size_t weight_bytes(const Weight& weight) const {
    return bytes_of(weight) / (half_ ? 2 : 1);
  }
  void append_weight(std::string& to, const std::vector<float>& values) const {
    if (!half_) return append_floats(to, values);
    const Array rounded = Array(values).cast(DType::f16);
    to.append(reinterpret_cast<const char*>(rounded.bytes().data()), rounded.bytes().size());
  }
  [[nodiscard]] bool is_adam() const { return model_.optimizer_->getType() == "adam"; }
  [[nodiscard]] bool is_coded() const { return model_.optimizer_->has_coded_states(); }
  [[nodiscard]] const Mark& mark() const { return is_coded() ? kCodedMark : kAdamMark; }

  void append_moment(std::string& to, const Weight& weight, const char* moment) const {
    if (!is_coded()) return append_floats(to, model_.weights_->read(weight, moment));
    for (const Array& array : model_.weights_->read_state(weight, moment)) {
      to.append(reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size());
    }
  }

  // A weight that layers share stands once: compiled for training where its last user stands (if it
  // is frozen its first), for inference where its first does.
  void find_order() {
    const bool for_training = model_.mode_ == ml::train::ExecutionMode::TRAIN;
    std::vector<Weight*> all;
    for (const Node& node : model_.nodes_)
      all.insert(all.end(), node.layer->weights().begin(), node.layer->weights().end());
    for (size_t i = 0; i < all.size(); ++i) {
      const auto at = all.begin() + static_cast<std::ptrdiff_t>(i);
      const bool last = for_training && all[i]->trainable;
      const bool elsewhere = last ? std::find(at + 1, all.end(), all[i]) != all.end()
                                  : std::find(all.begin(), at, all[i]) != at;
      if (!elsewhere) order_.push_back(all[i]);
    }
  }

  [[nodiscard]] std::vector<Weight*> trained() const {
    std::vector<Weight*> found;
    for (Weight* weight : order_)
      if (weight->trainable) found.push_back(weight);
    return found;
  }
  // With codes, of the trainer's arrays: there is one.
  [[nodiscard]] size_t moment_bytes() {
    if (is_coded() && !model_.trainer_) model_.make_trainer();
    size_t sum = 0;
    for (const Weight* weight : trained()) {
      if (!is_coded()) {
        sum += 2 * bytes_of(*weight);
        continue;
      }
      for (const char* moment : kMoments) {
        for (const Array& array : model_.weights_->read_state(*weight, moment)) {
          sum += array.bytes().size();
        }
      }
    }
    return sum;
  }

  void read_weights(const std::string& bytes) {
    size_t at = 0;
    for (Weight* weight : order_) {
      if (!half_) {
        at = read_into(bytes, at, *weight, {});
        continue;
      }
      const std::span<const char> part(bytes.data() + at, weight_bytes(*weight));
      const Array values = Array::view(DType::f16, {weight->elements()}, std::as_bytes(part));
      model_.weights_->write(*weight, values.floats());
      at += part.size();
    }
  }

  size_t read_into(const std::string& bytes, size_t at, Weight& weight, const std::string& state) {
    std::vector<float> values(static_cast<size_t>(weight.elements()));
    std::memcpy(values.data(), bytes.data() + at, bytes_of(weight));
    model_.weights_->write(weight, values, state);
    return at + bytes_of(weight);
  }

  void read_moments(const std::string& bytes, size_t at) {
    if (!model_.trainer_) model_.make_trainer();
    for (Weight* weight : trained()) {
      for (const char* moment : kMoments) {
        at = is_coded() ? read_arrays(bytes, at, *weight, moment)
                        : read_into(bytes, at, *weight, moment);
      }
    }
  }

  size_t read_arrays(const std::string& bytes, size_t at, const Weight& weight,
                     const std::string& state) {
    std::vector<Array> arrays = model_.weights_->read_state(weight, state);
    for (Array& array : arrays) {
      std::vector<std::byte> part(array.bytes().size());
      std::memcpy(part.data(), bytes.data() + at, part.size());
      at += part.size();
      array = Array::of_bytes(array.dtype(), array.shape(), std::move(part));
    }
    model_.weights_->write_state(weight, state, arrays);
    return at;
  }

  void read_counters(const std::string& bytes, size_t at, bool has_moments) {
    uint32_t counters[2] = {};
    std::memcpy(counters, bytes.data() + at, sizeof counters);
    model_.epoch_ = counters[0];
    if (!model_.trainer_ && (has_moments || counters[1] > 0)) model_.make_trainer();
    if (model_.trainer_) model_.trainer_->set_steps(counters[1]);
  }

  ModelNode& model_;
  const bool half_ = model_.stores_half_weights();
  std::vector<Weight*> order_;
};

void ModelNode::save_bin(const std::string& path) { BinFile(*this).save(path); }
void ModelNode::load_bin(const std::string& path) { BinFile(*this).load(path); }

}  // namespace thimble::ml_train
