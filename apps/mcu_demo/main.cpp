// What ./run demo-mcu needs beside the command line.
//   mcu_demo digits FOLDER            one person's digits
//   mcu_demo report FOLDER BOARD...   the page about what these boards printed; m4, m7, m55
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "commands.h"

int main(int argc, char** argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "digits") == 0) {
      thimble::mcu_demo::write_digits(argv[2]);
    } else if (argc > 3 && std::strcmp(argv[1], "report") == 0) {
      thimble::mcu_demo::write_report(argv[2], {argv + 3, argv + argc});
    } else {
      fmt::print(stderr, "usage: mcu_demo digits FOLDER | mcu_demo report FOLDER BOARD...\n");
      return 2;
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "mcu_demo: {}\n", error.what());
    return 1;
  }
}
