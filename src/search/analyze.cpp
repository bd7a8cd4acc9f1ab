// Scores of trainings of parts of a network.
#include <fmt/format.h>
#include <thimble/scheme_search.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "io/atomic_file.h"
#include "io/json/parse.h"
#include "io/xxh64.h"
#include "ir/graph.h"
#include "ir/wildcard.h"
#include "program/bytes.h"
#include "search/parts.h"
#include "search/settings.h"
#include "train/program_settings.h"

namespace thimble {
namespace {

using nlohmann::json;

constexpr size_t kMostCacheBytes = size_t{64} << 20;

// The cache: an object with the scores of schemes for each setting, by its name.
class Cache {
 public:
  Cache(std::string path, std::string setting)
      : path_(std::move(path)), setting_(std::move(setting)) {
    if (path_.empty() || !std::filesystem::exists(path_)) return;
    all_ = io::parse_json({.file = path_}, io::read_file(path_, kMostCacheBytes), 3);
    const auto is_scores = [](const json& scores) {
      return scores.is_object() && std::all_of(scores.begin(), scores.end(),
                                               [](const json& score) { return score.is_number(); });
    };
    if (!all_.is_object() || !std::all_of(all_.begin(), all_.end(), is_scores)) {
      throw Error(path_, "is no file of finished trainings; name another one, or remove it");
    }
  }

  [[nodiscard]] std::optional<double> find(const std::string& scheme) const {
    const auto scores = all_.find(setting_);
    if (scores == all_.end()) return std::nullopt;
    const auto score = scores->find(scheme);
    if (score == scores->end()) return std::nullopt;
    return score->get<double>();
  }
  void add(const std::string& scheme, double score) {
    all_[setting_][scheme] = score;
    if (path_.empty()) return;
    io::AtomicFile file(path_);
    file.write(all_.dump(1));
    file.commit();
  }

 private:
  std::string path_;
  std::string setting_;
  json all_ = json::object();
};

void add_samples(const data::Dataset& samples, io::Xxh64& sum) {
  // The first ones stand for all.
  constexpr int64_t kRead = 64;
  std::vector<std::vector<std::byte>> fields;
  std::vector<void*> places;
  for (const data::Field& field : samples.fields()) {
    fields.emplace_back(static_cast<size_t>(size_bytes(field.dtype, field.shape)));
  }
  for (std::vector<std::byte>& field : fields) places.push_back(field.data());
  for (int64_t i = 0; i < std::min(kRead, samples.size()); ++i) {
    samples.read(i, places);
    for (const std::vector<std::byte>& field : fields) sum.update(field);
  }
  const int64_t size = samples.size();
  sum.update(std::as_bytes(std::span(&size, 1)));
}

class Analysis {
 public:
  Analysis(const Graph& graph, const data::Dataset& train, const data::Dataset& test,
           const AnalyzeOptions& options)
      : graph_(graph),
        train_(train),
        test_(test),
        options_(options),
        parts_(search::parts_of(graph.ir())),
        cache_(options.cache, setting()) {
    made_.metric = search::metric_of(graph, options);
    made_.last_layer = parts_.last;
    made_.settings = search::settings_of(graph, options);
  }

  Contributions run() && {
    const std::vector<const search::Part*> tried = layers();
    const std::set<int64_t> biases = bias_counts(tried);
    total_ = static_cast<int64_t>(biases.size()) + 1;
    for (const search::Part* part : tried) {
      for (const double ratio : options_.ratios) total_ += search::has_ratio(*part, ratio) ? 1 : 0;
    }
    made_.base = score(search::scheme_of(parts_, 0));
    for (const int64_t last : biases) {
      made_.biases.push_back({last, score(search::scheme_of(parts_, last))});
    }
    for (const search::Part* part : tried) {
      for (const double ratio : options_.ratios) {
        if (!search::has_ratio(*part, ratio)) continue;
        UpdateScheme scheme = search::scheme_of(parts_, part->biases);
        scheme.weights[part->name].ratio = ratio;
        made_.weights.push_back({part->name, ratio, part->biases, score(scheme)});
      }
    }
    return std::move(made_);
  }

  // Of each scheme, the mean of trainings with so many seeds.
  [[nodiscard]] std::vector<double> scores(const std::vector<UpdateScheme>& schemes,
                                           int64_t trainings) {
    total_ = static_cast<int64_t>(schemes.size()) * trainings;
    std::vector<double> all(schemes.size(), 0.0);
    for (int64_t more = 0; more < trainings; ++more) {
      for (size_t i = 0; i < schemes.size(); ++i) {
        all[i] += score(schemes[i], static_cast<uint64_t>(more)) / static_cast<double>(trainings);
      }
    }
    return all;
  }

 private:
  // What a score depends on beside the scheme.
  [[nodiscard]] std::string setting() const {
    if (options_.cache.empty()) return "";
    TrainerOptions training = plain();
    // These change no bit. A budget for parts may be too small for all.
    training.memory_budget = 0;
    training.swap = Swap::automatic;
    training.input_pipeline_bytes = 0;
    const Trainer untrained(graph_, training);
    training.threads = 0;
    program::ByteWriter bytes;
    train::write_options(training, bytes);
    for (const std::string& text : {untrained.weights_sha256(), graph_.text(), options_.metric}) {
      bytes.number(static_cast<int64_t>(text.size()));
      bytes.raw(std::as_bytes(std::span(text)));
    }
    bytes.number(options_.epochs);
    io::Xxh64 sum;
    sum.update(bytes.bytes());
    add_samples(train_, sum);
    add_samples(test_, sum);
    return sum.hex();
  }

