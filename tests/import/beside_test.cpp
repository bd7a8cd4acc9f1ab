// Files that models name.
#include <gtest/gtest.h>
#include <thimble/error.h>

#include <filesystem>
#include <fstream>

#include "harness/error_of.h"
#include "import/beside.h"
#include "io/temporary_folder.h"

namespace thimble::test::beside_test {
namespace {

using importer::path_beside;
using importer::read_beside;

TEST(beside, reads_a_part_of_a_file_in_the_folder_of_the_model_or_below) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "data");
  std::ofstream(folder / "data/w.bin") << "0123456789";
  const std::vector<std::byte> bytes = read_beside(folder / "m.tflite", "data/w.bin", 3, 4);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "3456");
  EXPECT_TRUE(read_beside(folder / "m.tflite", "data/w.bin", 10, 0).empty());
}

TEST(beside, refuses_what_lies_elsewhere) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "data");
  std::ofstream(folder / "w.bin") << "0123456789";
  std::filesystem::create_symlink("w.bin", folder / "link.bin");
  std::filesystem::create_directory_symlink("data", folder / "also");
  std::ofstream(folder / "data/w.bin") << "0123456789";
  const std::string model = folder / "m.tflite";
  const auto error = [&](std::string_view name) {
    return error_of([&] { static_cast<void>(path_beside(model, name)); });
  };
  for (const std::string& name : {std::string("../w.bin"), std::string("data/../w.bin"),
                                  folder / "w.bin", std::string("./w.bin"), std::string("data/")}) {
    EXPECT_NE(error(name).find("model's folder"), std::string::npos) << name << ": " << error(name);
  }
  EXPECT_NE(error("").find("is no name"), std::string::npos);
  EXPECT_NE(error("link.bin").find("symbolic link"), std::string::npos);
  EXPECT_NE(error("also/w.bin").find("symbolic link"), std::string::npos);
  EXPECT_NE(error("data").find("no regular file"), std::string::npos);
  EXPECT_NE(error("none.bin").find("does not exist"), std::string::npos);
  EXPECT_NE(error("data\\w.bin").find("character"), std::string::npos);
  EXPECT_NE(error(std::string_view("w.bin\0x", 7)).find("character"), std::string::npos);
  const auto part = [&](uint64_t offset, uint64_t length) {
    return error_of([&] { static_cast<void>(read_beside(model, "w.bin", offset, length)); });
  };
  EXPECT_NE(part(8, 3).find("has 10"), std::string::npos);
  EXPECT_NE(part(11, 0).find("has 10"), std::string::npos);
  EXPECT_NE(part(8, UINT64_MAX).find("has 10"), std::string::npos);
}

}  // namespace
}  // namespace thimble::test::beside_test
