// Names that no other tensor of a graph has.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>

namespace thimble::importer::onnx {

class FreshNames {
 public:
  void take(const std::string& name) { taken_.emplace(name, 1); }

  // The wanted name, or with a number behind it where it is taken.
  [[nodiscard]] std::string make(const std::string& wanted) {
    std::string name = wanted;
    int& times = taken_[wanted];
    while (++times > 1) {
      name = fmt::format("{}_{}", wanted, times);
      if (taken_.emplace(name, 1).second) break;
    }
    return name;
  }

 private:
  std::map<std::string, int> taken_;  // and how often each was wanted
};

}  // namespace thimble::importer::onnx
