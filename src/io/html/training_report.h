// A self-contained page about one training run.
#pragma once

#include <thimble/plan.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace thimble::io {

// A picture by its PNG bytes.
struct ReportImage {
  std::string title;
  std::string caption;
  std::string png;
};

// Text that a model wrote, shown as it is.
struct ReportText {
  std::string title;
  std::string caption;
  std::string text;
};

struct ReportEpoch {
  int64_t epoch = 0;  // from 1
  int64_t steps = 0;  // done at its end, of the whole training
  double train_loss = 0.0;
  double test_loss = 0.0;
  double seconds = 0.0;
  double learning_rate = 0.0;
};

// Everything the page shows.
struct TrainingReport {
  std::string title;                                       // "vae on MNIST"
  std::vector<std::pair<std::string, std::string>> facts;  // name and value, in order
  int64_t first_step = 0;                                  // done before; of a resumed run
  std::vector<float> step_loss;                            // one a step
  std::vector<float> step_learning_rate;                   // likewise
  std::vector<ReportEpoch> epochs;
  Plan plan;
  std::vector<ReportImage> images;
  std::vector<ReportText> texts;
};

// The page: facts, loss and learning-rate curves, the memory timeline of the step with every
// buffer, the images and texts. One HTML file without references to anything outside.
[[nodiscard]] std::string training_report_html(const TrainingReport& report);

}  // namespace thimble::io
