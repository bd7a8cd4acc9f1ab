#include "training_setup.h"

#include <fmt/format.h>

#include "commands.h"
#include "options.h"

namespace thimble::cli {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

void SetupOptions::add_to(CLI::App& command) {
  add_recipe(command, recipe);
  command.add_option("--batch", batch, "samples in one step [the recipe's]")
      ->check(whole_number(1))
      ->type_name("N");
  command.add_option("--lr", lr, "learning rate, the peak of the schedule [the optimizer's]")
      ->check(above_zero())
      ->type_name("X");
  command
      .add_option("--optimizer", optimizer,
                  "one of " + joined(Optimizer::names()) +
                      "; with settings for example adamw:beta2=0.99,amsgrad; what is left out is "
                      "as in the recipe's optimizer, where the name is the same [the recipe's]")
      ->type_name("NAME[:SETTINGS]");
  command
      .add_option("--schedule", schedule,
                  "learning rate over the steps, made of " + joined(Schedule::names()) +
                      "; for example cosine:min=1e-5 or warmup:steps=100/linear [the recipe's]")
      ->type_name("NAME[:SETTINGS]");
  command.add_option("--clip-norm", clip_norm, "largest global norm of the gradients [no limit]")
      ->check(above_zero())
      ->type_name("X");
  command
      .add_option("--ema-decay", ema_decay,
                  "share kept in a running average of the weights, which evaluation and sampling "
                  "then use; 0: no average [the recipe's]")
      ->check(zero_to_one())
      ->type_name("X");
  command.add_option("--accumulate", accumulate, "steps whose gradients make one update [1]")
      ->check(whole_number(1))
      ->type_name("N");
  command.add_option("--seed", seed, "seed of first values, order, noise [0]")
      ->check(whole_number(0))
      ->type_name("N");
  add_threads(command, threads);
  command
      .add_option("--memory-budget", memory_budget,
                  "most memory a step may take, for example 2MiB; what does not fit is refused "
                  "before anything runs, with the size that would [no limit]")
      ->type_name("SIZE");
}

int64_t batch_of(const SetupOptions& options, const Recipe& recipe) {
  return options.batch > 0 ? options.batch : recipe.batch;
}

namespace {

TrainerOptions made(const SetupOptions& options, const Recipe& recipe, int64_t steps) {
  Optimizer optimizer = recipe.optimizer();
  if (options.optimizer) optimizer = Optimizer::parse(*options.optimizer, optimizer);
  if (options.lr > 0.0) optimizer = optimizer.with_learning_rate(options.lr);
  const double lr = optimizer.learning_rate();
  TrainerOptions trainer{.optimizer = optimizer};
  if (options.schedule) {
    trainer.schedule = Schedule::parse(*options.schedule, lr, steps);
  } else if (recipe.schedule != nullptr) {
    trainer.schedule = recipe.schedule(lr, steps);
  }
  if (options.clip_norm > 0.0) trainer.clip = GradientClip::by_global_norm(options.clip_norm);
  trainer.ema_decay = options.ema_decay < 0.0 ? recipe.ema_decay : options.ema_decay;
  trainer.batch = batch_of(options, recipe);
  trainer.accumulate = options.accumulate;
  if (options.memory_budget) trainer.memory_budget = parse_bytes(*options.memory_budget);
  trainer.seed = options.seed;
  trainer.threads = options.threads;
  return trainer;
}

}  // namespace

TrainerOptions trainer_options(const SetupOptions& options, const Recipe& recipe, int64_t steps) {
  return from_command_line([&] { return made(options, recipe, steps); });
}

}  // namespace thimble::cli
