#include "face/listing.hpp"

#include <utility>

#include "wire/lock_calls.hpp"
#include "wire/server_calls.hpp"

namespace holdfast::face {
namespace {

/// How many names one SCAN step and one round of questions take.
constexpr std::size_t kScanStep = 500;

}  // namespace

std::vector<base::Command> Listing::commands() const {
  if (servers_.begins()) return {{{"PING"}}};
  if (step_ == Step::holders) return ask_holders_.commands();
  std::vector<base::Command> commands;
  if (step_ == Step::scan) commands.push_back(wire::scan(cursor_, pattern_, kScanStep));
  for (const std::string& key : keys_) {
    if (step_ == Step::sizes) {
      commands.push_back(wire::lock::count_fields(key));
    } else {
      commands.push_back(wire::lock::fields(key));
      commands.push_back(wire::remaining(key));
    }
  }
  if (step_ == Step::owners && detail_ != Detail::owner) commands.push_back(ask_listeners());
  return commands;
}

/// Of this page, in one command.
base::Command Listing::ask_listeners() const {
  std::vector<std::string> channels;
  for (const std::string& key : keys_) channels.push_back(wire::lock::names(key).channel);
  return wire::listeners(channels, router_.publish() != Publish::publish);
}

bool Listing::next_page() {
  keys_.clear();
  step_ = cursor_ == "0" ? Step::holders : Step::scan;
  return step_ == Step::scan || ask_holders_.begin(found_) || next_server();
}

bool Listing::next_server() {
  for (LockInfo& each : found_) {
    if (servers_.several() && !names_.insert(each.name).second) continue;
    all_found_.push_back(std::move(each));
  }
  found_.clear();
  if (!servers_.next()) return false;
  step_ = Step::scan;
  cursor_.assign(1, '0');
  ask_holders_ = AskHolders(detail_, servers_.several());
  return true;
}

bool Listing::on_replies(const std::vector<base::Reply>& replies) {
  if (servers_.begins()) return servers_.next();
  switch (step_) {
    case Step::scan:
      if (!replies.front().is_array() || replies.front().elements.size() != 2) return next_server();
      cursor_ = replies.front().elements[0].text;
      for (const base::Reply& key : replies.front().elements[1].elements) {
        if (key.text.starts_with(prefix_)) keys_.push_back(key.text);  // others were not asked for
      }
      if (keys_.empty()) return next_page();
      step_ = Step::sizes;
      return true;
    case Step::sizes: {
      std::vector<std::string> locks;  // a lock has exactly one field
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (replies[i].integer == 1) locks.push_back(std::move(keys_[i]));
      }
      keys_.swap(locks);
      if (keys_.empty()) return next_page();
      step_ = Step::owners;
      return true;
    }
    case Step::owners:
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        wire::Held held = wire::lock::decode_holder(replies[2 * i]);
        if (held.owner.empty()) continue;
        found_.push_back({.name = keys_[i].substr(prefix_.size()), .owner = {}});
        set_holders(found_.back(), {std::move(held)}, wire::time_left(replies[2 * i + 1]));
        if (detail_ != Detail::owner) found_.back().listeners = wire::decode_listeners(replies.back(), i);
      }
      return next_page();
    case Step::holders:
      return ask_holders_.on_replies(replies, found_) || next_server();
  }
  return false;
}

}  // namespace holdfast::face
