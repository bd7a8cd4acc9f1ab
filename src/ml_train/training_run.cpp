// One call of train: epochs of steps, with validation, log and saved files.
#include <nntrainer_error.h>
#include <thimble/data.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "ml_train/class_means.h"
#include "ml_train/model_node.h"

namespace thimble::ml_train {
namespace {

using ml::train::DatasetModeType;
using ml::train::RunStats;

// The samples of one batch.
class BatchSource : public data::Source {
 public:
  BatchSource(const BuiltNetwork& network, const SampleBatch& batch) : batch_(batch) {
    const auto declare = [&](const std::vector<Port>& ports, bool label) {
      for (const Port& port : ports) {
        fields_.push_back(
            {.name = port.name, .shape = {port.dim.c, port.dim.h, port.dim.w}, .is_label = label});
        elements_.push_back(port.dim.elements());
      }
    };
    declare(network.inputs, false);
    declare(network.labels, true);
  }
  [[nodiscard]] int64_t size() const override { return batch_.count; }
  [[nodiscard]] const std::vector<data::Field>& fields() const override { return fields_; }
  void read(int64_t index, std::span<void* const> out) const override {
    for (size_t i = 0; i < out.size(); ++i) {
      const std::vector<float>& values =
          i < batch_.inputs.size() ? batch_.inputs[i] : batch_.labels[i - batch_.inputs.size()];
      const auto n = static_cast<size_t>(elements_[i]);
      std::memcpy(out[i], values.data() + static_cast<size_t>(index) * n, n * sizeof(float));
    }
  }

 private:
  const SampleBatch& batch_;
  std::vector<data::Field> fields_;
  std::vector<int64_t> elements_;
};

data::Dataset dataset_of(const BuiltNetwork& network, const SampleBatch& batch) {
  return data::Dataset(std::make_shared<BatchSource>(network, batch));
}

// Text in the middle of 20 columns.
std::string centred(int number) {
  const std::string text = std::to_string(number);
  const size_t blanks = text.size() < 20 ? 20 - text.size() : 0;
  return std::string(blanks / 2, ' ') + text + std::string(blanks - blanks / 2, ' ');
}

// Loss and accuracy over samples.
struct Sums {
  double loss = 0.0;
  double right = 0.0;
  int64_t samples = 0;
  int batches = 0;
  void add(const Evaluation& batch, int64_t count) {
    const auto n = static_cast<double>(count);
    loss += batch.loss * n;
    const auto accuracy = batch.metrics.find("accuracy");
    if (accuracy != batch.metrics.end()) right += accuracy->second * n;
    samples += count;
    ++batches;
  }
  [[nodiscard]] RunStats stats(unsigned int epoch, unsigned int epochs) const {
    const double n = samples > 0 ? static_cast<double>(samples) : 1.0;
    RunStats stats;
    stats.accuracy = static_cast<float>(100.0 * right / n);
    stats.loss = static_cast<float>(loss / n);
    stats.num_iterations = batches;
    stats.max_epoch = epochs;
    stats.epoch_idx = epoch;
    stats.num_correct_predictions = static_cast<int>(std::lround(right));
    return stats;
  }
};

}  // namespace

class TrainingRun {
 public:
  TrainingRun(ModelNode& model, std::function<bool()> stop, std::function<void()> epoch_complete)
      : model_(model), stop_(std::move(stop)), epoch_complete_(std::move(epoch_complete)) {}

  void run() {
    prepare();
    try {
      run_epochs();
    } catch (...) {
      model_.weights_->pull();  // what was trained so far
      throw;
    }
  }

 private:
  void run_epochs() {
    const auto epochs = static_cast<unsigned int>(model_.props_.count("epochs"));
    const auto train = feed(DatasetModeType::MODE_TRAIN);
    const auto validation = feed(DatasetModeType::MODE_VALID);
    bool stopped = false;
    while (!stopped && model_.epoch_ < epochs && !stop_()) {
      const std::string head =
          "#" + std::to_string(model_.epoch_ + 1) + "/" + std::to_string(epochs);
      stopped = train_epoch(*train, head, epochs);
      if (stopped) break;
      std::cout << head << " - Training Loss: " << model_.training_.loss;
      if (validation) {
        std::cout << " >> ";
        model_.validation_ = evaluate(*validation, epochs);
      }
      std::cout << std::endl;
      ++model_.epoch_;
      model_.weights_->pull();
      save();
      epoch_complete_();
      model_.weights_->push();
    }
    model_.weights_->pull();
    if (const auto test = feed(DatasetModeType::MODE_TEST); test && !stopped) {
      std::cout << "Evaluation with test data...\n";
      model_.test_ = evaluate(*test, epochs);
      std::cout << std::endl;
    }
  }

