// Text for people: names that may hold any bytes, made printable.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::base {

/// The bytes in double quotes; control characters, quotes, backslashes and broken UTF-8 as escapes (`\n`, `\x00`).
std::string quote(std::string_view bytes);

}  // namespace holdfast::base
