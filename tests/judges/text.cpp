// SPDX-License-Identifier: Apache-2.0
#include "judges/text.hpp"

#include <charconv>
#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace holdfast::test {
namespace {

class Table {
 public:
  Table() { number("", true); }

  std::uint32_t number(std::string_view text, bool exclusive = false) {
    if (!exclusive) {
      const std::shared_lock guard(mutex_);
      if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    }
    const std::lock_guard guard(mutex_);
    if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
    const std::string& kept = texts_.emplace_back(text);
    return numbers_[kept] = static_cast<std::uint32_t>(texts_.size() - 1);
  }
  const std::string& text(std::uint32_t number) {
    const std::shared_lock guard(mutex_);
    return texts_[number];
  }

 private:
  std::shared_mutex mutex_;
  std::deque<std::string> texts_;  // stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

Table& table() {
  static Table instance;
  return instance;
}

}  // namespace

Text::Text(std::string_view text) : number_(table().number(text)) {}
Text::Text(const std::string& text) : Text(std::string_view(text)) {}
Text::Text(const char* text) : Text(std::string_view(text)) {}
Text::operator const std::string&() const { return table().text(number_); }

Owner::Owner(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  // As many digits as a number that is written back in the same way.
  const bool plain = !digits.empty() && digits.size() < 19 && (digits.size() == 1 || digits.front() != '0');
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number_);
  if (plain && error == std::errc() && end == digits.data() + digits.size()) {
    client_ = text.substr(0, colon);
  } else {
    number_ = kNone;
    client_ = text;
  }
}

std::string Owner::str() const {
  return number_ == kNone ? client_.str() : client_.str() + ":" + std::to_string(number_);
}

}  // namespace holdfast::test
