// SPDX-License-Identifier: Apache-2.0
#include "judges/history.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>

#include "support/taker_text.hpp"

namespace holdfast::test {
namespace {

template <class Call>
std::vector<Text> names_of_call(const Call& call) {
  if (call.set.empty()) return {call.name};
  std::vector<Text> names;
  std::istringstream set(call.set.str());
  for (std::string name; std::getline(set, name, ',');) names.emplace_back(name);
  return names;
}

/// The fields of a line, not decoded: a record may have ten million lines.
class Line {
 public:
  explicit Line(std::string_view line) : line_(line) {
    std::string_view rest = line;
    while (count_ < fields_.size()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      fields_[count_++] = rest.substr(0, end);
      if (end == rest.size()) return;
      rest.remove_prefix(end + 1);
    }
    throw bad();
  }

  std::size_t count() const { return count_; }
  std::string_view word() const { return fields_[0]; }
  Text text(std::size_t i) const {
    return fields_[i].find('%') == std::string_view::npos ? Text(fields_[i]) : Text(percent_decode(fields_[i]));
  }
  Owner owner(std::size_t i) const {
    return fields_[i].find('%') == std::string_view::npos ? Owner(fields_[i]) : Owner(percent_decode(fields_[i]));
  }
  long long number(std::size_t i) const { return number(fields_[i]); }

  /// Calls `set` with each field from `first` on, which are KEY=VALUE.
  template <class Set>
  void each_setting(std::size_t first, Set set) const {
    for (std::size_t i = first; i < count_; ++i) {
      const std::size_t equals = fields_[i].find('=');
      if (equals == std::string_view::npos) throw bad();
      set(fields_[i].substr(0, equals), fields_[i].substr(equals + 1));
    }
  }
  long long number(std::string_view field) const {
    long long value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size()) throw bad();
    return value;
  }
  std::invalid_argument bad() const { return std::invalid_argument("no line of a record: " + std::string(line_)); }

 private:
  std::string_view line_;
  std::array<std::string_view, 20> fields_;
  std::size_t count_ = 0;
};

/// In milliseconds, on the line.
Microseconds wait_of(const Line& line, std::string_view value) {
  const long long wait = line.number(value);
  return wait < 0 ? HeldOnce::kNoWait : 1000 * wait;
}

/// What may follow in a line of a hold.
void set_more(HeldOnce& hold, const Line& line, std::size_t first) {
  line.each_setting(first, [&](std::string_view key, std::string_view value) {
    if (key == "wait") hold.wait = wait_of(line, value);
    if (key == "token") hold.token = line.number(value);
    if (key == "shared") hold.shared = value == "yes";
    if (key == "checked") hold.checked = value != "no";
    if (key == "waits") hold.waits = value != "no";
    if (key == "set") hold.set = percent_decode(value);
  });
}

HeldOnce granted_of(const Line& line, Text client) {
  HeldOnce hold;
  hold.client = client;
  hold.name = line.text(1);
  hold.owner = line.owner(2);
  hold.called = line.number(3);
  hold.granted = line.number(4);
  hold.deadline = line.number(5);
  return hold;
}

/// The lines of one file, in which what was granted may not have ended yet.
class File {
 public:
  File(History& history, Text client) : history_(history), client_(client) {}

  void add(std::string_view text) {
    const Line line(text);
    const std::string_view what = line.word();
    const std::size_t count = line.count();
    if (what == "hold" && count >= 12) {
      add_hold(line);
    } else if (what == "grant" && count >= 7) {
      HeldOnce hold = granted_of(line, client_);
      hold.number = line.number(6);
      hold.open = true;
      set_more(hold, line, 7);
      open_.push_back(hold);
    } else if (what == "release" && count == 5) {
      const auto began = open_hold(line.text(1), line.owner(2), line.number(3));
      if (began != open_.end()) began->released = line.number(4);
    } else if (what == "fail" && count >= 5) {
      FailedCall call{client_, line.text(1), line.number(2), line.number(3), line.text(4), {}};
      line.each_setting(5, [&](std::string_view key, std::string_view value) {
        if (key == "wait") call.wait = wait_of(line, value);
        if (key == "word") call.word = value;
        if (key == "shared") call.shared = value == "yes";
        if (key == "set") call.set = percent_decode(value);
      });
      history_.failures.push_back(call);
    } else if (what == "force" && count >= 5) {
      history_.forced.push_back({client_, line.text(1), line.number(2), line.number(3), line.text(4)});
    } else if (what == "latch" && count >= 7) {
      LatchCall call{client_, line.text(1), line.text(2), line.number(3), line.number(4), line.text(5), line.number(6)};
      line.each_setting(7, [&](std::string_view key, std::string_view value) {
        if (key == "wait") call.wait = wait_of(line, value);
      });
      history_.latches.push_back(call);
    } else if (what == "left" && count == 5) {
      history_.looks.push_back({client_, line.text(1), line.number(2), line.number(3), line.number(4)});
    } else if (what == "op" && count >= 7) {
      history_.operations.push_back({client_, line.text(2), line.number(1), line.text(3) == "acquire", line.number(4),
                                     line.number(5), line.text(6)});
    } else if ((what == "connected" || what == "disconnected") && count == 4) {
      history_.connections.push_back({client_, line.number(1), line.text(2), what == "connected"});
    } else {
      throw line.bad();
    }
  }

  void end() { history_.holds.insert(history_.holds.end(), open_.begin(), open_.end()); }

 private:
  void add_hold(const Line& line) {
    HeldOnce hold = granted_of(line, client_);
    hold.told = line.number(6);
    hold.released = line.number(7);
    hold.ended = line.number(8);
    hold.outcome = line.text(9);
    hold.reason = line.text(10);
    hold.number = line.number(11);
    set_more(hold, line, 12);
    const auto began = open_hold(hold.name, hold.owner, hold.granted);
    if (began != open_.end()) open_.erase(began);
    history_.holds.push_back(hold);
  }

  std::vector<HeldOnce>::iterator open_hold(Text name, const Owner& owner, Microseconds granted) {
    return std::ranges::find_if(open_, [&](const HeldOnce& each) {
      return each.granted == granted && each.owner == owner && each.name == name;
    });
  }

  History& history_;
  const Text client_;
  std::vector<HeldOnce> open_;
};

}  // namespace

bool HeldOnce::forgotten() const {
  static const Text kTaken("taken"), kWasLost("was_lost"), kNoReason("-");
  return reason == kTaken || (outcome == kWasLost && reason == kNoReason);
}

void History::add(Text client, std::string_view line) {
  File file(*this, client);
  file.add(line);
  file.end();
}

History History::read(const std::string& folder) {
  History history;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".record")) continue;
    std::ostringstream all;
    all << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string_view text = all.view();
    File file(history, Text(name.substr(0, name.find('.'))));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      file.add(text.substr(begin, end - begin));
    }
    file.end();
  }
  return history;
}

std::vector<HeldOnce> History::holds_of(Text name) const {
  std::vector<HeldOnce> found;
  std::ranges::copy_if(holds, std::back_inserter(found), [&](const HeldOnce& hold) { return hold.name == name; });
  return found;
}

std::vector<Text> names_of(const HeldOnce& hold) { return names_of_call(hold); }
std::vector<Text> names_of(const FailedCall& call) { return names_of_call(call); }

}  // namespace holdfast::test
