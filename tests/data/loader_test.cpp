#include <gmock/gmock.h>
#include <thimble/data_loader.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "data/test_files.h"

namespace thimble::data::loader_test {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Sample i: three floats i + 1, i + 1.25, i + 1.5 and the label i + 1.
Dataset counting(int64_t size) {
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int64_t i = 0; i < size; ++i) {
    for (int k = 0; k < 3; ++k)
      x.push_back(static_cast<float>(i + 1) + 0.25f * static_cast<float>(k));
    y.push_back(static_cast<int32_t>(i + 1));
  }
  return in_memory({{"x", {3}, DType::f32}, {"y", {}, DType::i32, true}},
                   {std::move(x), std::move(y)});
}

// The contents of a batch in a form that can be compared.
struct Copy {
  int64_t number, first, count;
  std::vector<float> x;
  std::vector<int32_t> y;
  bool operator==(const Copy&) const = default;
};

Copy copy_of(const Batch& batch, int64_t size) {
  const auto* x = static_cast<const float*>(batch.fields[0]);
  const auto* y = static_cast<const int32_t*>(batch.fields[1]);
  return {batch.number, batch.first, batch.count, {x, x + 3 * size}, {y, y + size}};
}

std::vector<Copy> rest_of(Loader& loader) {
  std::vector<Copy> batches;
  while (const Batch* batch = loader.next()) {
    batches.push_back(copy_of(*batch, loader.options().batch));
  }
  return batches;
}

std::vector<Copy> epoch_of(Loader& loader, int64_t epoch, int64_t first_batch = 0) {
  loader.start(epoch, first_batch);
  return rest_of(loader);
}

TEST(loader, order_is_a_pinned_permutation) {
  // Resuming relies on the order of samples: a change breaks the resuming of old checkpoints.
  EXPECT_THAT(epoch_order(10, 1, 0), ElementsAre(9, 1, 5, 4, 6, 7, 2, 3, 0, 8));
  EXPECT_THAT(epoch_order(10, 1, 1), ElementsAre(3, 4, 8, 0, 6, 1, 5, 7, 9, 2));
  EXPECT_THAT(epoch_order(0, 1, 0), ElementsAre());
  EXPECT_THAT(epoch_order(1, 1, 0), ElementsAre(0));
  std::vector<int64_t> order = epoch_order(1000, 42, 3);
  EXPECT_NE(order, epoch_order(1000, 42, 4));
  EXPECT_NE(order, epoch_order(1000, 43, 3));
  std::sort(order.begin(), order.end());
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(loader, visits_in_the_order_of_the_epoch) {
  Loader loader(counting(10), {.batch = 4, .seed = 1});
  const std::vector<int64_t> order = epoch_order(10, 1, 6);
  size_t position = 0;
  for (const Copy& batch : epoch_of(loader, 6)) {
    for (int64_t i = 0; i < batch.count; ++i) {
      EXPECT_EQ(batch.y[static_cast<size_t>(i)], order[position] + 1);
      EXPECT_EQ(batch.x[static_cast<size_t>(3 * i + 2)],
                static_cast<float>(order[position]) + 1.5f);
      ++position;
    }
  }
  EXPECT_EQ(position, 10u);
}

TEST(loader, last_batch_has_its_real_count_and_zeros_behind) {
  Loader loader(counting(10), {.batch = 4, .shuffle = false});
  EXPECT_EQ(loader.batches(), 3);
  // The second epoch reuses buffers, so the zeros must be written again.
  (void)epoch_of(loader, 0);
  const std::vector<Copy> batches = epoch_of(loader, 1);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[1].number, 1);
  EXPECT_EQ(batches[1].first, 4);
  EXPECT_EQ(batches[1].count, 4);
  EXPECT_THAT(batches[1].y, ElementsAre(5, 6, 7, 8));
  EXPECT_EQ(batches[2].first, 8);
  EXPECT_EQ(batches[2].count, 2);
  EXPECT_THAT(batches[2].y, ElementsAre(9, 10, 0, 0));
  EXPECT_EQ(batches[2].x[6], 0);
}

