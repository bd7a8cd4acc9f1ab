#include "harness/op_cases.h"

namespace thimble::test {
namespace {

// Filled before main: the tables of the ops' test.cpp add themselves.
std::map<std::string, OpCasesFn>& tables() {
  static std::map<std::string, OpCasesFn> all;
  return all;
}

}  // namespace

bool add_op_cases(const char* op, OpCasesFn cases) { return tables().emplace(op, cases).second; }

const std::map<std::string, OpCasesFn>& op_tables() { return tables(); }

}  // namespace thimble::test