  [[nodiscard]] TrainerOptions plain() const {
    TrainerOptions plain = options_.training;
    plain.scheme.reset();
    return plain;
  }

  [[nodiscard]] std::vector<const search::Part*> layers() const {
    std::vector<const search::Part*> tried;
    for (const std::string& pattern : options_.layers) {
      const bool found =
          std::any_of(parts_.layers.begin(), parts_.layers.end(),
                      [&](const auto& part) { return ir::matches(pattern, part.name); });
      if (!found) {
        throw Error("analyze", fmt::format("no layer with weights before the last one matches "
                                           "\"{}\"; summary() lists the layers",
                                           pattern));
      }
    }
    for (const search::Part& part : parts_.layers) {
      const bool wanted = options_.layers.empty() ||
                          std::any_of(options_.layers.begin(), options_.layers.end(),
                                      [&](const auto& one) { return ir::matches(one, part.name); });
      if (wanted) tried.push_back(&part);
    }
    return tried;
  }

  // Of how many last layers the biases are trained: those that were asked for, and those on which
  // weights are tried.
  [[nodiscard]] std::set<int64_t> bias_counts(const std::vector<const search::Part*>& tried) const {
    std::set<int64_t> counts;
    const int64_t most = options_.most_biases > 0 ? options_.most_biases : parts_.biases;
    for (int64_t last = parts_.last_biases + 1; last <= std::min(most, parts_.biases); ++last) {
      counts.insert(last);
    }
    for (const search::Part* part : tried) {
      if (part->biases > parts_.last_biases) counts.insert(part->biases);
    }
    return counts;
  }

  // more: added to the seed.
  double score(const UpdateScheme& scheme, uint64_t more = 0) {
    const std::string name = scheme.text() + (more > 0 ? fmt::format(" seed +{}", more) : "");
    std::optional<double> known = cache_.find(name);
    if (!known) {
      const auto start = std::chrono::steady_clock::now();
      known = trained(scheme, more);
      cache_.add(name, *known);
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      ++trained_;
    }
    ++done_;
    if (options_.on_progress) {
      const double each = trained_ > 0 ? seconds_ / static_cast<double>(trained_) : 0.0;
      if (!options_.on_progress(
              {done_, total_, name, *known, each * static_cast<double>(total_ - done_)})) {
        throw Error("analyze", fmt::format("stopped after {} of {} trainings", done_, total_));
      }
    }
    return *known;
  }

  [[nodiscard]] double trained(const UpdateScheme& scheme, uint64_t more) const {
    TrainerOptions training = plain();
    training.scheme = scheme;
    training.seed += more;
    Trainer trainer(graph_, training);
    trainer.fit(train_, {.epochs = options_.epochs});
    const Evaluation result = trainer.evaluate(test_);
    return made_.metric == search::kLoss ? -result.loss : result.metrics.at(made_.metric);
  }

  const Graph& graph_;
  const data::Dataset& train_;
  const data::Dataset& test_;
  const AnalyzeOptions& options_;
  search::Parts parts_;
  Cache cache_;
  Contributions made_;
  int64_t done_ = 0;
  int64_t total_ = 0;
  int64_t trained_ = 0;  // now
  double seconds_ = 0.0;
};

void check(const Graph& graph, const AnalyzeOptions& options) {
  if (!graph.ir().loss) throw Error("analyze", "the graph has no loss; give it one (adapt)");
  if (options.epochs < 1) throw Error("analyze", "epochs must be 1 or more");
}

}  // namespace

Contributions analyze(const Graph& graph, const data::Dataset& train, const data::Dataset& test,
                      const AnalyzeOptions& options) {
  check(graph, options);
  for (const double ratio : options.ratios) {
    if (!(ratio > 0.0 && ratio <= 1.0)) {
      throw Error("analyze", fmt::format("ratios are above 0 and at most 1, got {}", ratio));
    }
  }
  return Analysis(graph, train, test, options).run();
}

void Contributions::require_settings(const Graph& graph, const AnalyzeOptions& options) const {
  search::require_settings(settings, graph, options);
}

FoundScheme verify_scheme(const Graph& graph, const FoundScheme& found, const data::Dataset& train,
                          const data::Dataset& test, const AnalyzeOptions& options,
                          int64_t trainings) {
  check(graph, options);
  if (trainings < 1) throw Error("search", "each scheme is trained once or more");
  search::require_settings(found.settings, graph, options);
  std::vector<FoundScheme> all = found.others;
  all.insert(all.begin(), found);
  all.front().others.clear();
  std::vector<UpdateScheme> schemes;
  for (const FoundScheme& one : all) schemes.push_back(one.scheme);
  const std::vector<double> scores =
      Analysis(graph, train, test, options).scores(schemes, trainings);
  for (size_t i = 0; i < all.size(); ++i) all[i].score = scores[i];
  std::stable_sort(all.begin(), all.end(), [](const FoundScheme& a, const FoundScheme& b) {
    return a.score != b.score ? a.score > b.score : a.bytes < b.bytes;
  });
  FoundScheme best = std::move(all.front());
  best.evaluations = found.evaluations;
  best.settings = found.settings;
  best.others.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
  return best;
}

}  // namespace thimble
