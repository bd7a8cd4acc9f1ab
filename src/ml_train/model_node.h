// The models that users hold.
#pragma once

#include <model.h>
#include <thimble/evaluator.h>
#include <thimble/predictor.h>
#include <thimble/trainer.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ml_train/dataset_node.h"
#include "ml_train/incremental.h"
#include "ml_train/network.h"
#include "ml_train/optimizer_node.h"

namespace thimble::ml_train {

[[nodiscard]] std::span<const Property> model_properties();
// Keys of train().
[[nodiscard]] std::span<const Property> train_properties();

class ModelNode : public ml::train::Model {
 public:
  explicit ModelNode(const std::vector<std::string>& properties);

  void setProperty(const std::vector<std::string>& values) override;
  int addLayer(std::shared_ptr<ml::train::Layer> layer) override;
  void addWithReferenceLayers(const std::vector<std::shared_ptr<ml::train::Layer>>& reference,
                              const std::string& scope,
                              const std::vector<std::string>& input_layers,
                              const std::vector<std::string>& start_layers,
                              const std::vector<std::string>& end_layers,
                              ml::train::ReferenceLayersType type,
                              const std::vector<std::string>& type_properties) override;
  int setOptimizer(std::shared_ptr<ml::train::Optimizer> optimizer) override;
  int setDataset(const ml::train::DatasetModeType& mode,
                 std::shared_ptr<ml::train::Dataset> dataset) override;
  int getLayer(const char* name, std::shared_ptr<ml::train::Layer>* layer) override;
  void forEachLayer(
      std::function<void(ml::train::Layer&, nntrainer::RunLayerContext&, void*)> function,
      void* user_data) override;

  int loadFromConfig(const std::string& path) override;
  void load(const std::string& path, ml::train::ModelFormat format) override;
  void save(const std::string& path, ml::train::ModelFormat format) override;
  void exports(const ml::train::ExportMethods& method, const std::string path) override;

  int compile(ml::train::ExecutionMode mode) override;
  int initialize(ml::train::ExecutionMode mode) override;
  int reinitialize() override;
  int allocate(ml::train::ExecutionMode mode) override;
  int train(const std::vector<std::string>& values, std::function<bool(void*)> stop,
            void* stop_data, std::function<void(void*)> epoch_complete, void* epoch_data) override;
  std::vector<float*> inference(unsigned int batch, const std::vector<float*>& input,
                                const std::vector<float*>& label) override;
  std::vector<float*> incremental_inference(unsigned int batch, const std::vector<float*>& input,
                                            const std::vector<float*>& label,
                                            unsigned int init_seq_len, unsigned int from,
                                            unsigned int to, bool output_hidden_state) override;
  void summarize(std::ostream& out, ml_train_summary_type_e verbosity) override;

  std::vector<ml::train::TensorDim> getInputDimension() override;
  std::vector<ml::train::TensorDim> getOutputDimension() override;
  void resetInputDimension(std::vector<ml::train::TensorDim> dims) override;
  unsigned int getCurrentEpoch() override { return epoch_; }
  float getLoss() override { return loss_; }
  float getTrainingLoss() override { return training_.loss; }
  float getValidationLoss() override { return validation_.loss; }
  ml::train::RunStats getTrainingStats() override { return training_; }
  ml::train::RunStats getValidStats() override { return validation_; }
  ml::train::RunStats getTestStats() override { return test_; }
  [[nodiscard]] bool getCompiled() const override { return compiled_; }
  [[nodiscard]] bool getInitialized() const override { return initialized_; }
  [[nodiscard]] bool getLoadedFromConfig() const override { return loaded_; }

  // A new model that is not compiled, with the same settings. Throws std::invalid_argument where
  // this one is initialized.
  [[nodiscard]] std::unique_ptr<ModelNode> clone() const;

