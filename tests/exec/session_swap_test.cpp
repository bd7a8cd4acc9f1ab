// Steps with a swap file: an early end leaves no transfer in progress, and a rehearsal measures
// their time.
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>

#include "exec/program.h"
#include "exec/rehearsal.h"
#include "exec/swap_file.h"
#include "io/temporary_folder.h"
#include "plan/transfer_ops.h"
#include "train/compile.h"

namespace thimble::exec::session_swap_test {
namespace {

// A step of mlp within a fraction of its memory, with a file whose reads are slow.
class SlowStep {
 public:
  explicit SlowStep(double share) {
    const Graph model = find_recipe("mlp").build();
    const ir::Graph graph =
        train::training_graph(model.ir(), {.batch = 8}, 8, train::StepKind::update);
    CompileOptions options;
    const int64_t free = plan::counted_bytes(Program(graph, options).plan());
    options.budget.bytes = static_cast<int64_t>(share * static_cast<double>(free));
    options.budget.swap = Swap::always;
    options.budget.least_staging_bytes = 4096;
    program_ = std::make_unique<Program>(graph, options);
    store_ = std::make_unique<Store>(std::vector{&program_->data()}, program_->in_file());
    arena_ = Block(program_->plan().arena_bytes);
    SwapOptions swap;
    swap.answer = [this](const SwapRequest& request, int64_t answer) -> int64_t {
      if (request.write) return answer;
      if (reads_left_-- <= 0) return -EIO;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return answer;
    };
    file_ = std::make_unique<SwapFile>(folder_.path(), program_->slot_bytes(), swap);
    const std::span<std::byte> memory(arena_.data(), static_cast<size_t>(arena_.bytes()));
    store_->attach(file_.get(), memory);
    store_->initialize(1);
    session_ = std::make_unique<Session>(program_->data(), *store_, memory, pool_, file_.get());
  }

  // Pixels so large that their sums overflow.
  void fill() {
    const std::span<std::byte> bytes = session_->source("image");
    std::fill_n(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float),
                std::numeric_limits<float>::max());
  }
  [[nodiscard]] Session& session() { return *session_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const SwapFile& file() const { return *file_; }
  // All reads after that many fail.
  void break_after(int reads) { reads_left_ = reads; }
  // Whether transfers are in progress.
  [[nodiscard]] bool is_busy() {
    const double before = file_->counters().stall_ms;
    for (size_t slot = 0; slot < program_->slot_bytes().size(); ++slot) {
      EXPECT_TRUE(file_->wait(static_cast<int>(slot))) << file_->error();
    }
    return file_->counters().stall_ms > before;
  }

 private:
  std::atomic<int> reads_left_{std::numeric_limits<int>::max()};
  test::TemporaryFolder folder_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Store> store_;
  Block arena_;
  parallel::ThreadPool pool_{1};
  std::unique_ptr<SwapFile> file_;
  std::unique_ptr<Session> session_;
};

TEST(session, leaves_no_transfer_in_progress_if_the_loss_is_not_finite) {
  for (const double share : {0.9, 0.75, 0.6, 0.5}) {
    SlowStep step(share);
    step.fill();
    ASSERT_FALSE(step.session().run());
    EXPECT_FALSE(step.is_busy()) << share;
    step.fill();
    EXPECT_NE(step.session().first_non_finite(), "");
    EXPECT_FALSE(step.is_busy()) << share;
  }
}

TEST(session, is_rehearsed_with_its_transfers) {
  for (const int parts : {1, 2, 4}) {  // staging buffers: as planned, half of it, and the least
    SlowStep step(0.6);
    const Program& program = step.program();
    const int64_t before = step.file().counters().read_bytes;
    plan::NodeTimes times;
    const int64_t staging = program.plan().staging_bytes;
    const bool has_least_staging = parts == 4;
    const plan::SwapRates nominal{.staging_bytes = parts * staging,
                                  .least_staging_bytes = has_least_staging ? staging : staging / 2};
    plan::SwapRates rates = nominal;
    const Rehearsal rehearsal = rehearse(step.session(), step.file());
    plan::learn(rehearsal, program.compiled().step, times, rates);
    EXPECT_GT(rehearsal.stall_ms, 0.0);
    EXPECT_GE(rehearsal.busy_ms, 0.5 * rehearsal.stall_ms);  // threads may wake up late
    EXPECT_GE(rehearsal.step_ms, rehearsal.stall_ms);
    const int64_t read = step.file().counters().read_bytes - before;
    EXPECT_EQ(read % program.plan().swap_read_bytes, 0);
    EXPECT_GT(read, program.plan().swap_read_bytes);
    EXPECT_NE(times.text(), plan::NodeTimes().text());
    EXPECT_EQ(rates.read_ms_per_byte > nominal.read_ms_per_byte, !has_least_staging);
    EXPECT_EQ(rates.least_staging_factor > nominal.least_staging_factor, has_least_staging);
    // Every read took 5 ms at least, whatever the disk.
    int64_t reads = 0;
    for (const ir::Node& node : program.graph().nodes) reads += node.op == &plan::swap_read_op();
    ASSERT_GT(reads, 0);
    const plan::SwapCosts costs = rates.with_staging(staging).costs(rehearsal.node_ms);
    EXPECT_GE(plan::transfer_times(program.graph(), costs).busy_ms,
              4.5 * static_cast<double>(reads));
  }
}

TEST(session, whose_swap_file_fails_is_not_rehearsed_to_its_end) {
  SlowStep step(0.6);
  step.break_after(2);
  EXPECT_THROW(static_cast<void>(rehearse(step.session(), step.file())), Error);
}

}  // namespace
}  // namespace thimble::exec::session_swap_test
