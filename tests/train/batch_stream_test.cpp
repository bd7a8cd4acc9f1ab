#include "train/batch_stream.h"

#include <gmock/gmock.h>
#include <thimble/ops.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "io/temporary_folder.h"
#include "train/fit.h"

namespace thimble::batch_stream_test {
namespace {

Graph classifier() {
  Graph g;
  const Value x = g.input("features", {2});
  const Value logits = dense(x, {.units = 2, .name = "dense"});
  g.minimize(softmax_cross_entropy(logits, g.label("label")));
  return g;
}

data::Dataset samples() {
  return data::in_memory({{"features", {2}}, {"label", {}, DType::i32, true}},
                         {std::vector<float>{1, 2, -1, 0, 3, 1, 0, 1, 2, 2, 1, 0},
                          std::vector<int32_t>{0, 1, 0, 1, 1, 0}});
}

// The same batch repeated, under another size.
class Repeating final : public train::BatchStream {
 public:
  explicit Repeating(int64_t count) {
    batch_.count = count;
    batch_.fields = {values_.data(), labels_.data()};
  }
  const std::vector<data::Field>& fields() const override { return fields_; }
  int64_t samples() const override { return 0; }
  int64_t batches() const override { return 0; }
  void start(int64_t, int64_t) override { left_ = 3; }
  const data::Batch* next() override { return left_-- > 0 ? &batch_ : nullptr; }
  int64_t bytes() const override { return 0; }

