// Finding a sparse update: what each part of a network adds when it is trained, and the parts that
// add most within a memory budget.
#pragma once

#include <thimble/data.h>
#include <thimble/graph.h>
#include <thimble/trainer_options.h>
#include <thimble/update_scheme.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

struct AnalyzeOptions;

// Scores of a network after short trainings of parts of it. The last layer with weights is trained
// in all of them.
struct Contributions {
  struct Biases {
    int64_t last = 0;  // the biases of so many layers
    double score = 0.0;
  };
  struct Weights {
    std::string layer;
    double ratio = 1.0;  // of its input channels
    int64_t biases = 0;  // on top of the biases of so many last layers, down to this one
    double score = 0.0;
  };
  std::string metric;      // of the test samples: "accuracy"; "loss": minus the loss
  std::string last_layer;  // its weights and bias are trained in every training
  double base = 0.0;       // score of the last layer alone
  std::vector<Biases> biases;
  std::vector<Weights> weights;
  // What the scores depend on beside the data and the seed, in words: "optimizer", "epochs" ...
  // Empty: not known.
  std::map<std::string, std::string> settings;

  // What it adds to the last layer alone, and to the biases down to the layer.
  [[nodiscard]] double gain(const Biases& biases) const { return biases.score - base; }
  [[nodiscard]] double gain(const Weights& weights) const;

  // Throws Error that lists what differs where the options are others than the settings.
  void require_settings(const Graph& graph, const AnalyzeOptions& options) const;

  // As JSON, and back. Throws Error that says what is wrong where.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static Contributions parse(std::string_view json, const std::string& name);
  [[nodiscard]] static Contributions load(const std::string& path);
};

struct AnalyzeProgress {
  int64_t done = 0;  // trainings, those of the cache counted in
  int64_t total = 0;
  std::string scheme;  // of the last one
  double score = 0.0;
  double seconds_left = 0.0;  // by the mean of those made now; 0: not known
};

struct AnalyzeOptions {
  TrainerOptions training;  // optimizer, batch, seed ...; its scheme is not asked
  int64_t epochs = 1;       // of each training
  // Of the test samples, where more is better: a metric of the graph, or "loss", which counts
  // negative. Empty: "accuracy" if the graph has it, else "loss".
  std::string metric;
  std::vector<double> ratios = {0.125, 0.25, 0.5, 1.0};
  // Names of layers whose weights are tried, * stands for any characters; none: all.
  std::vector<std::string> layers;
  // The biases of at most so many last layers are tried, and those on which weights are. 0: of all.
  int64_t most_biases = 0;
  // A file of finished trainings: those that it has are not made again, and new ones are added.
  // Empty: none. Results of another model, other data or settings in it are kept, and not used.
  std::string cache;
  // Called after each training; returns whether to go on.
  std::function<bool(const AnalyzeProgress&)> on_progress;
};

// Trains a copy of the graph's weights for each part and scores it on the test samples. Source: Lin
// et al., "On-Device Training Under 256KB Memory", 2022, section 3.3 (contribution analysis).
// Throws Error where the graph has no loss, no layer with weights or no such metric, the data do
// not fit, a pattern matches no layer, or on_progress returned false.
[[nodiscard]] Contributions analyze(const Graph& graph, const data::Dataset& train,
                                    const data::Dataset& test, const AnalyzeOptions& options);

struct SchemeSearchOptions {
  TrainerOptions training;    // what the plan depends on; its scheme and budget are not asked
  int64_t memory_budget = 0;  // most bytes of a step's planned peak
  // The step is planned as the C source of thimble export-c: with reference kernels, on one thread.
  // Parameters that no step changes, and constants, are not counted: they lie in flash.
  bool frozen_in_flash = false;
  int64_t evaluations = 2000;  // plans before the search is cut short (see FoundScheme::is_best)
  // Candidates for verify_scheme beside the best one: each is the best where the gains differ by
  // chance, the more the later it was found, at most as far as the gains of the parts are spread.
  int64_t others = 0;
  std::vector<UpdateScheme> given;  // further candidates, of the caller
  // Called after each plan with their number; returns whether to go on.
  std::function<bool(int64_t)> on_progress;
};

struct FoundScheme {
  UpdateScheme scheme;
  double gain = 0.0;                // sum of the parts' gains; NaN: of a given scheme
  int64_t bytes = 0;                // planned peak, as the budget counts it
  bool is_best = true;              // no other scheme of these parts gains more; false: not proved
  int64_t evaluations = 0;          // plans that were made
  std::optional<double> score;      // of a training of the whole scheme: see verify_scheme
  std::vector<FoundScheme> others;  // candidates, all different
  std::map<std::string, std::string> settings;  // of the contributions
};

// The scheme of the largest sum of gains whose planned peak keeps the budget: by branch and bound,
// and by an evolutionary search from the best one so far where that is cut short. It is proved best
// as far as training more never lowers a planned peak. Throws Error where the contributions are
// those of another graph, and where the last layer alone or a given scheme takes more than the
// budget.
[[nodiscard]] FoundScheme search_scheme(const Graph& graph, const Contributions& contributions,
                                        const SchemeSearchOptions& options);

// The gains of parts do not quite add up. So this trains a scheme and its candidates as analyze
// trains a part, with `trainings` seeds from that of the options on, and scores each by the mean.
// Returns the one of the highest score, of equal ones that of the fewest bytes; the others follow
// in this order. Throws Error as analyze does, and where a setting differs from that of the
// contributions: gains and scores would then be those of different trainings.
[[nodiscard]] FoundScheme verify_scheme(const Graph& graph, const FoundScheme& found,
                                        const data::Dataset& train, const data::Dataset& test,
                                        const AnalyzeOptions& options, int64_t trainings = 1);

}  // namespace thimble
