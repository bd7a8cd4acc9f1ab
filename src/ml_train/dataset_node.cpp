#include "ml_train/dataset_node.h"

#include <nntrainer_error.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace thimble::ml_train {
namespace {

// More batches read ahead save no time.
constexpr int64_t kMostBuffers = 64;

constexpr Property kFile[] = {{"path", Kind::text, nullptr, "", 0, true},
                              {"buffer_size", Kind::positive, "1"}};
constexpr Property kGenerator[] = {{"buffer_size", Kind::positive, "1"}, {"user_data", Kind::text}};

class CallbackReader : public SampleReader {
 public:
  CallbackReader(ml::train::datagen_cb callback, void* user_data)
      : callback_(std::move(callback)), user_data_(user_data) {}
  void start(bool /*shuffle*/) override {}
  bool read(float** inputs, float** labels) override {
    bool last = false;
    const int status = callback_(inputs, labels, &last, user_data_);
    if (status != ML_ERROR_NONE) {
      throw std::runtime_error("[dataset] the generator returned the error " +
                               std::to_string(status));
    }
    return last;
  }

 private:
  ml::train::datagen_cb callback_;
  void* user_data_;
};

// Records of float32: all inputs, then all labels of a sample.
class FileReader : public SampleReader {
 public:
  FileReader(const std::string& path, const SampleSizes& sizes) : path_(path), sizes_(sizes) {
    file_.open(path, std::ios::binary);
    file_.seekg(0, std::ios::end);
    const auto bytes = static_cast<int64_t>(file_.tellg());
    if (!file_ || bytes < 0) throw std::invalid_argument("[" + path + "] cannot be read");
    for (const auto* list : {&sizes.inputs, &sizes.labels})
      for (const int64_t size : *list) record_ += size * static_cast<int64_t>(sizeof(float));
    if (bytes == 0 || bytes % record_ != 0) {
      throw std::invalid_argument("[" + path + "] has " + std::to_string(bytes) +
                                  " bytes, which is no number of samples of " +
                                  std::to_string(record_) + " bytes");
    }
    order_.resize(static_cast<size_t>(bytes / record_));
    std::iota(order_.begin(), order_.end(), int64_t{0});
  }
  void start(bool shuffle) override {
    next_ = 0;
    // Fisher and Yates; the standard library's shuffle differs between implementations.
    for (size_t i = order_.size() - 1; shuffle && i > 0; --i) {
      std::swap(order_[i], order_[random_() % (i + 1)]);
    }
  }
  bool read(float** inputs, float** labels) override {
    file_.clear();
    file_.seekg(order_[next_] * record_);
    for (size_t i = 0; i < sizes_.inputs.size(); ++i) read_into(inputs[i], sizes_.inputs[i]);
    for (size_t i = 0; i < sizes_.labels.size(); ++i) read_into(labels[i], sizes_.labels[i]);
    if (!file_) throw std::runtime_error("[" + path_ + "] a sample cannot be read");
    return ++next_ == order_.size();
  }

 private:
  void read_into(float* to, int64_t count) {
    file_.read(reinterpret_cast<char*>(to),
               static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(float)));
  }

  std::string path_;
  SampleSizes sizes_;
  std::ifstream file_;
  int64_t record_ = 0;
  std::vector<int64_t> order_;
  size_t next_ = 0;
  std::mt19937 random_{0};
};

}  // namespace

DatasetNode::DatasetNode(const std::string& path, const std::vector<std::string>& properties)
    : props_("file dataset", {kFile}) {
  if (!path.empty()) props_.set("path", path);
  setProperty(properties);
  props_.require_all();
  const std::string file = props_.choice("path");
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) || !std::ifstream(file, std::ios::binary)) {
    throw std::invalid_argument("[" + file + "] cannot be read");
  }
}

DatasetNode::DatasetNode(ml::train::datagen_cb callback, void* user_data,
                         const std::vector<std::string>& properties)
    : callback_(std::move(callback)), user_data_(user_data), props_("generator", {kGenerator}) {
  if (!callback_) throw std::invalid_argument("[dataset] the callback is empty");
  setProperty(properties);
}

