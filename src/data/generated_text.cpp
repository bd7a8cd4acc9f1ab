#include <thimble/data_text.h>
#include <thimble/error.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "data/random.h"

namespace thimble::data {
namespace {

constexpr uint64_t kTextStream = 0x7e87;

constexpr std::array kNames = {"Ada",  "Ben", "Cleo", "Dora", "Emil", "Finn", "Greta", "Hugo",
                               "Ivy",  "Jon", "Kira", "Leo",  "Mia",  "Nils", "Olga",  "Paul",
                               "Rosa", "Sam", "Tara", "Uma",  "Vera", "Wim",  "Yara",  "Zeno"};
constexpr std::array kThings = {"kite",   "drum",   "boat",  "lamp", "clock", "basket", "pencil",
                                "ladder", "mirror", "wagon", "bell", "piano", "sweater"};
constexpr std::array kColours = {"red",    "blue",  "green", "white",
                                 "yellow", "brown", "grey",  "purple"};
constexpr std::array kPlaces = {"garden",  "kitchen", "forest", "harbour", "market",
                                "village", "library", "barn",   "meadow",  "station"};
constexpr std::array kAnimals = {"fox",   "hen",    "goat",  "mouse", "heron",
                                 "otter", "beetle", "raven", "donkey"};
constexpr std::array kFruits = {"apples", "plums", "nuts", "pears", "cherries", "figs"};
constexpr std::array kVerbs = {"slept", "waited", "sang", "danced", "rested", "played"};
constexpr std::array kNumbers = {"no",    "one",   "two",  "three", "four",   "five",  "six",
                                 "seven", "eight", "nine", "ten",   "eleven", "twelve"};
// Words of one line rhyme.
constexpr std::array<std::array<const char*, 4>, 6> kRhymes = {{
    {"door", "floor", "shore", "store"},
    {"hill", "mill", "sill", "till"},
    {"tree", "sea", "bee", "key"},
    {"stone", "throne", "bone", "cone"},
    {"wall", "hall", "stall", "ball"},
    {"well", "shell", "cell", "bell"},
}};

// Writes pieces of text by random choices and counts what the choices take.
class Writer {
 public:
  explicit Writer(Random random) : random_(random) {}

  void piece() {
    switch (draw(5)) {
      case 0:
        return story();
      case 1:
        return sum();
      case 2:
        return backwards();
      case 3:
        return brackets();
      default:
        return rhyme();
    }
  }

  std::string text;
  double nats = 0.0;

 private:
  // One of n, each as likely; what is drawn must show in the text.
  size_t draw(size_t n) {
    nats += std::log(static_cast<double>(n));
    return random_.below(n);
  }
  // One that is not `taken`.
  size_t draw_other(size_t n, size_t taken) {
    const size_t drawn = draw(n - 1);
    return drawn + (drawn >= taken ? 1 : 0);
  }
  template <class List>
  const char* one_of(const List& list) {
    return list[draw(list.size())];
  }
  template <class... Parts>
  void write(const char* pattern, const Parts&... parts) {
    text += fmt::format(fmt::runtime(pattern), parts...);
  }

  // Somebody asks for what another has; the end follows from the answer.
  void story() {
    const size_t owner_index = draw(kNames.size());
    const char* const owner = kNames[owner_index];
    const char* const colour = one_of(kColours);
    const char* const thing = one_of(kThings);
    const char* const place = one_of(kPlaces);
    write("{} took a {} {} to the {}. ", owner, colour, thing, place);
    const char* const guest = kNames[draw_other(kNames.size(), owner_index)];
    write("In the {} sat {}. \"May I have the {} {}?\" asked {}. ", place, guest, colour, thing,
          guest);
    const bool gives = draw(2) == 0;
    write("\"{}, {},\" said {}. So now the {} {} belongs to {}.\n", gives ? "Yes" : "No", guest,
          owner, colour, thing, gives ? guest : owner);
  }

  // Small numbers that add up.
  void sum() {
    const char* const name = one_of(kNames);
    const char* const fruit = one_of(kFruits);
    const size_t first = 1 + draw(6);
    const size_t second = 1 + draw(6);
    write("{} has {} {} and finds {} more: {} and {} make {}. ", name, kNumbers[first], fruit,
          kNumbers[second], kNumbers[first], kNumbers[second], kNumbers[first + second]);
    const size_t eaten = draw(first + second + 1);
    write("{} eats {} and keeps {} {}.\n", name, kNumbers[eaten], kNumbers[first + second - eaten],
          fruit);
  }

  // Four things, and the same from the last to the first.
  void backwards() {
    std::array<const char*, 4> things{};
    for (const char*& thing : things) thing = one_of(kThings);
    write("Say {}, {}, {}, {} backwards: {}, {}, {}, {}!\n", things[0], things[1], things[2],
          things[3], things[3], things[2], things[1], things[0]);
  }

  // Brackets of three kinds, closed in the opposite order.
  void brackets() {
    static constexpr std::array<std::string_view, 3> kPairs = {"()", "[]", "{}"};
    constexpr size_t kDeepest = 6;
    constexpr size_t kLongest = 24;
    std::string open;  // what has to be closed, the next one last
    text += "Nest: ";
    for (size_t length = 0; length < kLongest; ++length) {
      // The text alone tells which of these choices there were.
      const size_t kinds = open.size() < kDeepest ? kPairs.size() : 0;
      const size_t choice = open.empty() ? draw(kPairs.size()) : draw(kinds + 1);
      if (choice < kinds) {
        text += kPairs[choice][0];
        open += kPairs[choice][1];
      } else {
        text += open.back();
        open.pop_back();
      }
    }
    text.append(open.rbegin(), open.rend());
    text += ".\n";
  }

  // Two lines whose last words rhyme.
  void rhyme() {
    const size_t animal = draw(kAnimals.size());
    const char* const verb = one_of(kVerbs);
    const auto& family = kRhymes[draw(kRhymes.size())];
    const size_t word = draw(family.size());
    write("The {} {} by the {},\n", kAnimals[animal], verb, family[word]);
    const char* const other = kAnimals[draw_other(kAnimals.size(), animal)];
    const char* const other_verb = one_of(kVerbs);
    write("the {} {} by the {}.\n", other, other_verb, family[draw_other(family.size(), word)]);
  }

  Random random_;
};

}  // namespace

GeneratedText generated_text(int64_t bytes, uint64_t seed) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (bytes < 1 || bytes > kMost) {
    throw Error("generated_text",
                fmt::format("{} bytes asked for; at least 1, at most 2^40", bytes));
  }
  Writer writer(Random(key_of(kTextStream, seed)));
  while (static_cast<int64_t>(writer.text.size()) < bytes) writer.piece();
  const double nats = writer.nats / static_cast<double>(writer.text.size());
  return {std::move(writer.text), nats};
}

}  // namespace thimble::data
