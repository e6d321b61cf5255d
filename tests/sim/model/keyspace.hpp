// SPDX-License-Identifier: Apache-2.0
// What a server keeps: keys with strings, hashes, lists and sorted sets, each perhaps with an end. Pure: it is told
// what time it is.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace holdfast::test {

/// An error reply. What calls lets it pass; what calls as pcall does catches it.
class Refused final : public std::exception {
 public:
  explicit Refused(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Each member that may refuse throws Refused: another type, a number that is none, an end that cannot be, or because
/// writes are refused altogether.
class Keyspace {
 public:
  using Millis = std::int64_t;
  static constexpr Millis kNever = -1;

  enum class Type { string, hash, list, sorted_set };
  using Score = std::int64_t;
  struct Value {
    Type type = Type::string;
    std::string text{};                                         // of a string
    std::vector<std::pair<std::string, std::string>> fields{};  // of a hash, in the order in which they came
    std::vector<std::string> elements{};                        // of a list
    std::vector<std::pair<Score, std::string>> scores{};        // of a sorted set, in its order
    Millis expires = kNever;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Table = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;
  using Changed = std::function<void(std::string_view key)>;

  /// `changed` hears of every key that is written, deleted, or found at its end.
  explicit Keyspace(Changed changed = {}) : changed_(std::move(changed)) {}

  /// From now on. It stands still while a script runs.
  void set_now(Millis now) { now_ = now; }
  Millis now() const { return now_; }
  /// Writes are refused with this text; empty: they are not.
  void refuse_writes(std::string text) { no_writes_ = std::move(text); }
  /// The same for what needs memory.
  void refuse_growth(std::string text) { no_growth_ = std::move(text); }
  /// For what is no write, and needs memory.
  void check_growth() const;
  /// As a replica: what has ended is not there, and yet stays until the primary says so.
  void keep_ended(bool keep) { keep_ended_ = keep; }

  /// Null: there is none, or it has ended.
  const Value* find(std::string_view key);
  /// PTTL: -2 without the key, -1 without an end.
  Millis remaining(std::string_view key);
  bool expire(std::string_view key, std::string_view lease);
  bool erase(std::string_view key);

  const std::string* text(std::string_view key);
  void set(std::string_view key, std::string_view text);
  void set(std::string_view key, std::string_view text, std::string_view lease);

  std::int64_t increment(std::string_view key, std::int64_t by = 1);

  std::size_t count_fields(std::string_view key);
  const std::string* field(std::string_view key, std::string_view field);
  bool has_field(std::string_view key, std::string_view name) { return field(key, name) != nullptr; }
  /// True: it was not there.
  bool set_field(std::string_view key, std::string_view field, std::string_view value);
  bool erase_field(std::string_view key, std::string_view field);

  /// None, of a list that is not there.
  const std::vector<std::string>& elements(std::string_view key);
  std::size_t push(std::string_view key, std::string_view element);
  void pop_front(std::string_view key);
  /// All that are equal to it.
  void erase_elements(std::string_view key, std::string_view element);

  /// None, of a sorted set that is not there.
  const std::vector<std::pair<Score, std::string>>& scores(std::string_view key);
  std::optional<Score> score(std::string_view key, std::string_view member);
  /// True: it was not there.
  bool set_score(std::string_view key, std::string_view member, Score score);
  /// Of a member that is there.
  void add_to_score(std::string_view key, std::string_view member, Score more);
  bool erase_member(std::string_view key, std::string_view member);

  /// Until its end, what comes behind the first write is not refused: no script stops halfway.
  class Script {
   public:
    explicit Script(Keyspace& keyspace) : keyspace_(keyspace) {
      keyspace_.in_script_ = true;
      keyspace_.has_written_ = false;
    }
    ~Script() { keyspace_.in_script_ = false; }
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

   private:
    Keyspace& keyspace_;
  };

  const Table& all() const { return table_; }
  void clear() { table_.clear(); }
  /// The same as a command.
  void flush() {
    check_write(false);
    clear();
  }
  /// All of another one's keys, for those of this one.
  void copy(const Keyspace& other) { table_ = other.table_; }
  /// What a primary says of a key; empty: it is not there any more.
  void apply(std::string_view key, const std::optional<Value>& value);

 private:
  Value* live(std::string_view key);
  Value* of_type(std::string_view key, Type type);
  Value& made(std::string_view key, Type type);
  Millis end_of(std::string_view lease, std::string_view command) const;
  void check_write(bool grows);
  void tell(std::string_view key) const {
    if (changed_) changed_(key);
  }

  Changed changed_;
  Table table_;
  Millis now_ = 0;
  std::string no_writes_, no_growth_;
  bool keep_ended_ = false;
  bool in_script_ = false, has_written_ = false;
};

/// As servers read numbers. Empty: it is none.
std::optional<std::int64_t> to_number(std::string_view digits);

}  // namespace holdfast::test
