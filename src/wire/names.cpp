#include "wire/names.hpp"

namespace holdfast::wire {

std::string prefixed(std::string_view prefix, std::string_view name) {
  std::string out;
  out.reserve(prefix.size() + name.size() + 3);
  out.append(prefix);
  if (name.find('{') != std::string_view::npos) return out.append(":").append(name);
  return out.append(":{").append(name).append("}");
}

}  // namespace holdfast::wire
