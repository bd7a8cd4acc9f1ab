// The two commands of mcu_demo.
#pragma once

#include <string>
#include <vector>

namespace thimble::mcu_demo {

// Writes digits of one person into a folder, as the four IDX files of MNIST: 300 to train with, 500
// to test. The person writes each digit in two ways and slants heavily to the left.
void write_digits(const std::string& folder);

// Makes report.html in the folder from what scripts/demo_mcu.sh left there. boards: of m4, m7, m55.
// Throws Error where something is missing, or trained weights differ from the host's.
void write_report(const std::string& folder, const std::vector<std::string>& boards);

}  // namespace thimble::mcu_demo