 private:
  std::vector<data::Field> fields_{{"features", {2}}, {"label", {}, DType::i32, true}};
  std::vector<float> values_ = std::vector<float>(16, 1.0F);
  std::vector<int32_t> labels_ = std::vector<int32_t>(8, 1);
  data::Batch batch_;
  int left_ = 0;
};

TEST(batch_stream, of_a_data_set_trains_as_the_data_set) {
  Trainer a(classifier(), {.batch = 2});
  Trainer b(classifier(), {.batch = 2});
  a.fit(samples(), {.epochs = 2});
  train::LoaderStream stream(samples(), {.batch = 2});
  train::fit(b.state(), stream, {.epochs = 2}, {});
  EXPECT_EQ(a.weights_sha256(), b.weights_sha256());
}

// Rows of five features, shuffled and augmented, with a smaller last batch and a field that the
// model does not read.
data::Dataset hard_rows(int64_t count) {
  data::Dataset rows =
      data::generator(count, {{"weight", {3}}, {"features", {2}}, {"label", {}, DType::i32, true}},
                      [](int64_t index, std::span<void* const> out) {
                        for (int i = 0; i < 3; ++i) static_cast<float*>(out[0])[i] = 99.0F;
                        static_cast<float*>(out[1])[0] = static_cast<float>(index % 5);
                        static_cast<float*>(out[1])[1] = static_cast<float>(index % 3);
                        *static_cast<int32_t*>(out[2]) = static_cast<int32_t>(index % 2);
                      });
  return rows;
}

FitOptions read_ahead(int batches) {
  return {.epochs = 3, .prefetch = batches, .augment = [](uint64_t random, auto fields) {
            static_cast<float*>(fields[1])[0] += static_cast<float>(random % 7);
          }};
}

TEST(batch_stream, read_straight_into_the_step_trains_as_read_ahead) {
  for (const int64_t parts : {1, 2}) {
    const TrainerOptions options{.batch = 4, .micro_batches = parts, .threads = 1};
    Trainer ahead(classifier(), options);
    Trainer straight(classifier(), options);
    FitOptions both = read_ahead(2);
    both.validation = hard_rows(7);
    const FitResult first = ahead.fit(hard_rows(22), both);
    both.prefetch = 0;
    const FitResult second = straight.fit(hard_rows(22), both);
    EXPECT_EQ(ahead.weights_sha256(), straight.weights_sha256());
    for (size_t e = 0; e < first.epochs.size(); ++e) {
      EXPECT_EQ(first.epochs[e].train.loss, second.epochs[e].train.loss);
      EXPECT_EQ(first.epochs[e].validation->loss, second.epochs[e].validation->loss);
    }
    // Training holds the order of 22 samples beside its plan, and nothing else.
    EXPECT_EQ(second.input_pipeline_bytes, 44);
    EXPECT_EQ(second.measured_peak_bytes, straight.plan().planned_peak_bytes + 44);
    EXPECT_GT(first.measured_peak_bytes, second.measured_peak_bytes);
  }
}

// The first trainer of a process with so many threads measures the machine's speed.
TEST(batch_stream, the_measured_peak_is_that_of_training_alone) {
  const TrainerOptions options{.batch = 4, .threads = 5};
  FitOptions straight = read_ahead(0);
  for (int number = 0; number < 2; ++number) {
    Trainer trainer(classifier(), options);
    EXPECT_EQ(trainer.fit(hard_rows(22), straight).measured_peak_bytes,
              trainer.plan().planned_peak_bytes + 44)
        << number;
  }
}

TEST(batch_stream, read_straight_names_the_first_bad_value) {
  const auto failing = [](float feature, int32_t label) {
    const data::Dataset rows =
        data::generator(6, {{"features", {2}}, {"label", {}, DType::i32, true}},
                        [=](int64_t index, std::span<void* const> out) {
                          std::fill_n(static_cast<float*>(out[0]), 2, index == 5 ? feature : 1.0F);
                          *static_cast<int32_t*>(out[1]) = index == 5 ? label : 1;
                        });
    Trainer trainer(classifier(), {.batch = 4, .threads = 1});
    std::string said;
    try {
      trainer.fit(rows, {.epochs = 1, .shuffle = false, .prefetch = 0});
    } catch (const Error& error) {
      said = error.what();
    }
    return said;
  };
  EXPECT_THAT(failing(NAN, 1), testing::HasSubstr("went bad is input features"));
  EXPECT_THAT(failing(1.0F, 7), testing::HasSubstr("holds 7 in sample 2 of batch 2"));
  EXPECT_EQ(failing(1.0F, 1), "");
}

TEST(batch_stream, read_straight_in_micro_batches_reads_once_and_refuses_ignored_labels) {
  for (const int prefetch : {0, 1}) {
    int reads = 0;
    const auto rows = [&reads](int64_t ignored) {
      return data::generator(8, {{"features", {2}}, {"label", {}, DType::i32, true}},
                             [&reads, ignored](int64_t index, std::span<void* const> out) {
                               ++reads;
                               std::fill_n(static_cast<float*>(out[0]), 2, 1.0F);
                               *static_cast<int32_t*>(out[1]) = index == ignored ? -100 : 1;
                             });
    };
    const FitOptions fit{.epochs = 1, .shuffle = false, .prefetch = prefetch};
    Trainer trainer(classifier(), {.batch = 4, .micro_batches = 2, .threads = 1});
    trainer.fit(rows(-1), fit);
    EXPECT_EQ(reads, 8);
    EXPECT_EQ(trainer.steps(), 2);
    std::string said;
    try {
      trainer.fit(rows(6), {.epochs = 2, .shuffle = false, .prefetch = prefetch});
    } catch (const Error& error) {
      said = error.what();
    }
    EXPECT_THAT(said, testing::HasSubstr("[label] holds -100 in sample 3 of batch 2"));
    EXPECT_EQ(trainer.steps(), 3);
  }
}

TEST(batch_stream, read_straight_passes_on_errors_of_reading) {
  const data::Dataset rows =
      data::generator(8, {{"features", {2}}, {"label", {}, DType::i32, true}},
                      [](int64_t index, std::span<void* const> out) {
                        if (index == 6) throw Error("disk", "is gone");
                        std::fill_n(static_cast<float*>(out[0]), 2, 1.0F);
                        *static_cast<int32_t*>(out[1]) = 1;
                      });
  const TrainerOptions options{.batch = 4, .micro_batches = 2, .threads = 1};
  Trainer broken(classifier(), options);
  const FitOptions fit{.epochs = 1, .shuffle = false, .prefetch = 0};
  EXPECT_THROW(broken.fit(rows, fit), Error);
  EXPECT_EQ(broken.steps(), 1);
  // The first micro-batch of the failed step is not counted.
  Trainer whole(classifier(), options);
  whole.fit(rows.take(4), fit);
  broken.state().progress = whole.state().progress;
  const FitOptions again{.epochs = 2, .shuffle = false, .prefetch = 0};
  broken.fit(rows.take(4), again);
  whole.fit(rows.take(4), again);
  EXPECT_EQ(broken.weights_sha256(), whole.weights_sha256());
}

// 12 samples, of which one cannot be read; -1: all can.
data::Dataset rows(int64_t damaged) {
  return data::generator(12, {{"features", {2}}, {"label", {}, DType::i32, true}},
                         [damaged](int64_t index, std::span<void* const> out) {
                           if (index == damaged) throw Error("disk", "is gone");
                           std::fill_n(static_cast<float*>(out[0]), 2, 1.0F);
                           *static_cast<int32_t*>(out[1]) = static_cast<int32_t>(index % 2);
                         });
}

// Damaged data may take no step from a training, whether they are read ahead or by the step.
TEST(batch_stream, an_error_of_reading_saves_the_steps_before_it) {
  for (const int prefetch : {0, 1}) {
    for (const int64_t count : {1, 2}) {
      SCOPED_TRACE(testing::Message() << "prefetch " << prefetch << ", micro-batches " << count);
      const test::TemporaryFolder folder;
      const std::string path = folder / "checkpoint";
      const TrainerOptions options{.batch = 4, .micro_batches = count, .threads = 1};
      FitOptions fit{.epochs = 2, .shuffle = false, .prefetch = prefetch};
      fit.checkpoint = path;
      Trainer straight(classifier(), options);
      straight.fit(rows(-1), fit);
      Trainer broken(classifier(), options);
      std::string said;
      try {
        broken.fit(rows(10), fit);
      } catch (const Error& error) {
        said = error.what();
      }
      EXPECT_THAT(said, testing::HasSubstr("[disk] is gone. The training up to step 2 is saved"));
      Trainer resumed(classifier(), options);
      resumed.resume(path);
      EXPECT_EQ(resumed.steps(), 2);
      resumed.fit(rows(-1), fit);
      EXPECT_EQ(resumed.weights_sha256(), straight.weights_sha256());
    }
  }
}

// The sums of the steps before in an update are dropped with those of the step that failed, so what
// was saved before them must stay.
TEST(batch_stream, an_error_of_reading_between_micro_batches_keeps_the_last_checkpoint) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  Trainer trainer(classifier(), {.batch = 4, .accumulate = 3, .micro_batches = 2, .threads = 1});
  FitOptions fit{.epochs = 1, .shuffle = false, .prefetch = 0};
  fit.checkpoint = path;
  std::string said;
  try {
    trainer.fit(rows(10), fit);
  } catch (const Error& error) {
    said = error.what();
  }
  EXPECT_EQ(said, "[disk] is gone");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(batch_stream, keeps_the_evaluation_from_its_first_use_on) {
  const TrainerOptions options{.batch = 4, .threads = 1};
  Trainer trainer(classifier(), options);
  const train::ProgramKey key{static_cast<int>(train::ProgramKind::evaluate), 4};
  const int64_t peak = trainer.plan().planned_peak_bytes;
  trainer.fit(hard_rows(8), {.epochs = 1});
  EXPECT_EQ(trainer.state().runner.find(key), nullptr);
  const Evaluation first = trainer.evaluate(hard_rows(8));
  EXPECT_NE(trainer.state().runner.find(key), nullptr);
  EXPECT_EQ(trainer.plan().planned_peak_bytes, peak);
  EXPECT_EQ(trainer.evaluate(hard_rows(8)).loss, first.loss);
  // The evaluation has not changed the training.
  Trainer other(classifier(), options);
  trainer.fit(hard_rows(8));
  other.fit(hard_rows(8), {.epochs = 2});
  EXPECT_EQ(trainer.weights_sha256(), other.weights_sha256());
}

TEST(batch_stream, of_unknown_length_trains_to_its_end) {
  Trainer trainer(classifier(), {.batch = 4});
  Repeating stream(3);
  const FitResult result = train::fit(trainer.state(), stream, {.epochs = 2}, {});
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(result.epochs.at(1).train.samples, 9);
}

TEST(batch_stream, refuses_batches_beyond_the_plan_and_empty_ones) {
  Trainer trainer(classifier(), {.batch = 4});
  for (const int64_t count : {5, 0}) {
    Repeating stream(count);
    EXPECT_THROW(train::fit(trainer.state(), stream, {.epochs = 1}, {}), Error);
    EXPECT_THROW(trainer.state().evaluate(stream), Error);
  }
}

TEST(batch_stream, may_be_stopped_between_epochs) {
  Trainer trainer(classifier(), {.batch = 4});
  Repeating stream(4);
  bool stop = false;
  const FitOptions options{.epochs = 5,
                           .on_epoch = [&](const EpochReport&) { stop = true; },
                           .stop = [&] { return stop; }};
  const FitResult result = train::fit(trainer.state(), stream, options, {});
  EXPECT_EQ(result.steps, 3);
  EXPECT_EQ(result.end, FitResult::End::stopped);
}

}  // namespace
}  // namespace thimble::batch_stream_test