void DatasetNode::setProperty(const std::vector<std::string>& values) {
  props_.set(values);
  if (!props_.given("user_data")) return;
  const std::string text = props_.choice("user_data");
  const size_t begin = text.starts_with("0x") ? 2 : 0;
  if (text.size() == begin || text.size() > begin + 16 ||
      text.find_first_not_of("0123456789abcdefABCDEF", begin) != std::string::npos) {
    throw std::invalid_argument("[dataset] user_data=" + text + ": expected a pointer as text");
  }
  user_data_ =
      std::bit_cast<void*>(static_cast<uintptr_t>(std::stoull(text.substr(begin), nullptr, 16)));
  props_.erase("user_data");
}

std::unique_ptr<SampleReader> DatasetNode::reader(const SampleSizes& sizes) const {
  if (callback_) return std::make_unique<CallbackReader>(callback_, user_data_);
  return std::make_unique<FileReader>(props_.choice("path"), sizes);
}

BatchFeed::BatchFeed(std::unique_ptr<SampleReader> reader, const SampleSizes& sizes, int64_t batch,
                     int64_t buffers)
    : reader_(std::move(reader)),
      sizes_(sizes),
      batch_(batch),
      slots_(static_cast<size_t>(std::min(buffers, kMostBuffers)) + 1) {
  for (SampleBatch& slot : slots_) {
    for (const int64_t size : sizes.inputs) slot.inputs.emplace_back(size * batch);
    for (const int64_t size : sizes.labels) slot.labels.emplace_back(size * batch);
  }
}

void BatchFeed::start(bool shuffle) {
  stop();
  filled_ = 0;
  taken_ = 0;
  stops_ = false;
  ended_ = false;
  error_ = nullptr;
  reader_->start(shuffle);
  thread_ = std::thread([this] { run(); });
}

void BatchFeed::fill(SampleBatch& batch) {
  std::vector<float*> inputs(batch.inputs.size());
  std::vector<float*> labels(batch.labels.size());
  batch.is_last = false;
  for (batch.count = 0; batch.count < batch_ && !batch.is_last; ++batch.count) {
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs[i] = batch.inputs[i].data() + batch.count * sizes_.inputs[i];
    for (size_t i = 0; i < labels.size(); ++i)
      labels[i] = batch.labels[i].data() + batch.count * sizes_.labels[i];
    batch.is_last = reader_->read(inputs.data(), labels.data());
  }
}

void BatchFeed::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      // The batch that was handed out last is still in use.
      changed_.wait(lock, [&] { return stops_ || filled_ < taken_ + slots_.size() - 1; });
      if (stops_) return;
    }
    std::exception_ptr error;
    SampleBatch& slot = slots_[filled_ % slots_.size()];
    try {
      fill(slot);
    } catch (...) {
      error = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    if (error) {
      error_ = error;
    } else {
      ++filled_;
    }
    ended_ = error || slot.is_last;
    changed_.notify_all();
    if (ended_) return;
  }
}

const SampleBatch* BatchFeed::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return filled_ > taken_ || ended_; });
  if (filled_ > taken_) {
    const SampleBatch* const batch = &slots_[taken_++ % slots_.size()];
    changed_.notify_all();
    return batch;
  }
  if (error_) std::rethrow_exception(error_);
  return nullptr;
}

void BatchFeed::stop() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

}  // namespace thimble::ml_train

namespace ml::train {
namespace {

void require_type(DatasetType type, DatasetType wanted, const char* how) {
  if (type == wanted) return;
  throw std::invalid_argument(std::string("[dataset] this createDataset is for ") + how +
                              "; folders of images are not offered");
}

}  // namespace

std::unique_ptr<Dataset> createDataset(DatasetType type,
                                       const std::vector<std::string>& properties) {
  require_type(type, DatasetType::FILE, "FILE");
  return std::make_unique<thimble::ml_train::DatasetNode>(std::string(), properties);
}

std::unique_ptr<Dataset> createDataset(DatasetType type, const char* path,
                                       const std::vector<std::string>& properties) {
  require_type(type, DatasetType::FILE, "FILE");
  return std::make_unique<thimble::ml_train::DatasetNode>(std::string(path), properties);
}

std::unique_ptr<Dataset> createDataset(DatasetType type, datagen_cb callback, void* user_data,
                                       const std::vector<std::string>& properties) {
  require_type(type, DatasetType::GENERATOR, "GENERATOR");
  return std::make_unique<thimble::ml_train::DatasetNode>(std::move(callback), user_data,
                                                          properties);
}

}  // namespace ml::train
