// The named models.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/shared_ptr.h>
#include <thimble/recipes.h>

#include <cstring>

#include "bindings.h"

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

// What a recipe draws: one array of images, or a list of texts.
nb::object drawn(const std::string& name, const std::string& checkpoint, SampleOptions options) {
  const Recipe& recipe = find_recipe(name);
  if (recipe.sample == nullptr) throw Error(name, "this recipe makes no samples");
  bool interrupted = false;
  options.stop = [&interrupted] {
    const nb::gil_scoped_acquire acquire;
    interrupted = interrupted || PyErr_CheckSignals() != 0;
    return interrupted;
  };
  Samples samples;
  {
    const nb::gil_scoped_release release;
    samples = recipe.sample(checkpoint, options);
  }
  if (interrupted) throw nb::python_error();
  if (recipe.makes == SampleKind::texts) {
    nb::list texts;
    for (const std::string& text : samples.texts) {
      texts.append(nb::steal(
          PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace")));
    }
    return texts;
  }
  std::vector<int64_t> dims = samples.image.dims();
  dims.insert(dims.begin(), options.count);
  std::byte* data = nullptr;
  nb::object images = new_array(DType::f32, Shape(dims), &data);
  std::memcpy(data, samples.images.data(), samples.images.size() * sizeof(float));
  return images;
}

}  // namespace

void bind_recipes(nb::module_& m) {
  m.def("recipe_names", [] {
    std::vector<std::string> names;
    for (const Recipe& recipe : recipes()) names.emplace_back(recipe.name);
    return names;
  });
  m.def(
      "recipe",
      [](const std::string& name) {
        const Recipe& recipe = find_recipe(name);
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
        d["has_decoder"] = recipe.decoder != nullptr;
        d["latent"] = recipe.latent;
        return d;
      },
      nb::arg("name"), nb::sig("def recipe(name: str) -> dict[str, typing.Any]"));
  m.def(
      "recipe_graph",
      [](const std::string& name) { return std::make_shared<Graph>(find_recipe(name).build()); },
      nb::arg("name"));
  m.def(
      "recipe_decoder",
      [](const std::string& name) {
        const Recipe& recipe = find_recipe(name);
        if (recipe.decoder == nullptr) throw Error(name, "this recipe has no decoder");
        return std::make_shared<Graph>(recipe.decoder());
      },
      nb::arg("name"));
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
        return as_runtime_error([&] { return recipe.data(path.string(), part); });
      },
      nb::arg("name"), nb::arg("path"), nb::arg("split"));
  m.def(
      "recipe_sample",
      [](const std::string& name, const std::filesystem::path& checkpoint, int64_t count,
         uint64_t seed, const std::string& prompt, int64_t length, double temperature,
         int64_t top_k, int64_t steps, int threads) {
        if (count < 1) throw Error("count", "expected 1 or more, got " + std::to_string(count));
        return drawn(name, checkpoint.string(),
                     {.count = count,
                      .seed = seed,
                      .prompt = prompt,
                      .length = length,
                      .temperature = temperature,
                      .top_k = top_k,
                      .steps = steps,
                      .threads = threads});
      },
      nb::arg("name"), nb::arg("checkpoint"), nb::arg("count"), nb::arg("seed"), nb::arg("prompt"),
      nb::arg("length"), nb::arg("temperature"), nb::arg("top_k"), nb::arg("steps"),
      nb::arg("threads"));
}

}  // namespace thimble::python
