// README and other pages: everything they name exists, and what they show agrees with the code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "cli/process.h"

namespace thimble::test::pages_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kRoot = THIMBLE_SOURCE_DIR;

std::vector<fs::path> pages() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  all.push_back(kRoot / "bench/RESULTS.md");
  return all;
}

// The first capture of every match.
std::vector<std::string> all_matches(const std::string& text, const char* pattern) {
  std::vector<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

std::string first_block(const std::string& page, const std::string& language) {
  const std::string fence = "```" + language + "\n";
  const size_t begin = page.find(fence);
  if (begin == std::string::npos) return {};
  const size_t from = begin + fence.size();
  return page.substr(from, page.find("```", from) - from);
}

TEST(pages, link_to_what_exists) {
  int links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& link : all_matches(read_text(page), R"(\]\(([^)# ]+)(#[^) ]*)?\))")) {
      if (link.starts_with("http")) continue;
      ++links;
      EXPECT_TRUE(fs::exists(page.parent_path() / link)) << page << ": " << link;
    }
  }
  EXPECT_GT(links, 30);
}

TEST(pages, name_files_that_exist) {
  int names = 0;
  for (const fs::path& page : pages()) {
    const auto found = all_matches(
        read_text(page),
        "`((?:src|include|tests|docs|bench|scripts|examples|apps|cmake|python)/[A-Za-z0-9_./-]*)`");
    for (const std::string& name : found) {
      ++names;
      EXPECT_TRUE(fs::exists(kRoot / name)) << page << ": " << name;
    }
  }
  EXPECT_GT(names, 15);
}

TEST(pages, of_the_readme_show_the_example_as_it_is) {
  EXPECT_EQ(first_block(read_text(kRoot / "README.md"), "cpp"),
            read_text(kRoot / "examples/digits.cpp"));
}

TEST(pages, of_the_readme_show_plans_that_the_program_makes) {
  const std::string page = read_text(kRoot / "README.md");
  const TemporaryFolder folder;
  const auto lines = all_matches(page, R"(\n[^\n` ]*/thimble (plan [^\n`]+)\n)");
  ASSERT_EQ(lines.size(), 2U);
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
      const bool is_file = !arguments.empty() && arguments.back() == "--report";
      arguments.push_back(is_file ? folder / word : word);
    }
    const Outcome plan = run(arguments);
    EXPECT_EQ(plan.code, 0) << line << "\n" << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("planned peak of a step, batch 8: ")) << line;
    if (line.find("--memory-budget") == std::string::npos) continue;
    EXPECT_THAT(plan.out, HasSubstr(": kept, ")) << line;
    EXPECT_THAT(plan.out, HasSubstr("recomputation, ")) << line;
    EXPECT_THAT(plan.out, HasSubstr("\n  swap, ")) << line;
    EXPECT_THAT(read_text(arguments.back()), HasSubstr("<html")) << line;
  }
}

// The table gives MiB to two digits. Workspaces of other processors' kernels differ a little.
TEST(pages, of_the_readme_give_the_planned_memory_of_recipes) {
  const std::string page = read_text(kRoot / "README.md");
  const std::regex row(R"(\n\| ([a-z0-9]+), [0-9]+ epochs \|[^|]*\|[^|]*\| ([0-9.]+), [0-9.]+ \|)");
  int rows = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), row), end; it != end; ++it, ++rows) {
    const auto json = last_line_json(run({"plan", (*it)[1], "--threads", "1", "--json"}).out);
    const double mib = json["planned_peak_bytes"].get<double>() / (1 << 20);
    const double shown = std::stod((*it)[2]);
    EXPECT_NEAR(mib, shown, 0.005 + 0.02 * shown) << (*it)[1];
  }
  EXPECT_EQ(rows, 3);
}

// The lines of the guide's plan that depend on neither disk nor processor.
TEST(pages, of_the_memory_plan_show_what_the_program_prints) {
  const std::string page = read_text(kRoot / "docs/guide/memory-plan.md");
  const auto command = all_matches(page, "\n```\nthimble (plan [^\n]+)\n");
  ASSERT_FALSE(command.empty());
  std::istringstream words(command[0]);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  const Outcome plan = run(arguments);
  EXPECT_EQ(plan.code, 0) << plan.err;
  for (const char* const begin :
       {"  parameters  ", "  state (moments", "  constants", "  their padding",
        "beside it the input", "set aside for", "reading is counted"}) {
    const size_t at = page.find(std::string("\n    ") + begin);
    ASSERT_NE(at, std::string::npos) << begin;
    const std::string shown = page.substr(at + 5, page.find('\n', at + 1) - at - 5);
    EXPECT_THAT("\n" + plan.out, HasSubstr("\n" + shown + "\n"));
  }
  const auto names = all_matches(page, R"(\n      ([a-z ]+?)(?:, \d+ values?)? {2,}[-0-9])");
  EXPECT_GT(names.size(), 5U);
  for (const std::string& name : names) EXPECT_THAT(plan.out, HasSubstr("\n  " + name)) << name;
}

TEST(pages, name_commands_of_the_front_door_that_exist) {
  const std::string front_door = read_text(kRoot / "run");
  int commands = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& command : all_matches(read_text(page), R"(\./run ([a-z]+))")) {
      ++commands;
      EXPECT_THAT(front_door, HasSubstr("\n  " + command + " ")) << page;
    }
  }
  EXPECT_GT(commands, 8);
}