  // Without continue_train epochs, steps and the optimizer's state begin anew.
  void prepare() {
    const bool goes_on = model_.props_.boolean("continue_train");
    if (!goes_on) {
      model_.drop_trainer();
      model_.epoch_ = 0;
    }
    model_.weights_->push();
    if (learns_means(model_)) {
      model_.predictor_.reset();
      means_.emplace(model_);
    } else if (!model_.trainer_) {
      model_.make_trainer();
    } else if (model_.trainer_settings_ != model_.training_settings()) {
      model_.remake_trainer();
    }
  }

  std::unique_ptr<BatchFeed> feed(DatasetModeType mode) {
    const std::shared_ptr<DatasetNode> dataset = model_.dataset(mode);
    if (!dataset) return nullptr;
    const SampleSizes sizes = model_.sample_sizes();
    return std::make_unique<BatchFeed>(dataset->reader(sizes), sizes, model_.batch_size(),
                                       dataset->buffers());
  }

  // Whether the user stopped it.
  bool train_epoch(BatchFeed& feed, const std::string& head, unsigned int epochs) {
    Sums sums;
    feed.start(true);
    while (const SampleBatch* batch = feed.next()) {
      const data::Dataset samples = dataset_of(model_.network_, *batch);
      const Evaluation step =
          means_ ? means_->learn(samples, *batch) : model_.trainer_->step(samples);
      model_.loss_ = static_cast<float>(step.loss);
      std::cout << head << " [ " << centred(sums.batches) << " ]  ( Training Loss: " << model_.loss_
                << " )\r" << std::flush;
      sums.add(step, batch->count);
      model_.training_ = sums.stats(model_.epoch_, epochs);
      if (stop_()) return true;
    }
    return false;
  }

  RunStats evaluate(BatchFeed& feed, unsigned int epochs) {
    Sums sums;
    std::optional<Evaluator> evaluator;
    if (means_) {
      evaluator.emplace(
          model_.graph_with_weights(),
          EvaluatorOptions{.batch = model_.batch_size(),
                           .threads = static_cast<int>(model_.props_.count("threads"))});
    }
    feed.start(false);
    while (const SampleBatch* batch = feed.next()) {
      const data::Dataset samples = dataset_of(model_.network_, *batch);
      sums.add(evaluator ? evaluator->evaluate(samples) : model_.trainer_->evaluate(samples),
               batch->count);
    }
    const RunStats stats = sums.stats(model_.epoch_, epochs);
    std::cout << "[ Accuracy: " << stats.accuracy << "% - Validation Loss : " << stats.loss << " ]";
    return stats;
  }

  void save() {
    const auto format = ml::train::ModelFormat::MODEL_FORMAT_BIN;
    if (model_.props_.given("save_path")) model_.save(model_.props_.choice("save_path"), format);
    if (!model_.props_.given("save_best_path")) return;
    const RunStats& now = model_.validation_;
    const bool better = !best_ || now.accuracy > best_->accuracy ||
                        (now.accuracy == best_->accuracy && now.loss < best_->loss);
    if (!better) return;
    best_ = now;
    model_.save(model_.props_.choice("save_best_path"), format);
  }

  ModelNode& model_;
  std::function<bool()> stop_;
  std::function<void()> epoch_complete_;
  std::optional<RunStats> best_;
  std::optional<MeansLearner> means_;  // where no weights are trained by gradients
};

int ModelNode::train(const std::vector<std::string>& values, std::function<bool(void*)> stop,
                     void* stop_data, std::function<void(void*)> epoch_complete, void* epoch_data) {
  for (const auto& [key, value] : parse_pairs("train", values)) {
    PropertySet allowed("train", {train_properties()});
    allowed.set(key, value);
  }
  setProperty(values);
  if (!trains_) {
    return failed(ML_ERROR_INVALID_PARAMETER, "train comes after compile and initialize for TRAIN");
  }
  if (!optimizer_) return failed(ML_ERROR_INVALID_PARAMETER, "training needs an optimizer");
  if (!network_.has_loss) {
    throw std::invalid_argument("[model] training needs a loss: set loss, or add a loss layer");
  }
  if (!dataset(ml::train::DatasetModeType::MODE_TRAIN)) {
    return failed(ML_ERROR_INVALID_PARAMETER,
                  "training needs a data set: call setDataset with MODE_TRAIN");
  }
  TrainingRun(
      *this, [&] { return stop && stop(stop_data); },
      [&] {
        if (epoch_complete) epoch_complete(epoch_data);
      })
      .run();
  return ML_ERROR_NONE;
}

}  // namespace thimble::ml_train
