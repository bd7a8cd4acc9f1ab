// Texts as the numbers of tokens.
#include <thimble/tokenizer.h>

#include <cstring>
#include <span>

#include "bindings.h"

namespace thimble::python {

void bind_tokenizer(nb::module_& m) {
  nb::class_<Tokenizer>(m, "Tokenizer",
                        "A byte-level BPE tokenizer, with the words of GPT-2, LLaMA 3 or Qwen2, of "
                        "a tokenizer.json of "
                        "Hugging Face. Needs no package. Raises RuntimeError naming file and field "
                        "where it is damaged "
                        "or asks for anything else: load_tokenizer reads those.")
      .def(
          "__init__",
          [](Tokenizer* self, const std::filesystem::path& path) {
            from_file(path, [&] { new (self) Tokenizer(path.string()); });
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def(
          "encode",
          [](const Tokenizer& self, const nb::object& text) {
            const std::vector<int32_t> tokens = self.encode(bytes_of(text, "Tokenizer", "text"));
            std::byte* data = nullptr;
            nb::object made = new_array(DType::i32, {static_cast<int64_t>(tokens.size())}, &data);
            if (!tokens.empty()) std::memcpy(data, tokens.data(), tokens.size() * sizeof(int32_t));
            return made;
          },
          nb::arg("text"),
          nb::sig("def encode(self, text: str | bytes) -> numpy.typing.NDArray[numpy.int32]"),
          "The tokens of a text. Where it has the content of an added token, such as "
          "\"<|endoftext|>\", it becomes that one. No others are added.")
      .def(
          "decode",
          [](const Tokenizer& self, const std::vector<int32_t>& tokens) {
            const std::string text = self.decode(tokens);
            return nb::steal(
                PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
          },
          nb::arg("tokens"),
          nb::sig("def decode(self, tokens: collections.abc.Sequence[int] | "
                  "numpy.typing.NDArray[numpy.int32]) -> str"),
          "The text of tokens; special ones are left out. Raises ValueError for a number that is "
          "no "
          "token.")
      .def_prop_ro("size", &Tokenizer::size, "One more than the largest number of a token.");
}

}  // namespace thimble::python