TEST(loader, counts_its_batches) {
  struct Case {
    int64_t size, batch;
    bool drop_last;
    int64_t batches;
  };
  const Case cases[] = {
      {10, 4, false, 3}, {10, 4, true, 2}, {8, 4, false, 2}, {8, 4, true, 2},
      {3, 4, false, 1},  {1, 1, true, 1},  {5, 1, false, 5}, {5, INT64_C(1) << 20, false, 1}};
  for (const Case& c : cases) {
    Loader loader(counting(c.size), {.batch = c.batch, .drop_last = c.drop_last});
    EXPECT_EQ(loader.batches(), c.batches);
    EXPECT_EQ(epoch_of(loader, 0).size(), static_cast<size_t>(c.batches));
  }
}

TEST(loader, prefetch_changes_nothing) {
  for (const bool shuffle : {false, true}) {
    for (const bool drop_last : {false, true}) {
      const LoaderOptions plain = {
          .batch = 7, .shuffle = shuffle, .seed = 5, .drop_last = drop_last, .prefetch = 0};
      Loader reference(counting(100), plain);
      const std::vector<Copy> expected = epoch_of(reference, 2);
      for (const int prefetch : {1, 2, 3, 50}) {
        LoaderOptions options = plain;
        options.prefetch = prefetch;
        Loader loader(counting(100), options);
        EXPECT_EQ(epoch_of(loader, 2), expected) << prefetch;
        EXPECT_EQ(loader.next(), nullptr) << "the end stays the end";
      }
    }
  }
}

TEST(loader, resumes_at_any_batch) {
  for (const int prefetch : {0, 2}) {
    Loader whole(counting(50), {.batch = 8, .seed = 9, .prefetch = prefetch});
    const std::vector<Copy> all = epoch_of(whole, 4);
    for (int64_t first = 0; first <= whole.batches(); ++first) {
      Loader resumed(counting(50), {.batch = 8, .seed = 9, .prefetch = prefetch});
      EXPECT_EQ(epoch_of(resumed, 4, first), std::vector<Copy>(all.begin() + first, all.end()));
    }
  }
}

TEST(loader, restarts_in_the_middle_of_an_epoch) {
  Loader loader(counting(200), {.batch = 3, .seed = 2, .prefetch = 3});
  EXPECT_EQ(loader.next(), nullptr) << "nothing before the first start";
  const std::vector<Copy> expected = epoch_of(loader, 1);
  for (int64_t round = 0; round < 50; ++round) {
    loader.start(round);
    for (int64_t b = 0; b < round % 7; ++b) ASSERT_NE(loader.next(), nullptr);
  }
  EXPECT_EQ(epoch_of(loader, 1), expected);
}

TEST(loader, a_batch_stays_until_the_next_call) {
  Loader loader(counting(64), {.batch = 4, .shuffle = false, .prefetch = 1});
  loader.start(0);
  while (const Batch* batch = loader.next()) {
    const Copy before = copy_of(*batch, 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(copy_of(*batch, 4), before) << "the thread wrote into the batch in use";
  }
}

TEST(loader, fields_are_aligned) {
  Loader loader(counting(10), {.batch = 3});
  loader.start(0);
  while (const Batch* batch = loader.next()) {
    for (const void* field : batch->fields) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(field) % 64, 0u);
    }
  }
}

// Ten samples, the one with index 5 unreadable.
Dataset broken() {
  return generator(10, {{"x", {}, DType::f32}, {"y", {}, DType::i32, true}},
                   [](int64_t index, std::span<void* const>) {
                     if (index == 5) throw Error("disk", "sample 5 is unreadable");
                   });
}

