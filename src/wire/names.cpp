#include "wire/names.hpp"

namespace holdfast::wire {

std::string prefixed(std::string_view prefix, std::string_view name) {
  std::string out;
  out.reserve(prefix.size() + name.size() + 3);
  out.append(prefix);
  if (name.find('{') != std::string_view::npos) return out.append(":").append(name);
  return out.append(":{").append(name).append("}");
}

std::string suffixed(std::string_view name, std::string_view suffix) {
  std::string out;
  out.reserve(name.size() + suffix.size() + 3);
  if (name.find('{') != std::string_view::npos) {
    out.append(name);
  } else {
    out.append("{").append(name).append("}");
  }
  return out.append(":").append(suffix);
}

std::string once_key(std::string_view name, std::string_view operation) {
  constexpr std::string_view kWord = ":holdfast_once:";
  const bool whole = name.find('}') == std::string_view::npos;  // the slot of such a name is that of the whole name
  std::string out;
  out.reserve(name.size() + kWord.size() + operation.size() + 2);
  if (whole) out.append("{");
  out.append(name);
  if (whole) out.append("}");
  return out.append(kWord).append(operation);
}

}  // namespace holdfast::wire
