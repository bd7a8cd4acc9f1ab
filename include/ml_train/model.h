// Models: layers, an optimizer and data sets, compiled and trained.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <common.h>
#include <dataset.h>
#include <layer.h>
#include <optimizer.h>
#include <tensor_dim.h>

namespace nntrainer {
class RunLayerContext;  // a layer of an initialized model; opaque
}

namespace ml::train {

// Results of an epoch.
struct RunStats {
  float accuracy = 0.0F;  // percent
  float loss = 0.0F;
  int num_iterations = 0;
  unsigned int max_epoch = 0;
  unsigned int epoch_idx = 0;
  int num_correct_predictions = 0;
};

enum class ModelType {
  KNN = 0,  // not offered
  NEURAL_NET = 1,
  UNKNOWN = 2,
};

enum class ModelFormat {
  MODEL_FORMAT_BIN = ML_TRAIN_MODEL_FORMAT_BIN,
  MODEL_FORMAT_INI = ML_TRAIN_MODEL_FORMAT_INI,
  MODEL_FORMAT_INI_WITH_BIN = ML_TRAIN_MODEL_FORMAT_INI_WITH_BIN,
  MODEL_FORMAT_FLATBUFFER = ML_TRAIN_MODEL_FORMAT_FLATBUFFER,  // not offered
  MODEL_FORMAT_ONNX = ML_TRAIN_MODEL_FORMAT_ONNX,              // not offered
  MODEL_FORMAT_QNN = ML_TRAIN_MODEL_FORMAT_QNN,                // not offered
};

enum class ReferenceLayersType {
  BACKBONE = 0,
  RECURRENT = 1,
};

// A neural network. The order of calls: add layers or load an INI file, compile, initialize, then
// train or inference. Functions that return int return 0, or an ML_ERROR_* code of
// nntrainer_error.h, whose reason is a line of the standard error stream.
// Thread safety: none. Tensors are [batch, channel, height, width].
class Model {
 public:
  virtual ~Model() = default;
  // The guide "From NNTrainer" lists the keys. Throws std::invalid_argument.
  virtual void setProperty(const std::vector<std::string>& values) = 0;
  virtual int addLayer(std::shared_ptr<Layer> layer) = 0;
  virtual void addWithReferenceLayers(const std::vector<std::shared_ptr<Layer>>& reference,
                                      const std::string& scope,
                                      const std::vector<std::string>& input_layers,
                                      const std::vector<std::string>& start_layers,
                                      const std::vector<std::string>& end_layers,
                                      ReferenceLayersType type,
                                      const std::vector<std::string>& type_properties = {}) = 0;
  virtual int setOptimizer(std::shared_ptr<Optimizer> optimizer) = 0;
  virtual int setDataset(const DatasetModeType& mode, std::shared_ptr<Dataset> dataset) = 0;
  virtual int getLayer(const char* name, std::shared_ptr<Layer>* layer) = 0;
  virtual void forEachLayer(
      std::function<void(Layer&, nntrainer::RunLayerContext&, void*)> function,
      void* user_data = nullptr) = 0;

  virtual int loadFromConfig(const std::string& path) = 0;
  virtual void load(const std::string& path,
                    ModelFormat format = ModelFormat::MODEL_FORMAT_BIN) = 0;
  virtual void save(const std::string& path,
                    ModelFormat format = ModelFormat::MODEL_FORMAT_BIN) = 0;
  virtual void exports(const ExportMethods& method, const std::string path) = 0;

  virtual int compile(ExecutionMode mode = ExecutionMode::TRAIN) = 0;
  virtual int initialize(ExecutionMode mode = ExecutionMode::TRAIN) = 0;
  virtual int reinitialize() = 0;
  virtual int allocate(ExecutionMode mode = ExecutionMode::TRAIN) = 0;
  virtual int train(
      const std::vector<std::string>& values = {},
      std::function<bool(void*)> stop = [](void*) { return false; }, void* stop_data = nullptr,
      std::function<void(void*)> epoch_complete = [](void*) {}, void* epoch_data = nullptr) = 0;
  // One pointer for every output, [batch, c, h, w], valid until the next call.
  virtual std::vector<float*> inference(unsigned int batch, const std::vector<float*>& input,
                                        const std::vector<float*>& label = {}) = 0;
  // Rows [from, to) of sequences whose rows before were computed by earlier calls: attention keeps
  // their keys and values. The first call, with from 0, begins new sequences. input: as for
  // inference, of which the first to - from rows (for an embedding, indexes) are read. Returns what
  // inference on the whole sequence has there. output_hidden_state: arrays of the output's whole
  // size, which are the model's and valid until the next call, with the new rows first; without it
  // the last row alone, [batch, c, 1, w], in arrays that the caller deletes with delete[].
  // label and init_seq_len are not read. Throws std::invalid_argument where a layer mixes rows,
  // such as attention without causal_mask, and where rows before `from` are missing.
  virtual std::vector<float*> incremental_inference(unsigned int batch,
                                                    const std::vector<float*>& input,
                                                    const std::vector<float*>& label,
                                                    unsigned int init_seq_len, unsigned int from,
                                                    unsigned int to,
                                                    bool output_hidden_state = false) = 0;
  virtual void summarize(std::ostream& out, ml_train_summary_type_e verbosity) = 0;

  virtual std::vector<TensorDim> getInputDimension() = 0;
  virtual std::vector<TensorDim> getOutputDimension() = 0;
  virtual void resetInputDimension(std::vector<TensorDim> dims) = 0;
  virtual unsigned int getCurrentEpoch() = 0;
  virtual float getLoss() = 0;
  virtual float getTrainingLoss() = 0;
  virtual float getValidationLoss() = 0;
  virtual RunStats getTrainingStats() = 0;
  virtual RunStats getValidStats() = 0;
  virtual RunStats getTestStats() = 0;
  [[nodiscard]] virtual bool getCompiled() const = 0;
  [[nodiscard]] virtual bool getInitialized() const = 0;
  [[nodiscard]] virtual bool getLoadedFromConfig() const = 0;
};

// Throws std::invalid_argument for another type than NEURAL_NET, and for wrong properties.
std::unique_ptr<Model> createModel(ModelType type = ModelType::NEURAL_NET,
                                   const std::vector<std::string>& properties = {});
// A new model that is not compiled, with the same layers, properties and optimizer settings. Throws
// std::invalid_argument where `from` is initialized.
std::unique_ptr<Model> copyConfiguration(Model& from);

}  // namespace ml::train
