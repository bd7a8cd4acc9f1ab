// A step that ends early leaves nothing under way in the swap file.
#include <gtest/gtest.h>
#include <thimble/recipes.h>
#include <thimble/trainer.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "exec/program.h"
#include "exec/swap_file.h"
#include "io/temporary_folder.h"
#include "train/compile.h"

namespace thimble::exec {
namespace {

// A step of mlp within a share of its memory, over a file whose reads take long.
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
    program_ = std::make_unique<Program>(graph, options);
    store_ = std::make_unique<Store>(std::vector{&program_->graph()}, program_->in_file());
    arena_ = Block(program_->plan().arena_bytes);
    SwapOptions swap;
    swap.answer = [](const SwapRequest& request, int64_t answer) {
      if (!request.write) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return answer;
    };
    file_ = std::make_unique<SwapFile>(folder_.path(), program_->slot_bytes(), swap);
    const std::span<std::byte> memory(arena_.data(), static_cast<size_t>(arena_.bytes()));
    store_->attach(file_.get(), memory);
    store_->initialize(1);
    session_ = std::make_unique<Session>(*program_, *store_, memory, pool_, file_.get());
  }

  // The pixels' sums are beyond any float.
  void fill() {
    const std::span<std::byte> bytes = session_->source("image");
    std::fill_n(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float),
                std::numeric_limits<float>::max());
  }
  [[nodiscard]] Session& session() { return *session_; }
  // Whether anything has to be waited for.
  [[nodiscard]] bool is_busy() {
    const double before = file_->counters().stall_ms;
    for (size_t slot = 0; slot < program_->slot_bytes().size(); ++slot) {
      EXPECT_TRUE(file_->wait(static_cast<int>(slot))) << file_->error();
    }
    return file_->counters().stall_ms > before;
  }

 private:
  test::TemporaryFolder folder_;
  std::unique_ptr<Program> program_;
  std::unique_ptr<Store> store_;
  Block arena_;
  ThreadPool pool_{1};
  std::unique_ptr<SwapFile> file_;
  std::unique_ptr<Session> session_;
};

TEST(session, leaves_nothing_under_way_where_the_loss_is_not_finite) {
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

}  // namespace
}  // namespace thimble::exec
