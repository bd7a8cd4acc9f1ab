// Expected results computed by PyTorch, from tests/goldens/<op>.json (written by
// scripts/goldens.py).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thimble::test {

// Every case of every op's file. Throws Error for a file that cannot be read, for one that belongs
// to no op, and for a golden.py or an op that names PyTorch's function (ir::Signature) without one.
std::vector<nlohmann::json> find_goldens(const std::string& source_folder);

// Compares an op's outputs and gradients with PyTorch's, in both precisions. Returns what is wrong,
// or an empty string.
std::string check_golden(const nlohmann::json& golden);

}  // namespace thimble::test
