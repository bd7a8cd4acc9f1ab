#include "emit/c_library.h"

#include <fmt/format.h>
#include <thimble/error.h>

#include <algorithm>
#include <regex>
#include <utility>

namespace thimble::emit {
namespace {

constexpr const char* kFloat = "float";

// `real` of the namespaces in which a ref.h is compiled (families/builder/both_precisions.h).
constexpr std::pair<std::string_view, const char*> kReals[] = {
    {"f32", kFloat},    {"i8", "int8_t"},  {"i16", "int16_t"}, {"i32", "int32_t"},
    {"i64", "int64_t"}, {"u8", "uint8_t"}, {"u32", "uint32_t"}};

// `wide` beside it.
std::string wide_of(const std::string& real) {
  if (real == kFloat) return kFloat;
  return real == "int64_t" ? "uint64_t" : "uint32_t";
}

std::string suffix_of(const std::string& real) {
  for (const auto& [space, type] : kReals) {
    if (real == type) return real == kFloat ? "" : "_" + std::string(space);
  }
  return "";
}

// Functions of <math.h> that kernels call.
bool is_c_math(std::string_view name) {
  constexpr std::string_view kNames =
      " acos acosh asin asinh atan atan2 atanh ceil cos cosh erf erfc exp exp2 expm1 fabs floor "
      "fmax "
      "fmin fmod log log10 log1p log2 pow rint sin sinh sqrt tan tanh trunc ";
  return kNames.find(" " + std::string(name) + " ") != std::string_view::npos;
}

bool ends_with_dir(std::string_view path) { return path.ends_with("/ref.h"); }

// The folder of "ops/<op>/ref.h".
std::string folder_of(std::string_view path) {
  if (!ends_with_dir(path)) return "";
  path.remove_suffix(std::string_view("/ref.h").size());
  return std::string(path.substr(path.rfind('/') + 1));
}

bool mentions_real(const CItem& item) {
  bool found = false;
  for_each_identifier(item.text, [&](const CIdentifier& name) {
    found = found || name.name == "real" || name.name == "wide";
  });
  return found;
}

bool fits(const CItem& item, const CIdentifier& name) {
  if (name.is_member) return false;
  if (std::find(item.names.begin(), item.names.end(), name.name) == item.names.end()) return false;
  switch (item.kind) {
    case CItem::Kind::function:
      // The name may be an argument of a macro. A variable may have the name of another function.
      return name.is_called || item.text.starts_with("static inline");
    case CItem::Kind::macro:
      return name.is_called || macro_of(item).parameters.empty();
    case CItem::Kind::type:
    case CItem::Kind::data:
      return true;
    case CItem::Kind::invocation:
      return false;
  }
  return false;
}

}  // namespace

KernelName kernel_name_of(std::string_view spelled) {
  const std::string all(spelled);
  const size_t equals = spelled.find("kernel = ");
  if (equals == std::string_view::npos) throw Error("kernel", "has no C source: " + all);
  spelled.remove_prefix(equals + std::string_view("kernel = ").size());
  spelled = spelled.substr(0, spelled.find_first_of(";]"));
  std::vector<std::string_view> parts;
  while (!spelled.empty()) {
    const size_t end = spelled.find("::");
    parts.push_back(trimmed(spelled.substr(0, end)));
    spelled.remove_prefix(end == std::string_view::npos ? spelled.size() : end + 2);
  }
  KernelName name;
  if (parts.empty() || parts.back().find_first_of("<(") != std::string_view::npos) {
    throw Error("kernel", "has no C source: " + all);
  }
  name.symbol = parts.back();
  for (std::string_view part : parts) {
    if (part.ends_with("_impl")) {
      part.remove_suffix(std::string_view("_impl").size());
      name.folder = part;
    }
    for (const auto& [space, type] : kReals) {
      if (part == space) name.real = type;
    }
  }
  if (name.real.empty()) throw Error("kernel", "has no C source: " + all);
  return name;
}

namespace {

constexpr std::string_view kOverlays[] = {"micro.h", "cortex_m_dsp.h", "helium.h"};

// Whether a file's name is that of an overlay, such as "micro.h" or "conv_micro.h".
bool is_overlay(std::string_view path, std::string_view overlay) {
  if (!path.ends_with(overlay)) return false;
  path.remove_suffix(overlay.size());
  return path.ends_with('/') || path.ends_with('_');
}

}  // namespace

std::vector<std::string> overlays_of(std::string_view target) {
  if (target == "c99" || target == "riscv") return {"micro.h"};
  if (target == "cortex-m-dsp") return {"micro.h", "cortex_m_dsp.h"};
  if (target == "helium") return {"micro.h", "cortex_m_dsp.h", "helium.h"};
  return {};
}

CLibrary::CLibrary(std::string_view target) {
  const std::vector<std::string> overlays = overlays_of(target);
  for (const KernelText& text : kernel_texts()) {
    if (text.path.starts_with("micro/")) continue;
    const auto is_of = [&text](std::string_view overlay) { return is_overlay(text.path, overlay); };
    if (std::any_of(std::begin(kOverlays), std::end(kOverlays), is_of) &&
        std::none_of(overlays.begin(), overlays.end(), is_of)) {
      continue;
    }
    // What a C file includes for the kernels of one op: it gives them the mathematics of
    // families/math.
    if (text.path.ends_with("/ref_c.h")) {
      has_own_math_ = true;
      continue;
    }
    files_.push_back({text.path, text.text, folder_of(text.path)});
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    if (ends_with_dir(files_[i].path)) continue;
    const Scope scope{i, kFloat};
    // Invocations need the macros of all files.
    std::vector<CItem> all = items_of(files_[i].text, false);
    for (size_t n = 0; n < all.size(); ++n) {
      for (const std::string& name : all[n].names) {
        if (all[n].kind != CItem::Kind::invocation) shared_[name].push_back({scope, n});
      }
    }
    items_[scope] = std::move(all);
  }
  for (const std::string& overlay : overlays) {
    for (size_t i = 0; i < files_.size(); ++i) {
      if (!is_overlay(files_[i].path, overlay)) continue;
      const Scope scope{i, kFloat};
      const std::vector<CItem>& all = items_[scope];
      for (size_t n = 0; n < all.size(); ++n) {
        if (all[n].kind == CItem::Kind::function) overlays_[all[n].names.front()] = {scope, n};
      }
    }
  }
}

const std::vector<CItem>& CLibrary::items(const Scope& scope) {
  const auto known = items_.find(scope);
  if (known != items_.end()) return known->second;
  std::vector<CItem> all = items_of(files_[scope.first].text, scope.second != kFloat);
  expand_invocations(scope, all);
  return items_[scope] = std::move(all);
}

void CLibrary::expand_invocations(const Scope& scope, std::vector<CItem>& all) {
  std::vector<CItem> made;
  bool changed = false;
  for (CItem& each : all) {
    if (each.kind != CItem::Kind::invocation) {
      made.push_back(std::move(each));
      continue;
    }
    const CIdentifier name{each.names.front(), true, false};
    const CItem* macro = nullptr;
    for (const CItem& other : made) {
      if (other.kind == CItem::Kind::macro && fits(other, name)) macro = &other;
    }
    Key found;
    if (macro == nullptr && find_in({files_.size(), scope.second}, name, found)) {
      macro = &item(found);
    }
    if (macro == nullptr || macro->kind != CItem::Kind::macro) continue;
    std::vector<CItem> more = items_of(expanded(macro_of(*macro), each), scope.second != kFloat);
    if (!more.empty() && more.front().comment.empty()) more.front().comment = each.comment;
    made.insert(made.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
    changed = true;
  }
  all = std::move(made);
  if (changed) expand_invocations(scope, all);
}

bool CLibrary::find_in(const Scope& scope, const CIdentifier& name, Key& found) {
  if (scope.first < files_.size()) {
    const std::vector<CItem>& all = items(scope);
    for (size_t n = 0; n < all.size(); ++n) {
      if (!fits(all[n], name)) continue;
      found = {scope, n};
      return true;
    }
    return false;
  }
  const auto shared = shared_.find(name.name);
  if (shared == shared_.end()) return false;
  for (const Key& key : shared->second) {
    if (!fits(item(key), name)) continue;
    found = key;
    return true;
  }
  return false;
}

void CLibrary::choose_real(Key& key, const std::string& real) {
  if (key.scope.second == real || !mentions_real(item(key))) return;
  Key other = key;
  other.scope.second = real;
  // The same item of the other scope, whose conditional parts may differ.
  const std::string name = item(key).names.front();
  const std::vector<CItem>& all = items(other.scope);
  for (other.item = 0; other.item < all.size(); ++other.item) {
    const std::vector<std::string>& names = all[other.item].names;
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    key = other;
    return;
  }
}

bool CLibrary::find_overlay(const CIdentifier& name, Key& found) const {
  const auto overlay = overlays_.find(name.name);
  if (!name.is_called || name.is_member || overlay == overlays_.end()) return false;
  found = overlay->second;
  return true;
}

bool CLibrary::find(const Scope& scope, const CIdentifier& name, Key& found) {
  if (scope.second == kFloat && find_overlay(name, found)) return true;
  if (find_in(scope, name, found)) return true;
  if (!find_in({files_.size(), scope.second}, name, found)) return false;
  choose_real(found, scope.second);
  return true;
}

bool CLibrary::find_function(const KernelName& kernel, Key& found) {
  const CIdentifier name{kernel.symbol, true, false};
  for (size_t i = 0; i < files_.size(); ++i) {
    if (kernel.folder.empty() || files_[i].folder != kernel.folder) continue;
    if (find_in({i, kernel.real}, name, found)) return true;
  }
  if (!find_in({files_.size(), kernel.real}, name, found)) return false;
  choose_real(found, kernel.real);
  return true;
}

std::string CLibrary::unused_name(const Key& key, const std::string& name) {
  const std::string folder = files_[key.scope.first].folder;
  std::string wanted = name;
  if (item(key).kind != CItem::Kind::type) wanted += suffix_of(key.scope.second);
  if (used_names_.count(wanted) > 0 && !folder.empty()) wanted += "_" + folder;
  while (!used_names_.insert(wanted).second) wanted += "_";
  return wanted;
}

std::string CLibrary::text_of(const Key& key) {
  const Scope scope = key.scope;
  const std::string& real = scope.second;
  const CItem& of = item(key);
  return with_identifiers(of.text, [&](const CIdentifier& name) -> std::string {
    if (name.name == "real" && !name.is_member) return real;
    if (name.name == "wide" && !name.is_member) return wide_of(real);
    Key found;
    if (!find(scope, name, found)) {
      // Functions of <math.h> are our own where there are some.
      const std::string own = "math_" + std::string(name.name);
      const bool may_have = real == kFloat && name.is_called && !name.is_member;
      if (may_have && has_own_math_ && find(scope, {own, true}, found)) return need(found);
      uses_c_math_ = uses_c_math_ || (may_have && is_c_math(name.name));
      return std::string(name.name);
    }
    if (found == key) return name.name == of.names.front() ? names_[key] : std::string(name.name);
    const std::string& known = need(found);
    const bool is_first = item(found).names.front() == name.name;
    return is_first ? known : std::string(name.name);
  });
}

const std::string& CLibrary::need(const Key& key) {
  const auto known = names_.find(key);
  if (known != names_.end()) return known->second;
  const CItem of = item(key);
  const std::string& name = names_[key] = unused_name(key, of.names.front());
  std::string text = text_of(key);
  // A macro that a definition uses stands before it.
  texts_.push_back((of.comment.empty() ? "" : of.comment + "\n") + text + "\n");
  return name;
}

CLibrary::Function CLibrary::add(const KernelName& kernel) {
  Key key;
  const bool has_overlay = kernel.real == kFloat && find_overlay({kernel.symbol, true}, key);
  if (!has_overlay && !find_function(kernel, key)) {
    throw Error("kernel", fmt::format("there is no C source of {}", kernel.symbol));
  }
  Function made{need(key), {}};
  const std::string text = without_comments(text_of(key));
  const size_t open = text.find('(');
  const size_t close = text.find(')', open);
  made.parameters = split_arguments(std::string_view(text).substr(open + 1, close - open - 1));
  return made;
}

std::string CLibrary::add_type(const std::string& name) {
  Key key;
  bool found = find_in({files_.size(), kFloat}, {name}, key);
  for (size_t i = 0; i < files_.size() && !found; ++i) {
    found = !files_[i].folder.empty() && find_in({i, kFloat}, {name}, key);
  }
  if (!found || item(key).kind != CItem::Kind::type) return "";
  need(key);
  return without_comments(item(key).text);
}

std::string CLibrary::constant_value(const std::string& name) {
  Key key;
  if (!find_in({files_.size(), kFloat}, {name}, key)) return "";
  const CItem& found = item(key);
  if (found.kind == CItem::Kind::macro) {
    return std::string(trimmed(without_comments(macro_of(found).body)));
  }
  std::smatch match;
  const std::regex enumerator("\\b" + name + R"(\s*=\s*(\w+))");
  return std::regex_search(found.text, match, enumerator) ? match[1].str() : "";
}

std::string CLibrary::tail_of(const KernelName& kernel) {
  Key key;
  if (!find_function(kernel, key)) return "";
  std::string text = item(key).text;
  const Scope scope = key.scope;
  for_each_identifier(item(key).text, [&](const CIdentifier& name) {
    Key found;
    if (find(scope, name, found) && item(found).kind == CItem::Kind::macro) {
      text += item(found).text;
    }
  });
  static const std::regex behind(R"(\(const (\w+)\*\)\(const void\*\)\s*\(+\w+\)? \+ 1\))");
  std::smatch match;
  return std::regex_search(text, match, behind) ? match[1].str() : "";
}

std::string CLibrary::text() const {
  std::string all;
  for (const std::string& text : texts_) all += (all.empty() ? "" : "\n") + text;
  return all;
}

}  // namespace thimble::emit