TEST(loader, rethrows_what_reading_threw_after_the_batches_before_it) {
  for (const int prefetch : {0, 1, 4}) {
    Loader loader(broken(), {.batch = 2, .shuffle = false, .prefetch = prefetch});
    for (int round = 0; round < 3; ++round) {
      loader.start(0);
      EXPECT_NE(loader.next(), nullptr);
      EXPECT_NE(loader.next(), nullptr);
      EXPECT_THAT(error_of([&] { (void)loader.next(); }), HasSubstr("sample 5 is unreadable"));
      EXPECT_THAT(error_of([&] { (void)loader.next(); }), HasSubstr("sample 5 is unreadable"));
    }
    loader.start(1, 3);
    EXPECT_NE(loader.next(), nullptr) << "a new start goes on";
  }
}

TEST(loader, may_be_destroyed_and_moved_at_any_time) {
  for (int i = 0; i < 50; ++i) {
    Loader loader(counting(100), {.batch = 5, .prefetch = 4});
    if (i % 2 == 0) loader.start(i);
    if (i % 4 == 0) (void)loader.next();
    Loader moved = std::move(loader);
    moved.start(0);
    ASSERT_NE(moved.next(), nullptr);
  }
}

TEST(loader, augments_by_seed_epoch_and_sample) {
  const Augment stamp = [](uint64_t random, std::span<void* const> fields) {
    static_cast<float*>(fields[0])[0] += static_cast<float>(random >> 48);
  };
  const auto by_label = [&](LoaderOptions options, int64_t epoch) {
    options.augment = stamp;
    Loader loader(counting(30), options);
    std::vector<float> values(31);
    for (const Copy& batch : epoch_of(loader, epoch)) {
      for (int64_t i = 0; i < batch.count; ++i) {
        values[static_cast<size_t>(batch.y[static_cast<size_t>(i)])] =
            batch.x[static_cast<size_t>(3 * i)];
      }
    }
    return values;
  };
  const std::vector<float> values = by_label({.batch = 4, .seed = 1}, 0);
  EXPECT_EQ(values, by_label({.batch = 7, .shuffle = false, .seed = 1, .prefetch = 0}, 0));
  EXPECT_NE(values, by_label({.batch = 4, .seed = 1}, 1));
  EXPECT_NE(values, by_label({.batch = 4, .seed = 2}, 0));
}

TEST(loader, says_what_it_holds) {
  const Dataset set = counting(100);
  EXPECT_EQ(set.bytes(), 100 * 16);
  // A batch of 10: 120 bytes of x and 40 of y, each rounded up to 64.
  EXPECT_EQ(Loader(set, {.batch = 10, .prefetch = 2}).bytes(), 1600 + 200 + 3 * (128 + 64));
  EXPECT_EQ(Loader(set, {.batch = 10, .shuffle = false, .prefetch = 0}).bytes(), 1600 + 128 + 64);
}

TEST(loader, refuses_wrong_options) {
  struct Case {
    LoaderOptions options;
    std::string message;
  };
  const Case cases[] = {{{.batch = 0}, "batch is 0"},
                        {{.batch = int64_t{1} << 58}, "take a smaller batch"},
                        {{.batch = INT64_MAX}, "take a smaller batch"},
                        {{.batch = 1 << 20, .prefetch = INT32_MAX}, "take a smaller batch"},
                        {{.prefetch = -1}, "prefetch is -1"},
                        {{.batch = 11, .drop_last = true}, "10 samples make no batch of 11"}};
  for (const Case& c : cases) {
    EXPECT_THAT(error_of([&] { Loader loader(counting(10), c.options); }), HasSubstr(c.message));
  }
  Loader loader(counting(10), {.batch = 4});
  EXPECT_THAT(error_of([&] { loader.start(0, 4); }), HasSubstr("an epoch has 3"));
  EXPECT_THAT(error_of([&] { loader.start(0, -1); }), HasSubstr("start at batch -1"));
}

}  // namespace
}  // namespace thimble::data::loader_test
