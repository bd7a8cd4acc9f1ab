// Programs of planned steps pass the check; each kind of broken one is named.
#include <gmock/gmock.h>
#include <thimble/recipes.h>

#include <chrono>
#include <functional>
#include <random>

#include "exec/program.h"
#include "ops/families/random/random.h"
#include "plan/transfer_ops.h"
#include "program/check.h"
#include "program/in_flight.h"
#include "program/program_files.h"
#include "program/regions.h"
#include "train/compile.h"

namespace thimble::program {
namespace {

Program step_of(const ir::Graph& model, const plan::Budget& budget = {}) {
  const ir::Graph graph = train::training_graph(model, {.batch = 4}, 4, train::StepKind::update);
  return exec::Program(graph, {.threads = 2, .budget = budget}).data();
}

// Swaps, with parameters and state in the file.
Program swapping() {
  const ir::Graph model = test::small_classifier().ir();
  plan::Budget budget{.bytes = 1};
  budget.swap = Swap::always;
  budget.least_staging_bytes = 4096;
  return step_of(model, budget);
}

TEST(program, of_every_recipe_may_run) {
  for (const Recipe& recipe : recipes()) {
    const std::string name = recipe.name;
    if (name == "resnet18" || name == "unet_ddpm" || name == "mobilenetv2") continue;  // slow test
    const ir::Graph model = recipe.build().ir();
    EXPECT_EQ(error_of(step_of(model)), "") << name;
  }
}

TEST(program, that_swaps_may_run) {
  const Program program = swapping();
  EXPECT_GT(program.transfers(), 0);
  EXPECT_FALSE(program.in_file.empty());
  EXPECT_EQ(error_of(program), "");
}

int tensor_in(const Program& program, Place place, bool is_source) {
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const Tensor& tensor = program.tensors[id];
    if (tensor.place == place && tensor.is_source == is_source && tensor.bytes() > 0)
      return static_cast<int>(id);
  }
  return -1;
}

int source_called(const Program& program, std::string_view name) {
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    if (program.tensors[id].is_source && program.tensors[id].name == name) {
      return static_cast<int>(id);
    }
  }
  return -1;
}

Call& call_of(Program& program, const std::function<bool(const Call&)>& wanted) {
  return *std::find_if(program.calls.begin(), program.calls.end(), wanted);
}

struct Break {
  const char* error;
  std::function<void(Program&)> apply;
};

