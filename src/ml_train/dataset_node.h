// The data sets that users hold, and batches of them.
#pragma once

#include <dataset.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ml_train/properties.h"

namespace thimble::ml_train {

// How many numbers a sample has for each input and label.
struct SampleSizes {
  std::vector<int64_t> inputs;
  std::vector<int64_t> labels;
};

// Samples one after the other. Used by one thread at a time.
class SampleReader {
 public:
  virtual ~SampleReader() = default;
  // Begins an epoch. shuffle: in another order than the last time, where the data set can.
  virtual void start(bool shuffle) = 0;
  // Writes a sample; whether it was the last one. Throws std::runtime_error where it cannot.
  virtual bool read(float** inputs, float** labels) = 0;
};

class DatasetNode : public ml::train::Dataset {
 public:
  // One of both: the file's path, or the callback.
  DatasetNode(const std::string& path, const std::vector<std::string>& properties);
  DatasetNode(ml::train::datagen_cb callback, void* user_data,
              const std::vector<std::string>& properties);
  void setProperty(const std::vector<std::string>& values) override;
  [[nodiscard]] bool is_file() const { return !callback_; }
  [[nodiscard]] const PropertySet& props() const { return props_; }
  // Batches that are read ahead.
  [[nodiscard]] int64_t buffers() const { return props_.count("buffer_size"); }
  // Throws std::invalid_argument where the file is not one of whole samples.
  [[nodiscard]] std::unique_ptr<SampleReader> reader(const SampleSizes& sizes) const;

 private:
  ml::train::datagen_cb callback_;
  void* user_data_ = nullptr;
  PropertySet props_;
};

// A batch of samples, input by input and label by label.
struct SampleBatch {
  int64_t count = 0;
  bool is_last = false;
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> labels;
};

// Reads batches ahead on a thread of its own.
class BatchFeed {
 public:
  // batch: samples in all but the last one. buffers: batches read ahead.
  BatchFeed(std::unique_ptr<SampleReader> reader, const SampleSizes& sizes, int64_t batch,
            int64_t buffers);
  ~BatchFeed() { stop(); }
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  void start(bool shuffle);
  // Null at the end of the epoch; valid until the next call. Rethrows what reading threw.
  const SampleBatch* next();
  // Ends an epoch early. The next one begins anew.
  void stop();

 private:
  void run();
  void fill(SampleBatch& batch);

  std::unique_ptr<SampleReader> reader_;
  SampleSizes sizes_;
  int64_t batch_;
  std::vector<SampleBatch> slots_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t filled_ = 0;  // batches read, of this epoch
  size_t taken_ = 0;   // batches handed out
  bool stops_ = false;
  bool ended_ = true;
  std::exception_ptr error_;
};

}  // namespace thimble::ml_train
