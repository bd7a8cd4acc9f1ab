// Where a model's samples come from.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nntrainer-api-common.h>

namespace ml::train {

enum class DatasetType {
  GENERATOR = 0,  // a callback that writes one sample
  FILE = 1,       // a file of float32 records: all inputs, then all labels
  DIR = 2,        // not offered
  UNKNOWN = 3,
};

enum class DatasetModeType {
  MODE_TRAIN = ML_TRAIN_DATASET_MODE_TRAIN,
  MODE_VALID = ML_TRAIN_DATASET_MODE_VALID,
  MODE_TEST = ML_TRAIN_DATASET_MODE_TEST,
  MODE_UNKNOWN = 3,
};

// Called once for every sample, on a thread of its own. See ml_train_datagen_cb.
using datagen_cb = std::function<int(float**, float**, bool*, void*)>;

class Dataset {
 public:
  virtual ~Dataset() = default;
  // "key=value" each. Throws std::invalid_argument naming a key or value at fault.
  virtual void setProperty(const std::vector<std::string>& values) = 0;
};

// Only FILE, whose property path names the file. Throws std::invalid_argument for others.
std::unique_ptr<Dataset> createDataset(DatasetType type,
                                       const std::vector<std::string>& properties = {});
// Only FILE. Throws std::invalid_argument for others, and where the file cannot be read.
std::unique_ptr<Dataset> createDataset(DatasetType type, const char* path,
                                       const std::vector<std::string>& properties = {});
// Only GENERATOR. user_data: handed to every call. Throws std::invalid_argument for others.
std::unique_ptr<Dataset> createDataset(DatasetType type, datagen_cb callback,
                                       void* user_data = nullptr,
                                       const std::vector<std::string>& properties = {});

}  // namespace ml::train
