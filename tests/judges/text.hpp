// SPDX-License-Identifier: Apache-2.0
// Texts that come again and again, as numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace holdfast::test {

/// A text that is kept once for the whole program: a record of ten million lines has few different names. Copied and
/// compared as a number; the order is that of their first use. Thread-safe.
class Text {
 public:
  Text() = default;
  Text(std::string_view text);          // NOLINT(google-explicit-constructor): it is a text
  Text(const std::string& text);        // NOLINT(google-explicit-constructor)
  Text(const char* text);               // NOLINT(google-explicit-constructor)
  operator const std::string&() const;  // NOLINT(google-explicit-constructor)

  const std::string& str() const { return *this; }
  bool starts_with(std::string_view prefix) const { return str().starts_with(prefix); }
  bool empty() const { return number_ == 0; }
  std::uint32_t number() const { return number_; }

  friend bool operator==(Text, Text) = default;
  friend bool operator==(Text a, std::string_view b) { return a.str() == b; }
  friend bool operator==(Text a, const std::string& b) { return a.str() == b; }
  friend bool operator==(Text a, const char* b) { return a.str() == b; }
  friend std::strong_ordering operator<=>(Text, Text) = default;
  friend std::ostream& operator<<(std::ostream& out, Text text) { return out << text.str(); }

 private:
  std::uint32_t number_ = 0;  // of the empty text
};

/// `<client>:<number>`, as on the wire; or any other text.
class Owner {
 public:
  Owner() = default;
  Owner(std::string_view text);  // NOLINT(google-explicit-constructor): it is a text
  Owner(const std::string& text) : Owner(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  Owner(const char* text) : Owner(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)

  std::string str() const;
  friend bool operator==(const Owner&, const Owner&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Owner& owner) { return out << owner.str(); }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  std::uint64_t number_ = kNone;
  Text client_;
};

}  // namespace holdfast::test

template <>
struct std::hash<holdfast::test::Text> {
  std::size_t operator()(holdfast::test::Text text) const noexcept { return text.number(); }
};
