#include "plan/pack/pack.h"

#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "io/atomic_file.h"
#include "io/pack_csv/pack_csv.h"
#include "options.h"

namespace thimble::cli {
namespace {

constexpr size_t kMostFileBytes = size_t{256} << 20;

struct PackArguments {
  std::string file;
  std::string out;
  int64_t steps = plan::PackOptions{}.steps;
  bool json = false;
};

void print(const plan::Packing& packing, size_t buffers, double seconds) {
  const auto bound = static_cast<double>(packing.lower_bound_bytes);
  const double above = bound > 0 ? static_cast<double>(packing.peak_bytes) / bound - 1 : 0.0;
  fmt::print(
      "peak         {} B{}\nlower bound  {} B, the most alive at once; the peak is {:.2f} % above "
      "it\n{} buffers packed in {:.2f} s\n",
      packing.peak_bytes, packing.optimal ? ", the lowest there is" : "", packing.lower_bound_bytes,
      100.0 * above, buffers, seconds);
}

int run_pack(const PackArguments& options) {
  const io::PackTable table =
      io::parse_pack_csv(options.file, io::read_file(options.file, kMostFileBytes));
  const double start = seconds_now();
  const plan::Packing packing = plan::pack(table.buffers, {.steps = options.steps});
  const double seconds = seconds_now() - start;
  plan::check(table.buffers, packing);
  if (!options.out.empty()) {
    io::AtomicFile file(options.out);
    file.write(io::to_pack_csv(table, packing.offsets));
    file.commit();
  }
  if (options.json) {
    print_json({{"peak_bytes", packing.peak_bytes},
                {"lower_bound_bytes", packing.lower_bound_bytes},
                {"seconds", seconds}});
  } else {
    print(packing, table.buffers.size(), seconds);
  }
  return kOk;
}

}  // namespace

void add_pack(CLI::App& app, Action& action) {
  auto options = std::make_shared<PackArguments>();
  CLI::App* command = app.add_subcommand(
      "pack", "Pack buffers with given lifetimes and sizes into one arena of the least height");
  command
      ->add_option("FILE", options->file,
                   "table with the columns id, lower, upper, size and perhaps alignment: a buffer "
                   "of size bytes lives from time lower up to, not including, upper")
      ->required()
      ->type_name("FILE.csv");
  command
      ->add_option("--out", options->out,
                   "write the same rows with a column offset to this file [none]")
      ->type_name("FILE.csv");
  command
      ->add_option("--steps", options->steps,
                   fmt::format("the most work to do, so that every machine finds the same; half a "
                               "billion steps take about a second [{}]",
                               options->steps))
      ->check(whole_number(0))
      ->type_name("N");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer("Example:\n  thimble pack buffers.csv --out packed.csv");
  command->callback([&action, options] { action = [options] { return run_pack(*options); }; });
}

}  // namespace thimble::cli
