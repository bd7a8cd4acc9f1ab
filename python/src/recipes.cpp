// The named models.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/model_file.h>
#include <thimble/recipes.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <span>

#include "bindings.h"
#include "option_reader.h"

namespace thimble::python {
namespace {

const char* name_of(SampleKind kind) {
  switch (kind) {
    case SampleKind::images:
      return "images";
    case SampleKind::texts:
      return "texts";
    default:
      return "none";
  }
}

template <class T>
void read(OptionReader& reader, const nb::dict& given, const char* name, std::optional<T>& value) {
  T number{};
  reader.field(name, number, "");
  if (!given[name].is_none()) value = number;
}

SampleOptions sample_options(const nb::dict& given) {
  OptionReader reader("sample", given);
  SampleOptions options;
  int64_t seed = 0;
  int64_t threads = 0;
  reader.field("count", options.count, "");
  reader.field("seed", seed, "");
  reader.field("threads", threads, "");
  if (seed < 0) throw Error("sample", "seed must be 0 or more, got " + std::to_string(seed));
  options.seed = static_cast<uint64_t>(seed);
  options.threads = static_cast<int>(std::clamp<int64_t>(threads, INT_MIN, INT_MAX));
  if (!given["prompt"].is_none()) options.prompt = bytes_of(given["prompt"], "sample", "prompt");
  read(reader, given, "length", options.length);
  read(reader, given, "temperature", options.temperature);
  read(reader, given, "top_k", options.top_k);
  read(reader, given, "steps", options.steps);
  return options;
}

// Samples of a recipe: one array of images, or texts as bytes.
nb::object drawn(const Recipe& recipe, const std::filesystem::path& checkpoint,
                 SampleOptions options) {
  bool interrupted = false;
  options.stop = [&interrupted] {
    const nb::gil_scoped_acquire acquire;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return interrupted;
  };
  const auto draw = [&] {
    const nb::gil_scoped_release release;
    return recipe.sample(checkpoint.string(), options);
  };
  const Samples samples = from_file(checkpoint, draw, "sample");
  if (interrupted) throw nb::python_error();
  if (recipe.makes == SampleKind::texts) {
    nb::list texts;
    for (const std::string& text : samples.texts) {
      texts.append(nb::bytes(text.data(), text.size()));
    }
    return texts;
  }
  std::byte* data = nullptr;
  nb::object images = new_array(samples.images.dtype(), samples.images.shape(), &data);
  const std::span<const std::byte> bytes = samples.images.bytes();
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  return images;
}

nb::dict settings_of(const Recipe& recipe) {
  nb::dict d;
  d["doc"] = recipe.doc;
  d["batch"] = recipe.batch;
  d["epochs"] = recipe.epochs;
  d["optimizer"] = recipe.optimizer().text();
  d["lr"] = recipe.optimizer().learning_rate();
  d["ema_decay"] = recipe.ema_decay;
  d["data_doc"] = recipe.data_doc;
  d["makes"] = name_of(recipe.makes);
  d["sample_steps"] = recipe.sample_steps;
  d["latent"] = recipe.latent;
  nb::dict flattened;
  for (const auto& [name, axis, height, width, channels] : recipe.torch.flattened) {
    flattened[name] = nb::make_tuple(axis, height, width, channels);
  }
  nb::dict tied;
  for (const auto& [name, of] : recipe.torch.tied) tied[name] = of;
  nb::list buffers;
  for (const char* const ending : recipe.torch.buffers) buffers.append(ending);
  d["torch"] = nb::make_tuple(flattened, tied, nb::tuple(buffers));
  return d;
}

}  // namespace

void bind_recipes(nb::module_& m) {
  m.def("recipe_names", [] {
    std::vector<std::string> names;
    for (const Recipe& recipe : recipes()) names.emplace_back(recipe.name);
    return names;
  });
  m.def(
      "recipe", [](const std::string& name) { return settings_of(find_recipe(name)); },
      nb::arg("name"), nb::sig("def recipe(name: str) -> dict[str, typing.Any]"));
  m.def(
      "recipe_graph",
      [](const std::string& name) { return std::make_shared<Graph>(find_recipe(name).build()); },
      nb::arg("name"));
  m.def(
      "recipe_part",
      [](const std::string& name, const std::string& part, const std::string& weights) {
        const Recipe& recipe = find_recipe(name);
        Graph (*const build)() = part == "decoder" ? recipe.decoder : recipe.denoiser;
        if (build == nullptr) throw Error(name, "this recipe has no " + part);
        auto graph = std::make_shared<Graph>(build());
        if (!weights.empty()) from_file(weights, [&] { load_weights(*graph, weights); });
        return graph;
      },
      nb::arg("name"), nb::arg("part"), nb::arg("weights"));
  m.def(
      "recipe_schedule",
      [](const std::string& name, double lr, int64_t steps) {
        const Recipe& recipe = find_recipe(name);
        return recipe.schedule == nullptr ? Schedule::constant(lr) : recipe.schedule(lr, steps);
      },
      nb::arg("name"), nb::arg("lr"), nb::arg("steps"));
  m.def(
      "recipe_data",
      [](const std::string& name, const std::filesystem::path& path, const std::string& split) {
        const Recipe& recipe = find_recipe(name);
        const data::Split part = split_of(split);
        return from_file(path, [&] { return recipe.data(path.string(), part); });
      },
      nb::arg("name"), nb::arg("path"), nb::arg("split"));
  m.def(
      "recipe_sample",
      [](const std::string& name, const std::filesystem::path& checkpoint, const nb::dict& given) {
        const Recipe& recipe = find_recipe(name);
        return drawn(recipe, checkpoint, sample_options(given));
      },
      nb::arg("name"), nb::arg("checkpoint"), nb::arg("options"));
}

}  // namespace thimble::python