TEST(program, that_is_broken_is_refused) {
  const Break breaks[] = {
      {"lies at",
       [](Program& p) {
         p.tensors[static_cast<size_t>(tensor_in(p, Place::arena, false))].at = p.arena_bytes;
       }},
      {"lies at",
       [](Program& p) {
         p.tensors[static_cast<size_t>(tensor_in(p, Place::arena, false))].at += 4;
       }},
      {"lies at", [](Program& p) { p.arena_bytes /= 2; }},
      {"out of range", [](Program& p) { p.tensors[0].type.shape = {int64_t{1} << 40}; }},
      {"too many elements",
       [](Program& p) {
         p.tensors[0].type.shape = {1 << 20, 1 << 20};
       }},
      {"no parameter or state", [](Program& p) { p.stored.clear(); }},
      {"type or name of its", [](Program& p) { p.stored[0].type.shape = {1}; }},
      {"no constant of",
       [](Program& p) {
         Tensor tensor = p.tensors[0];
         tensor.name = "c";
         tensor.place = Place::constant;
         tensor.at = static_cast<int64_t>(p.constants.size());
         p.tensors.push_back(tensor);
       }},
      {"which is no tensor", [](Program& p) { p.calls[0].inputs[0] = 1 << 20; }},
      {"which is no tensor", [](Program& p) { p.calls[0].outputs[0] = -1; }},
      {"which is gone", [](Program& p) { std::swap(p.calls[0], p.calls[3]); }},
      {"does not fit its op", [](Program& p) { p.calls[0].attrs = {}; }},
      {"is missing",
       [](Program& p) {
         Call& call = call_of(p, [](const Call& c) { return c.inputs.size() > 1; });
         call.inputs[1] = -1;
       }},
      {"takes at most", [](Program& p) { p.calls[0].inputs.assign(40, p.calls[0].inputs[0]); }},
      {"needs",
       [](Program& p) {
         Call& call = call_of(p, [](const Call& c) { return c.workspace_bytes > 64; });
         call.workspace_bytes = 64;
       }},
      {"workspace at",
       [](Program& p) {
         Call& call = call_of(p, [](const Call& c) { return c.workspace_bytes > 64; });
         call.workspace = p.arena_bytes;
       }},
      {"writes over its workspace",
       [](Program& p) {
         Call& call = call_of(p, [&p](const Call& c) {
           return c.workspace_bytes > 64 && p.tensor(c.outputs[0]).place == Place::arena;
         });
         call.workspace = p.tensor(call.outputs[0]).at;
         p.arena_bytes += call.workspace_bytes;
       }},
      {"again", [](Program& p) { p.calls.insert(p.calls.begin() + 1, p.calls[0]); }},
      {"elsewhere than where it lies",
       [](Program& p) {
         Call& call = call_of(p, [](const Call& c) { return !c.op->memory.updates.empty(); });
         call.outputs[0] = call.outputs[1];
       }},
      {"no tiled update that can be run",
       [](Program& p) {
         Call& call = call_of(p, [](const Call& c) { return c.tiled != nullptr; });
         Tiles tiles = *call.tiled;
         tiles.rows += 1;
         call.tiled = std::make_shared<const Tiles>(tiles);
       }},
      {"is gone at the end",
       [](Program& p) {
         p.outputs.emplace_back("y", *p.loss);
         p.calls.clear();
       }},
      {"two sources are called \"image\"",
       [](Program& p) {
         p.tensors[static_cast<size_t>(source_called(p, "digit"))].name = "image";
       }},
      {"two sources are called",
       [](Program& p) {
         p.tensors.push_back(p.tensors[static_cast<size_t>(source_called(p, "@lr"))]);
       }},
      {"two parameters or states are called",
       [](Program& p) { p.stored[1].name = p.stored[0].name; }},
      {"two results are called \"squares\"",
       [](Program& p) { p.metrics.emplace_back("squares", p.metrics[0].second); }},
      {"is no tensor", [](Program& p) { p.metrics.emplace_back("y", 1 << 20); }},
      {"no threads", [](Program& p) { p.threads = 0; }},
  };
  const Program sound = step_of(test::small_classifier().ir());
  ASSERT_EQ(error_of(sound), "");
  for (size_t i = 0; const Break& broken : breaks) {
    Program program = sound;
    broken.apply(program);
    EXPECT_THAT(error_of(program), testing::HasSubstr(broken.error)) << i++;
  }
}

// A file may ask for the update of what is mapped read-only.
TEST(program, that_updates_a_mapped_parameter_is_refused) {
  Graph g;
  const ir::OpDef& op = *ir::find_op("sgd_rounded_update");
  const Value param = g.parameter("w", {3}, init::zeros(), DType::i8);
  const Value inputs[] = {ops::rng_of(g.ir()), param, g.constant("grad", {3}, {1, 2, 3}),
                          g.constant("lr", {}, {1}),
                          g.constant("step", Array(std::vector<int32_t>{1}, Shape{}))};
  g.output("w", g.ir().add(op, ir::Attrs::defaults(op.signature.attrs), inputs)[0]);
  const Program program = exec::Program(g.ir(), {.threads = 1}).data();
  EXPECT_THAT(error_of(program), testing::HasSubstr("updates \"w\", which lies in a mapped file"));
}

