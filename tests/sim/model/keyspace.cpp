// SPDX-License-Identifier: Apache-2.0
#include "sim/model/keyspace.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace holdfast::test {
namespace {

constexpr const char* kNoNumber = "ERR value is not an integer or out of range";

auto find_field(auto& value, std::string_view name) {
  return std::ranges::find(value.fields, name, [](const auto& field) { return std::string_view(field.first); });
}

}  // namespace

std::optional<std::int64_t> to_number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

Keyspace::Value* Keyspace::live(std::string_view key) {
  const auto found = table_.find(key);
  if (found == table_.end()) return nullptr;
  if (found->second.expires == kNever || now_ <= found->second.expires) return &found->second;
  if (!keep_ended_) {
    table_.erase(found);
    tell(key);
  }
  return nullptr;
}

Keyspace::Value* Keyspace::of_type(std::string_view key, Type type) {
  Value* const value = live(key);
  if (value != nullptr && value->type != type) {
    throw Refused("WRONGTYPE Operation against a key holding the wrong kind of value");
  }
  return value;
}

Keyspace::Value& Keyspace::made(std::string_view key, Type type) {
  if (Value* const value = of_type(key, type)) return *value;
  Value& value = table_[std::string(key)];
  value = {.type = type};
  return value;
}

void Keyspace::check_write(bool grows) {
  if (in_script_ && has_written_) return;
  if (!no_writes_.empty()) throw Refused(no_writes_);
  if (grows) check_growth();
  has_written_ = true;
}

void Keyspace::check_growth() const {
  if (!no_growth_.empty()) throw Refused(no_growth_);
}

const Keyspace::Value* Keyspace::find(std::string_view key) { return live(key); }

Keyspace::Millis Keyspace::remaining(std::string_view key) {
  const Value* const value = live(key);
  if (value == nullptr) return -2;
  return value->expires == kNever ? -1 : value->expires - now_;
}

/// What begins to be now and lasts so long.
Keyspace::Millis Keyspace::end_of(std::string_view lease, std::string_view command) const {
  const auto time = to_number(lease);
  if (!time) throw Refused(kNoNumber);
  if (*time > std::numeric_limits<Millis>::max() - now_) {
    throw Refused("ERR invalid expire time in '" + std::string(command) + "' command");
  }
  return now_ + *time;
}

bool Keyspace::expire(std::string_view key, std::string_view lease) {
  check_write(false);
  const Millis end = end_of(lease, "pexpire");
  Value* const value = live(key);
  if (value == nullptr) return false;
  if (end <= now_) return erase(key);
  value->expires = end;
  tell(key);
  return true;
}

bool Keyspace::erase(std::string_view key) {
  check_write(false);
  if (live(key) == nullptr) return false;
  table_.erase(table_.find(key));
  tell(key);
  return true;
}

const std::string* Keyspace::text(std::string_view key) {
  const Value* const value = of_type(key, Type::string);
  return value == nullptr ? nullptr : &value->text;
}

void Keyspace::set(std::string_view key, std::string_view text) {
  check_write(true);
  live(key);
  table_.insert_or_assign(std::string(key), Value{.text = std::string(text)});
  tell(key);
}

void Keyspace::set(std::string_view key, std::string_view text, std::string_view lease) {
  check_write(true);
  const Millis end = end_of(lease, "set");
  if (end <= now_) throw Refused("ERR invalid expire time in 'set' command");
  live(key);
  table_.insert_or_assign(std::string(key), Value{.text = std::string(text), .expires = end});
  tell(key);
}

std::int64_t Keyspace::increment(std::string_view key, std::int64_t by) {
  check_write(true);
  const std::string* const before = text(key);
  const std::optional<std::int64_t> number = before == nullptr ? 0 : to_number(*before);
  if (!number) throw Refused(kNoNumber);
  if (by > 0 && *number > std::numeric_limits<std::int64_t>::max() - by) {
    throw Refused("ERR increment or decrement would overflow");
  }
  made(key, Type::string).text = std::to_string(*number + by);
  tell(key);
  return *number + by;
}

