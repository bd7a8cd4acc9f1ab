#include <thimble/ops/upsample2d.h>

#include "ir/function_def.h"
#include "ops/upsample2d/attrs.h"

namespace thimble {

void describe(Upsample1dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size, "of the result; 0: found from scale");
  v.field("scale", o.scale, "0: result / input");
  v.enumeration("mode", o.mode, kUpsamplings, "how steps are found; bilinear: linear");
  v.field("align_corners", o.align_corners, "of bilinear: the ends' middles stay in place");
}

void describe(Upsample3dOptions& o, ir::FieldVisitor& v) {
  v.field("size", o.size,
          "of the result: one number, or depth, height and width; none: from scale");
  v.field("scale", o.scale, "0: result / input");
  v.enumeration("mode", o.mode, kUpsamplings, "how cells are found; bilinear: trilinear");
  v.field("align_corners", o.align_corners, "of bilinear: the corners' middles stay in place");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(upsample2d) {
  static const FunctionDef upsample1d_function{
      .name = "upsample1d",
      .doc = "Sequences of another length: every step is the nearest, or lies between two.",
      .example = "auto y = upsample1d(x, {.scale = 2});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3}},
      .outputs = {{.name = "y", .doc = "[N, Q, C]", .batch_rank = 3}},
      .options = ir::OptionSchema::of<Upsample1dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {upsample1d(in[0], options_as<Upsample1dOptions>(options))};
      },
  };
  static const FunctionDef upsample3d_function{
      .name = "upsample3d",
      .doc =
          "Volumes of another size: every cell is the nearest, or lies between the eight around "
          "its place (bilinear). Equal to torch.nn.functional.interpolate.",
      .example = "auto y = upsample3d(x, {.scale = 2, .mode = Upsampling::bilinear});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, C]", .batch_rank = 5}},
      .options = ir::OptionSchema::of<Upsample3dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {upsample3d(in[0], options_as<Upsample3dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&upsample1d_function, &upsample3d_function};
  return defs;
}