// Every `thimble COMMAND --option ...` of the pages, against the command's own help.
TEST(pages, show_command_lines_that_the_program_takes) {
  int lines = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& line :
         all_matches(read_text(page), "(?:^|[`/ ])(?:bin/)?thimble ([a-z]+ [^`\n]*)")) {
      std::istringstream words(line);
      std::string command;
      words >> command;
      const Outcome help = run({command, "--help"});
      if (help.code != 0) continue;  // prose about thimble
      ++lines;
      for (std::string word; words >> word;) {
        if (!word.starts_with("--")) continue;
        EXPECT_THAT(help.out,
                    ::testing::ContainsRegex("[ ,]" + word.substr(0, word.find('=')) + "[ \n]"))
            << page << ": thimble " << line;
      }
    }
  }
  EXPECT_GT(lines, 10);
}

TEST(pages, of_guide_and_decisions_stand_in_their_index) {
  for (const auto& [folder, index] : {std::pair{"docs/guide", "docs/README.md"},
                                      {"docs/reference", "docs/README.md"},
                                      {"docs/adr", "docs/adr/README.md"}}) {
    const std::string text = read_text(kRoot / index);
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      const std::string name = entry.path().filename();
      if (name == "README.md") continue;
      EXPECT_THAT(text, HasSubstr(name + ")")) << folder;
    }
  }
}

// Decision records are added to the navigation automatically.
TEST(pages, of_the_documentation_stand_in_the_navigation_of_the_site) {
  const std::string site = read_text(kRoot / "docs/site/mkdocs.yml");
  for (const fs::path& page : pages()) {
    const std::string name = fs::relative(page, kRoot).string();
    if (name.starts_with("docs/adr/0") || name == "docs/adr/template.md") continue;
    EXPECT_THAT(site, HasSubstr(": " + name + "\n"));
  }
  const auto entries = all_matches(site, R"(: ([A-Za-z0-9_/.-]+\.md)\n)");
  EXPECT_GT(entries.size(), 20U);
  for (const std::string& name : entries) EXPECT_TRUE(fs::exists(kRoot / name)) << name;
}

// The anchor of a heading, as GitHub and the site make it: "Where things are" is #where-things-are.
std::string anchor(const std::string& heading) {
  std::string made;
  for (const char c : heading) {
    if (c == ' ' || c == '-') made += '-';
    if (c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0) {
      made += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return made;
}

TEST(pages, link_to_headings_that_exist) {
  int links = 0;
  for (const fs::path& page : pages()) {
    const std::string text = read_text(page);
    const std::regex expression(R"(\]\(([^)# ]*)#([^) ]+)\))");
    for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
      const std::string file = (*it)[1];
      const std::string wanted = (*it)[2];
      if (file.starts_with("http")) continue;
      ++links;
      std::vector<std::string> anchors;
      const fs::path target = file.empty() ? page : page.parent_path() / file;
      for (const std::string& heading : all_matches("\n" + read_text(target), "\n#+ ([^\n]+)")) {
        anchors.push_back(anchor(heading));
      }
      EXPECT_THAT(anchors, ::testing::Contains(wanted)) << page << ": " << file;
    }
  }
  EXPECT_GT(links, 5);
}

TEST(pages, of_the_command_line_list_the_keys_of_a_training) {
  const std::string page = read_text(kRoot / "docs/guide/command-line.md");
  const TemporaryFolder folder;
  const Outcome trained = run(short_training("mlp", folder / "out", {"--epochs", "1", "--json"}));
  const nlohmann::ordered_json json = last_line_json(trained.out);
  for (const auto& [key, value] : json.items()) EXPECT_THAT(page, HasSubstr("`" + key + "`"));
}

TEST(pages, of_the_command_line_list_the_keys_of_a_plan) {
  const std::string page = read_text(kRoot / "docs/guide/command-line.md");
  const auto json = last_line_json(run({"plan", "mlp", "--memory-budget", "64MiB", "--json"}).out);
  for (const auto& part : {json, json["binding"], json["buffers"][0]}) {
    for (const auto& [key, value] : part.items()) EXPECT_THAT(page, HasSubstr("`" + key + "`"));
  }
}

// The table of layers in scripts/check_rules.sh; "base" stands for what all layers share.
TEST(pages, of_the_architecture_show_every_layer) {
  const std::string rules = read_text(kRoot / "scripts/check_rules.sh");
  const size_t begin = rules.find("\nlayers='");
  ASSERT_NE(begin, std::string::npos);
  const auto layers =
      all_matches(rules.substr(begin, rules.find("\n'", begin) - begin), "\n([a-z]+):");
  std::vector<std::string> drawn;
  for (const std::string& names :
       all_matches(read_text(kRoot / "docs/pictures/layers.svg"), "class=\"name\">([a-z, ]+)<")) {
    for (const std::string& name : all_matches(names, "([a-z]+)")) drawn.push_back(name);
  }
  const std::string page = read_text(kRoot / "docs/architecture.md");
  EXPECT_GT(layers.size(), 12U);
  for (const std::string& layer : layers) {
    if (layer == "base") continue;
    EXPECT_EQ(std::count(drawn.begin(), drawn.end(), layer), 1) << layer;
    if (layer != "apps" && layer != "python") {
      EXPECT_THAT(page, HasSubstr("\n| `" + layer + "` |"));
    }
  }
}

TEST(pages, of_presets_in_the_documentation_are_configured) {
  const std::string presets = read_text(kRoot / "CMakePresets.json");
  for (const char* name : {"dev", "release", "asan", "tsan"}) {
    EXPECT_THAT(presets, HasSubstr(std::string("\"name\": \"") + name + "\""));
  }
}

}  // namespace
}  // namespace thimble::test::pages_test
