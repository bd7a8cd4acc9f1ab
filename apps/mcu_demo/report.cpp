// The page about a training on emulated microcontrollers.
#include <fmt/format.h>
#include <thimble/data.h>
#include <thimble/error.h>
#include <thimble/plan.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "commands.h"
#include "io/html/charts.h"
#include "io/png/png.h"

namespace thimble::mcu_demo {
namespace {

std::string name_of(const std::string& board) {
  std::string name = board;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c == 'm' ? 'M' : c; });
  return "Cortex-" + name;
}

// What a program on a board printed: lines of a name and a number.
class Printed {
 public:
  explicit Printed(const std::string& path) : path_(path) {
    std::ifstream file(path);
    if (!file) throw Error(path, "no such file; ./run demo-mcu writes it");
    std::string name;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      double number = 0.0;
      if (words >> name >> number) values_[name].push_back(number);
    }
  }

  [[nodiscard]] double operator()(const std::string& name) const { return all(name).back(); }
  [[nodiscard]] const std::vector<double>& all(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw Error(path_, "has no line " + name);
    return found->second;
  }

 private:
  std::string path_;
  std::map<std::string, std::vector<double>> values_;
};

// "grad(conv1.weight)" and "conv1/mul" are of conv1.
std::string layer_of(std::string value) {
  while (value.starts_with("grad(")) value.erase(0, 5);
  return value.substr(0, value.find_first_of("/.)"));
}

io::BarChart instructions_by_layer(const std::string& path, const std::string& board) {
  std::ifstream file(path);
  if (!file) throw Error(path, "no such file; ./run demo-mcu writes it");
  struct Calls {
    double sum = 0.0;
    int count = 0;
  };
  std::map<std::pair<std::string, std::string>, Calls> calls;
  std::string function;
  std::string kernel;
  std::string value;
  for (double count = 0.0; file >> function >> kernel >> value >> count;) {
    if (function != "train_step") continue;
    Calls& same = calls[{kernel, value}];
    same.sum += count;
    ++same.count;
  }
  if (calls.empty()) throw Error(path, "has no kernel of a training step");
  std::map<std::string, std::array<double, 3>> layers;
  for (const auto& [call, counted] : calls) {
    const bool is_update = call.first.find("_update_") != std::string::npos;
    const bool is_backward = call.first.find("_grad") != std::string::npos ||
                             call.first.starts_with("grad_") || call.second.starts_with("grad(");
    const size_t part = is_update ? 2 : is_backward ? 1 : 0;
    layers[layer_of(call.second)][part] += counted.sum / counted.count / 1e6;
  }
  io::BarChart chart{.title = "Instructions of a training step by layer",
                     .caption = "Millions, " + board + ", of the layer whose value is computed.",
                     .series = {"forward", "backward", "update"},
                     .rows = {}};
  for (const auto& [layer, parts] : layers) {
    chart.rows.push_back({layer, {parts.begin(), parts.end()}});
  }
  return chart;
}

io::PictureOfPage picture(const std::string& folder) {
  const data::Dataset digits = data::mnist(folder);
  constexpr int64_t kShown = 40;
  constexpr size_t kPixels = 784;
  std::vector<float> images(kShown * kPixels);
  int32_t digit = 0;
  for (int64_t i = 0; i < kShown; ++i) {
    void* const fields[] = {images.data() + static_cast<size_t>(i) * kPixels, &digit};
    digits.read(i, fields);
  }
  return {"What the device sees", "The first digits of the person, one after another.",
          io::png_grid(images, {.columns = 20})};
}

std::string percent(const Printed& board, const char* name) {
  return fmt::format("{:.1f} %", 100.0 * board(name) / board("tested"));
}

}  // namespace

void write_report(const std::string& folder, const std::vector<std::string>& names) {
  std::vector<Printed> boards;
  for (const std::string& board : names) boards.emplace_back(folder + "/" + board + ".txt");
  const Printed host(folder + "/host.txt");
  const Printed predictions(folder + "/predict.txt");
  const bool same_bits = std::all_of(boards.begin(), boards.end(), [&](const Printed& board) {
    return board("weights_checksum") == host("weights_checksum");
  });
  const Printed& first = boards.front();
  io::ChartPage page;
  page.title = "A microcontroller learns a person's digits";
  const auto bytes = [](double number) { return format_bytes(static_cast<int64_t>(number)); };
  page.facts = {{"recognised before", percent(first, "recognised_before")},
                {"recognised after", percent(first, "recognised_after")},
                {"digits learnt, each seen once", fmt::format("{:.0f}", first("learnt"))},
                {"weights on all boards and the host", same_bits ? "the same bits" : "they differ"},
                {"flash of predictions alone, -Os", bytes(predictions("flash_bytes"))}};
  io::BarChart ram{.title = "Memory by board",
                   .caption = "KiB. A fence faults on every address outside 256 KiB.",
                   .series = {"arena", "trained weights", "other variables", "deepest stack"},
                   .rows = {}};
  io::BarChart flash{.title = "Flash by board", .caption = "KiB.", .series = {"flash"}, .rows = {}};
  io::BarChart steps{.title = "Instructions of a training step and of a prediction",
                     .caption = "Millions.",
                     .series = {"training step", "prediction"},
                     .rows = {}};
  for (size_t i = 0; i < boards.size(); ++i) {
    const Printed& board = boards[i];
    const double arena = board("arena_bytes");
    const double state = board("state_bytes");
    page.facts.emplace_back(fmt::format("memory, {}", name_of(names[i])),
                            bytes(board("ram_bytes")));
    ram.rows.push_back({name_of(names[i]),
                        {arena / 1024, state / 1024, (board("static_bytes") - arena - state) / 1024,
                         board("stack_bytes") / 1024}});
    flash.rows.push_back({name_of(names[i]), {board("flash_bytes") / 1024}});
    steps.rows.push_back(
        {name_of(names[i]),
         {board("train_step_instructions") / 1e6, board("predict_instructions") / 1e6}});
  }
  page.pictures.push_back(picture(folder + "/person"));
  io::PointChart learning{.title = "While it learns",
                          .caption = "Each image is predicted before it is learnt.",
                          .x_label = "images seen",
                          .y_label = "recognised of the last 25",
                          .points = {}};
  double seen = 0.0;
  for (const double right : first.all("recognised_of_25")) {
    seen += 25.0;
    learning.points.push_back({seen, right, fmt::format("{:.0f} of 25", right), false});
  }
  page.points.push_back(std::move(learning));
  page.bars = {std::move(ram), std::move(flash), std::move(steps),
               instructions_by_layer(folder + "/kernels.txt", name_of(names.front()))};
  std::ofstream file(folder + "/report.html", std::ios::binary);
  file << io::chart_page_html(page);
  if (!file.flush()) throw Error(folder + "/report.html", "cannot be written");
  fmt::print("recognised {} before, {} after; weights: {}\n", percent(first, "recognised_before"),
             percent(first, "recognised_after"), same_bits ? "the same bits everywhere" : "DIFFER");
  for (size_t i = 0; i < boards.size(); ++i) {
    fmt::print("{:11} {:>8.0f} B of memory, {:>8.0f} B of flash, {:>5.1f} M instructions a step\n",
               name_of(names[i]), boards[i]("ram_bytes"), boards[i]("flash_bytes"),
               boards[i]("train_step_instructions") / 1e6);
  }
  if (!same_bits) throw Error("boards", "the trained weights differ");
}

}  // namespace thimble::mcu_demo
