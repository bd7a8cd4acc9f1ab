#include <thimble/ops/sort.h>

#include "ir/function_def.h"

namespace thimble {

void describe(SortOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("axis", options.axis, "along which elements are sorted");
  visitor.field("descending", options.descending, "the largest first");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(sort) {
  static const FunctionDef sort_function{
      .name = "sort",
      .doc =
          "The elements of every line along an axis in order, and where they stood; equal "
          "elements keep their order, NaN counts as the largest.",
      .example = "auto [values, indices] = sort(x, {.descending = true});",
      .inputs = {{.name = "x", .doc = "at least one dimension", .types = ir::kNumberTypes}},
      .outputs = {{"values", "the shape of x"}, {"indices", "the shape of x, i32"}},
      .options = ir::OptionSchema::of<SortOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const Sorted sorted = sort(in[0], options_as<SortOptions>(options));
        return {sorted.values, sorted.indices};
      },
  };
  static const FunctionDef argsort_function{
      .name = "argsort",
      .doc = "Where the elements of every line along an axis stand, from the least on.",
      .example = "auto order = argsort(x);",
      .inputs = {{.name = "x", .doc = "at least one dimension", .types = ir::kNumberTypes}},
      .outputs = {{"indices", "the shape of x, i32"}},
      .options = ir::OptionSchema::of<SortOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {argsort(in[0], options_as<SortOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&sort_function, &argsort_function};
  return defs;
}