TEST(program, whose_transfers_are_broken_is_refused) {
  const Break breaks[] = {
      {"of the swap file", [](Program& p) { p.slot_bytes.clear(); }},
      {"to or from a slot of", [](Program& p) { p.slot_bytes.assign(p.slot_bytes.size(), 1); }},
      {"less than nothing", [](Program& p) { p.slot_bytes[0] = -1; }},
      {"which is gone",
       [](Program& p) {
         // A value that is being read is written over before it is awaited.
         const auto read = std::find_if(p.calls.begin(), p.calls.end(), [](const Call& c) {
           return c.op == &plan::swap_read_op();
         });
         for (Tensor& tensor : p.tensors) {
           if (tensor.place == Place::arena && !tensor.is_source)
             tensor.at = p.tensor(read->outputs[0]).at;
         }
         p.arena_bytes += 1 << 26;
       }},
  };
  for (const Break& broken : breaks) {
    Program program = swapping();
    broken.apply(program);
    EXPECT_THAT(error_of(program),
                testing::AnyOf(testing::HasSubstr(broken.error), testing::HasSubstr("writes")))
        << broken.error;
  }
}

// A program that writes x to the swap file, reads it back as y, and computes v meanwhile.
Program moving() {
  const Shape shape{16};
  Program program;
  program.arena_bytes = 256;
  program.slot_bytes = {64, 64};
  const auto add = [&](const char* name, int64_t at, bool is_source) {
    Tensor tensor;
    tensor.name = std::string(name);
    tensor.type = {DType::f32, shape};
    tensor.is_source = is_source;
    tensor.place = Place::arena;
    tensor.at = at;
    program.tensors.push_back(tensor);
    return static_cast<int>(program.tensors.size()) - 1;
  };
  const int x = add("x", 0, true);
  const int z = add("z", 64, true);
  const int w = add("w", 128, false);
  const int raw = add("raw", 0, false);
  const int y = add("y", 0, false);
  const int v = add("v", 192, false);
  const ir::OpDef* const relu = ir::find_op("relu");
  const ir::Attrs plain = ir::Attrs::defaults(relu->signature.attrs);
  const ir::Attrs moved = ir::Attrs::of(plan::SwapAttrs{.slot = 0, .shape = shape});
  const auto call = [&](const ir::OpDef& op, const ir::Attrs& attrs, std::vector<int> inputs,
                        std::vector<int> outputs) {
    Call made;
    made.op = &op;
    made.attrs = attrs;
    made.inputs = std::move(inputs);
    made.outputs = std::move(outputs);
    program.calls.push_back(made);
  };
  call(plan::swap_write_op(), moved, {x}, {});
  call(*relu, plain, {z}, {w});
  call(plan::swap_written_op(), moved, {x}, {});
  call(plan::swap_read_op(), moved, {}, {raw});
  call(*relu, plain, {w}, {v});
  call(plan::swap_ready_op(), moved, {raw}, {y});
  program.outputs = {{"y", y}, {"v", v}};
  return program;
}

TEST(program, that_touches_memory_of_a_transfer_is_refused) {
  constexpr int64_t kOther = 1;
  const Break breaks[] = {
      {"reads \"raw\" while", [](Program& p) { p.calls[4].inputs = {3}; }},
      {"writes \"w\" while the memory of \"x\"",
       [](Program& p) {
         p.calls.erase(p.calls.begin() + 2);
         p.tensors[2].at = 0;
       }},
      {"writes \"raw\" while", [](Program& p) { p.calls.erase(p.calls.begin() + 2); }},
      {"reads \"raw\" while",
       [](Program& p) {
         p.calls[5].attrs =
             ir::Attrs::of(plan::SwapAttrs{.slot = kOther, .shape = p.tensors[4].type.shape});
       }},
      {"ends while \"raw\" is on its way",
       [](Program& p) {
         p.calls.pop_back();
         p.outputs.erase(p.outputs.begin());
       }},
      {"more bytes than a file can have",
       [](Program& p) { p.slot_bytes.assign(5, int64_t{1} << 46); }},
  };
  ASSERT_EQ(error_of(moving()), "");
  for (const Break& broken : breaks) {
    Program program = moving();
    broken.apply(program);
    EXPECT_THAT(error_of(program), testing::HasSubstr(broken.error)) << broken.error;
  }
  // A value that is being written to the file may be read.
  Program reading = moving();
  reading.calls[1].inputs = {0};
  EXPECT_EQ(error_of(reading), "");
}

