#include <fmt/format.h>
#include <thimble/tokenizer.h>

#include <memory>

#include "commands.h"
#include "console.h"
#include "io/atomic_file.h"
#include "io/safetensors/safetensors.h"
#include "options.h"

namespace thimble::cli {
namespace {

constexpr size_t kMostTextBytes = size_t{1} << 30;

struct TokenizeArguments {
  std::string tokenizer;
  std::vector<std::string> texts;
  std::string out;
  int64_t tokens = 256;
  bool json = false;
};

int run_tokenize(const TokenizeArguments& options) {
  const Tokenizer tokenizer(options.tokenizer);
  std::vector<int32_t> all;
  for (const std::string& path : options.texts) {
    const std::vector<int32_t> tokens = tokenizer.encode(io::read_file(path, kMostTextBytes));
    all.insert(all.end(), tokens.begin(), tokens.end());
  }
  const int64_t samples = (static_cast<int64_t>(all.size()) - 1) / options.tokens;
  if (all.empty() || samples < 1) {
    throw Error(options.texts.front(),
                fmt::format("the texts have {} tokens; a sample needs {} and the one behind them",
                            all.size(), options.tokens));
  }
  const Shape shape{samples, options.tokens};
  const auto bytes_from = [&](size_t first) {
    const auto count = static_cast<size_t>(shape.elements());
    return std::as_bytes(std::span<const int32_t>(all).subspan(first, count));
  };
  const io::TensorView views[] = {
      {.name = "input_ids", .dtype = DType::i32, .shape = shape, .bytes = bytes_from(0)},
      {.name = "next", .dtype = DType::i32, .shape = shape, .bytes = bytes_from(1)}};
  io::write_safetensors(options.out, views, {});
  if (options.json) {
    print_json({{"file", options.out},
                {"samples", samples},
                {"tokens", static_cast<int64_t>(all.size())},
                {"vocabulary", tokenizer.size()}});
    return kOk;
  }
  fmt::print("{} samples of {} tokens in {}\n", samples, options.tokens, options.out);
  return kOk;
}

}  // namespace

void add_tokenize(CLI::App& app, Action& action) {
  auto options = std::make_shared<TokenizeArguments>();
  CLI::App* command =
      app.add_subcommand("tokenize", "Write the tokens of texts as samples for a language model");
  command
      ->add_option("tokenizer", options->tokenizer,
                   "tokenizer.json of Hugging Face: byte-level BPE, as of GPT-2 and LLaMA 3")
      ->required()
      ->type_name("FILE");
  command->add_option("texts", options->texts, "texts in UTF-8, one after another")
      ->required()
      ->type_name("TEXT");
  command
      ->add_option("-o,--out", options->out,
                   "the safetensors file to write: input_ids, and next, the same shifted by one")
      ->required()
      ->type_name("FILE");
  command->add_option("--tokens", options->tokens, "tokens of a sample [256]")
      ->check(whole_number(1))
      ->type_name("N");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->footer(
      "Example:\n"
      "  thimble tokenize llama-folder/tokenizer.json book.txt -o samples.safetensors");
  command->callback([&action, options] { action = [options] { return run_tokenize(*options); }; });
}

}  // namespace thimble::cli
