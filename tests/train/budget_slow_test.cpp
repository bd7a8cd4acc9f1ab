// The recipes whose plans take seconds.
#include "train/budget_cases.h"

namespace thimble::train::budget_slow_test {
namespace {

INSTANTIATE_TEST_SUITE_P(recipes, budget,
                         ::testing::Combine(::testing::Values("mobilenetv2", "unet_ddpm", "lstm"),
                                            ::testing::Values(Swap::never, Swap::always)),
                         name_of);

}  // namespace
}  // namespace thimble::train::budget_slow_test
