// SPDX-License-Identifier: Apache-2.0
// Locks without expiry, and Redisson's unlock latches without one.
#include "kinds/owner.hpp"
#include "probe/questions.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {
namespace {

constexpr std::size_t kPage = 500;
/// Of hashes that are read together: a small one comes whole, with up to 512 fields.
constexpr std::size_t kHashes = 16;
constexpr std::size_t kMostNames = 3;
/// Redisson's own record that an unlock was carried out; it expires by itself.
constexpr std::string_view kLatch = "redisson_unlock_latch:";

/// In a reply to HSCAN: a field has the form of an owner.
bool has_owner(const base::Reply& page) {
  if (page.elements.size() != 2) return false;
  const std::vector<base::Reply>& fields = page.elements[1].elements;
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    if (wire::looks_like_holder(fields[i].text)) return true;
  }
  return false;
}

}  // namespace

std::vector<base::Command> KeyWalk::commands() const {
  if (step_ == Step::scan) return {{{"SCAN", cursor_, "COUNT", std::to_string(kPage)}}};
  std::vector<base::Command> commands;
  for (const std::string& key : keys_) {
    if (step_ == Step::expiries) commands.push_back({{"PTTL", key}});
    if (step_ == Step::types) commands.push_back({{"TYPE", key}});
    if (step_ == Step::owners && commands.size() < kHashes) commands.push_back({{"HSCAN", key, "0", "COUNT", "2"}});
  }
  return commands;
}

bool KeyWalk::next_page() {
  step_ = Step::scan;
  seen_.all = cursor_ == "0";
  return !seen_.all && seen_.looked_at < kMostKeys;
}

bool KeyWalk::next_step(Step step, std::vector<std::string> keys) {
  keys_ = std::move(keys);
  step_ = step;
  return keys_.empty() ? next_page() : true;
}

bool KeyWalk::on_replies(const std::vector<base::Reply>& replies) {
  std::vector<std::string> chosen;
  if (step_ == Step::scan) {
    if (replies[0].is_error()) refused_ = in_words(replies[0].text);
    if (!replies[0].is_array() || replies[0].elements.size() != 2) return false;
    cursor_ = replies[0].elements[0].text;
    for (const base::Reply& key : replies[0].elements[1].elements) {
      if (key.text.starts_with(kLatch) || key.text.starts_with(prefix_)) chosen.push_back(key.text);
    }
    seen_.looked_at += replies[0].elements[1].elements.size();
    return next_step(Step::expiries, std::move(chosen));
  }
  for (std::size_t i = 0; i < replies.size(); ++i) {
    const base::Reply& reply = replies[i];
    if (step_ == Step::expiries && reply.is_integer() && reply.integer == -1) {
      if (keys_[i].starts_with(kLatch)) ++seen_.latches;
      chosen.push_back(keys_[i]);
    }
    if (step_ == Step::types && reply.text == "hash") chosen.push_back(keys_[i]);
    if (reply.is_error() && reply.text.starts_with("NOPERM") && !refuses_name(reply.text)) {
      refused_ = in_words(reply.text);
      return false;
    }
    if (step_ == Step::owners && has_owner(reply)) {
      ++seen_.eternal;
      if (seen_.eternal_names.size() < kMostNames) seen_.eternal_names.push_back(keys_[i]);
    }
  }
  if (step_ == Step::expiries) return next_step(Step::types, std::move(chosen));
  if (step_ == Step::types) return next_step(Step::owners, std::move(chosen));
  keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(replies.size()));
  return keys_.empty() ? next_page() : true;
}

}  // namespace holdfast::probing
