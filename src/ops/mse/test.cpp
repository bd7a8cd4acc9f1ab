#include "ops/families/loss/loss_cases.h"

namespace thimble::test::mse_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(LossOptions{reduction}); }

}  // namespace

THIMBLE_OP_CASES(mse) { return loss_cases(by, {}); }

}  // namespace thimble::test::mse_test