std::size_t Keyspace::count_fields(std::string_view key) {
  const Value* const value = of_type(key, Type::hash);
  return value == nullptr ? 0 : value->fields.size();
}

const std::string* Keyspace::field(std::string_view key, std::string_view field) {
  const Value* const value = of_type(key, Type::hash);
  if (value == nullptr) return nullptr;
  const auto found = find_field(*value, field);
  return found == value->fields.end() ? nullptr : &found->second;
}

bool Keyspace::set_field(std::string_view key, std::string_view field, std::string_view text) {
  check_write(true);
  Value& value = made(key, Type::hash);
  const auto found = find_field(value, field);
  const bool added = found == value.fields.end();
  if (added) {
    value.fields.emplace_back(field, text);
  } else {
    found->second = text;
  }
  tell(key);
  return added;
}

bool Keyspace::erase_field(std::string_view key, std::string_view field) {
  check_write(false);
  Value* const value = of_type(key, Type::hash);
  if (value == nullptr) return false;
  const auto found = find_field(*value, field);
  if (found == value->fields.end()) return false;
  value->fields.erase(found);
  if (value->fields.empty()) table_.erase(table_.find(key));
  tell(key);
  return true;
}

const std::vector<std::string>& Keyspace::elements(std::string_view key) {
  static const std::vector<std::string> none;
  const Value* const value = of_type(key, Type::list);
  return value == nullptr ? none : value->elements;
}

std::size_t Keyspace::push(std::string_view key, std::string_view element) {
  check_write(true);
  Value& value = made(key, Type::list);
  value.elements.emplace_back(element);
  tell(key);
  return value.elements.size();
}

void Keyspace::pop_front(std::string_view key) {
  check_write(false);
  Value* const value = of_type(key, Type::list);
  if (value == nullptr) return;
  value->elements.erase(value->elements.begin());
  if (value->elements.empty()) table_.erase(table_.find(key));
  tell(key);
}

void Keyspace::erase_elements(std::string_view key, std::string_view element) {
  check_write(false);
  Value* const value = of_type(key, Type::list);
  if (value == nullptr || std::erase(value->elements, element) == 0) return;
  if (value->elements.empty()) table_.erase(table_.find(key));
  tell(key);
}

const std::vector<std::pair<Keyspace::Score, std::string>>& Keyspace::scores(std::string_view key) {
  static const std::vector<std::pair<Score, std::string>> none;
  const Value* const value = of_type(key, Type::sorted_set);
  return value == nullptr ? none : value->scores;
}

std::optional<Keyspace::Score> Keyspace::score(std::string_view key, std::string_view member) {
  for (const auto& [score, name] : scores(key)) {
    if (name == member) return score;
  }
  return std::nullopt;
}

bool Keyspace::set_score(std::string_view key, std::string_view member, Score score) {
  check_write(true);
  Value& value = made(key, Type::sorted_set);
  const bool added = std::erase_if(value.scores, [member](const auto& each) { return each.second == member; }) == 0;
  value.scores.emplace_back(score, member);
  std::ranges::sort(value.scores);
  tell(key);
  return added;
}

void Keyspace::add_to_score(std::string_view key, std::string_view member, Score more) {
  check_write(true);
  if (const std::optional<Score> before = score(key, member)) set_score(key, member, *before + more);
}

bool Keyspace::erase_member(std::string_view key, std::string_view member) {
  check_write(false);
  Value* const value = of_type(key, Type::sorted_set);
  if (value == nullptr) return false;
  if (std::erase_if(value->scores, [member](const auto& each) { return each.second == member; }) == 0) return false;
  if (value->scores.empty()) table_.erase(table_.find(key));
  tell(key);
  return true;
}

void Keyspace::apply(std::string_view key, const std::optional<Value>& value) {
  if (value) {
    table_.insert_or_assign(std::string(key), *value);
  } else if (const auto found = table_.find(key); found != table_.end()) {
    table_.erase(found);
  }
  tell(key);
}

}  // namespace holdfast::test
