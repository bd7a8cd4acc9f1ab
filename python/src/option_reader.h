// Options of ops and layers from a dictionary.
#pragma once

#include <map>
#include <set>
#include <string>

#include "bindings.h"
#include "ir/function_def.h"

namespace thimble::python {

// Sets the fields that the dictionary names; None leaves a default. Errors: Error naming the
// function and the option of a wrong kind.
class OptionReader final : public ir::OptionVisitor {
 public:
  OptionReader(std::string where, nb::dict given)
      : where_(std::move(where)), given_(std::move(given)) {}

  void field(const char* name, bool& value, const char* doc) override;
  void field(const char* name, int64_t& value, const char* doc) override;
  void field(const char* name, double& value, const char* doc) override;
  void field(const char* name, Pair& value, const char* doc) override;
  void field(const char* name, Padding& value, const char* doc) override;
  void field(const char* name, std::vector<int64_t>& value, const char* doc) override;
  void field(const char* name, Shape& value, const char* doc) override;
  void field(const char* name, DType& value, const char* doc) override;
  void choice(const char* name, int& value, std::span<const char* const> names,
              const char* doc) override;
  void field(const char* name, std::string& value, const char* doc) override;
  void field(const char* name, Initializer& value, const char* doc) override;
  void field(const char* name, std::optional<Initializer>& value, const char* doc) override;

  // Throws Error where the dictionary names an option that no field had.
  void finish() const;

 private:
  // The given object, or null.
  nb::handle find(const char* name);
  [[noreturn]] void fail(const char* name, const char* expected, nb::handle got) const;
  int64_t integer(const char* name, const char* expected, nb::handle given) const;
  std::vector<int64_t> integers(const char* name, const char* expected, nb::handle given) const;

  std::string where_;
  nb::dict given_;
  std::set<std::string> known_;
};

}  // namespace thimble::python
