// The named models.
#include <nanobind/stl/shared_ptr.h>
#include <thimble/recipes.h>

#include "bindings.h"

namespace thimble::python {

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
}

}  // namespace thimble::python