TEST(in_flight, counts_ranges_as_a_list_of_them_does) {
  std::mt19937 random(1);
  std::vector<std::pair<int64_t, int64_t>> ranges(40);
  std::vector<int64_t> marks;
  for (auto& [first, last] : ranges) {
    first = static_cast<int64_t>(random() % 100);
    last = first + static_cast<int64_t>(random() % 20);
    marks.insert(marks.end(), {first, last});
  }
  RangeCounter counter(marks);
  std::vector<bool> is_in(ranges.size());
  int hits = 0;
  for (int i = 0; i < 4000; ++i) {
    const size_t which = random() % ranges.size();
    counter.add(ranges[which].first, ranges[which].second, is_in[which] ? -1 : 1);
    is_in[which] = !is_in[which];
    const auto first = static_cast<int64_t>(random() % 130) - 5;
    const int64_t last = first + static_cast<int64_t>(random() % 4);
    bool wanted = false;
    for (size_t r = 0; r < ranges.size(); ++r) {
      const bool is_empty = ranges[r].first == ranges[r].second || first == last;
      wanted =
          wanted || (is_in[r] && !is_empty && ranges[r].first < last && first < ranges[r].second);
    }
    ASSERT_EQ(counter.any(first, last), wanted) << first << " to " << last;
    hits += wanted ? 1 : 0;
  }
  EXPECT_GT(hits, 400);
  EXPECT_FALSE(RangeCounter({}).any(0, 1));
}

// A hostile file may begin more transfers than any step, and await none of them. To look at all of
// them for each call would take minutes.
TEST(in_flight, many_transfers_are_checked_fast) {
  constexpr int64_t kMany = 200'000;
  std::vector<Tensor> tensors(static_cast<size_t>(kMany));
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].type = {DType::u8, {64}};
    tensors[i].place = Place::arena;
    tensors[i].at = 64 * static_cast<int64_t>(i);
  }
  const auto start = std::chrono::steady_clock::now();
  InFlight in_flight(tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    ASSERT_EQ(in_flight.disturbed_by_write(tensors[i]), nullptr);
    in_flight.begin(tensors[i], static_cast<int64_t>(i), i % 2 == 0);
  }
  EXPECT_EQ(in_flight.disturbed_by_read(tensors[4]), &tensors[4]);
  EXPECT_EQ(in_flight.disturbed_by_read(tensors[5]), nullptr);
  EXPECT_EQ(in_flight.disturbed_by_write(tensors[5]), &tensors[5]);
  for (int64_t slot = 0; slot < kMany; ++slot) in_flight.await(slot);
  EXPECT_EQ(in_flight.any(), nullptr);
  EXPECT_EQ(in_flight.disturbed_by_write(tensors[5]), nullptr);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(seconds, 30.0);
}

TEST(regions, belong_to_their_last_writer) {
  Regions regions;
  EXPECT_TRUE(regions.holds(5, 5, 1));
  EXPECT_FALSE(regions.holds(0, 1, 1));
  regions.write(0, 100, 1);
  regions.write(100, 200, 1);
  EXPECT_TRUE(regions.holds(0, 200, 1));
  EXPECT_TRUE(regions.holds(50, 150, 1));
  EXPECT_FALSE(regions.holds(50, 201, 1));
  regions.write(40, 60, 2);
  EXPECT_TRUE(regions.holds(0, 40, 1));
  EXPECT_TRUE(regions.holds(40, 60, 2));
  EXPECT_TRUE(regions.holds(60, 200, 1));
  EXPECT_FALSE(regions.holds(39, 41, 1));
  EXPECT_FALSE(regions.holds(59, 61, 1));
  regions.write(0, 300, 3);
  EXPECT_TRUE(regions.holds(0, 300, 3));
}

}  // namespace
}  // namespace thimble::program
