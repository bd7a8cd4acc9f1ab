#include "harness/op_cases.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test {
namespace {

using Tables = std::map<std::string, OpCasesFn>;

// Filled before main: the tables of the ops' test.cpp add themselves.
Tables& tables() {
  static Tables all;
  return all;
}

Tables with_derived(Tables all) {
  for (const ir::OpDef* const op : ir::all_ops()) {
    const ir::Domain& domain = op->signature.domain;
    if (domain.low >= domain.high) continue;
    all.emplace(op->name, [&domain]() -> OpCases {
      const TensorSpec x{.low = domain.low, .high = domain.high, .gap = domain.gap};
      return {.cases = unary_cases(x), .rejects = unary_rejects()};
    });
  }
  return all;
}

}  // namespace

bool add_op_cases(const char* op, const OpCasesFn& cases) {
  return tables().emplace(op, cases).second;
}

const Tables& op_tables() {
  static const Tables all = with_derived(tables());
  return all;
}

}  // namespace thimble::test
