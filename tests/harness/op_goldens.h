// What PyTorch computes, from src/ops/<op>/golden.json (written by scripts/goldens.py).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thimble::test {

// Every case of every op's file below a folder. Throws Error for a file that cannot be read, and
// for a golden.py that has none.
std::vector<nlohmann::json> find_goldens(const std::string& ops_folder);

// Compares an op's outputs and gradients with PyTorch's, in both precisions. Returns what is wrong,
// or an empty string.
std::string check_golden(const nlohmann::json& golden);

}  // namespace thimble::test