  // For the parts of this library.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<std::shared_ptr<LayerNode>>& layers() const { return layers_; }
  [[nodiscard]] const BuiltNetwork& network() const { return network_; }
  [[nodiscard]] const PropertySet& props() const { return props_; }
  [[nodiscard]] const OptimizerNode* optimizer() const { return optimizer_.get(); }
  [[nodiscard]] std::shared_ptr<DatasetNode> dataset(ml::train::DatasetModeType mode) const;
  [[nodiscard]] TrainerOptions trainer_options() const;
  // Whether BIN files have weights of FP16. In memory they are FP32.
  [[nodiscard]] bool stores_half_weights() const;
  // The properties that these follow from.
  [[nodiscard]] std::vector<std::string> training_settings() const;
  [[nodiscard]] NetworkSettings settings() const;
  [[nodiscard]] WeightStore& weights() { return *weights_; }
  // The graph with its weights.
  [[nodiscard]] Graph graph_with_weights() { return network_with_weights(settings()).graph; }
  // The same made in other ways, or for inputs of other sizes; see build_network.
  [[nodiscard]] BuiltNetwork network_with_weights(const NetworkSettings& settings) {
    return network_with_weights(settings, input_dims_);
  }
  [[nodiscard]] BuiltNetwork network_with_weights(const NetworkSettings& settings,
                                                  const std::vector<Dim>& input_dims);

 private:
  friend class TrainingRun;
  friend class BinFile;

  void set_property(const std::string& key, const std::string& value);
  void add(std::shared_ptr<LayerNode> layer);
  void load_ini(const std::string& path);
  void load_onnx(const std::string& path);
  // weights_path: the key save_path; empty: the model's own.
  [[nodiscard]] std::string ini_text(const std::string& weights_path) const;
  void save_bin(const std::string& path);
  void load_bin(const std::string& path);
  void build();
  void make_trainer();
  void make_trainer(const TrainerOptions& options, std::vector<std::string> settings);
  // With the options as they are now, the optimizer's state and the steps of the trainer before;
  // where these options fail, the trainer stays as it was.
  void remake_trainer();
  void drop_trainer();
  // Whether weights may be others than when WeightStore::writes was that.
  [[nodiscard]] bool weights_may_differ(int64_t writes) const;
  [[nodiscard]] int64_t batch_size() const { return props_.count("batch_size"); }
  [[nodiscard]] SampleSizes sample_sizes() const;
  void require_initialized(const char* what) const;
  // Samples that lie in users' memory.
  [[nodiscard]] data::Dataset given(int64_t batch, const std::vector<float*>& input,
                                    const std::vector<float*>& label) const;
  std::vector<float*> keep_outputs(const std::map<std::string, Array>& outputs);
  std::vector<float*> keep_rows(const std::vector<NewOutput>& rows, int64_t batch);

  PropertySet props_;
  std::vector<std::shared_ptr<LayerNode>> layers_;  // as declared
  int unnamed_ = 0;
  std::shared_ptr<OptimizerNode> optimizer_;
  std::map<ml::train::DatasetModeType, std::shared_ptr<DatasetNode>> datasets_;
  std::vector<Node> nodes_;  // in order of execution
  ml::train::ExecutionMode mode_ = ml::train::ExecutionMode::TRAIN;
  bool compiled_ = false;
  bool initialized_ = false;
  bool trains_ = false;  // initialized for training
  bool loaded_ = false;
  std::string weights_path_;  // of an INI file: read at initialize
  std::vector<Dim> input_dims_;
  std::shared_ptr<WeightStore> weights_ = std::make_shared<WeightStore>();
  BuiltNetwork network_;
  std::optional<Trainer> trainer_;
  std::vector<std::string> trainer_settings_;  // training_settings when it was made
  std::optional<Predictor> predictor_;
  int64_t predictor_batch_ = 0;
  int64_t predictor_writes_ = 0;  // WeightStore::writes when it was made
  std::optional<IncrementalRun> incremental_;
  int64_t incremental_writes_ = 0;
  std::vector<std::vector<float>> outputs_;  // of the last inference
  unsigned int epoch_ = 0;
  float loss_ = 0.0F;
  ml::train::RunStats training_;
  ml::train::RunStats validation_;
  ml::train::RunStats test_;
};

// Prints why a function returns this status, and returns it.
int failed(int status, const std::string& why);

}  // namespace thimble::ml_train
