#include "face/listing.hpp"

#include <utility>

#include "kinds/kinds.hpp"
#include "wire/latch_calls.hpp"
#include "wire/lock_calls.hpp"
#include "wire/permits_calls.hpp"
#include "wire/read_write_calls.hpp"
#include "wire/semaphore_calls.hpp"
#include "wire/server_calls.hpp"
#include "wire/simple_calls.hpp"

namespace holdfast::face {
namespace {

/// No client's owner is longer; longer texts are not read.
constexpr std::int64_t kLongestOwner = 256;

/// For a number of Redisson's, with its sign.
constexpr std::int64_t kMostDigits = 11;

bool is_one(const base::Reply& reply) { return reply.is_integer() && reply.integer == 1; }
bool is_short_text(const base::Reply& length) {
  return length.is_integer() && length.integer > 0 && length.integer <= kLongestOwner;
}
bool may_be_number(const base::Reply& length) {
  return length.is_integer() && length.integer > 0 && length.integer <= kMostDigits;
}
base::Command length(const std::string& key) { return wire::length(key); }
std::vector<wire::Held> one_holder(wire::Held held) {
  return held.owner.empty() ? std::vector<wire::Held>() : std::vector<wire::Held>{std::move(held)};
}

constexpr Search kLocks{
    .type = "hash",
    .sift = [](const std::string& key) { return wire::lock::count_fields(key); },
    .passes = is_one,
    .look = [](const std::string& key) { return wire::lock::fields(key); },
    .names = wire::lock::names,
    .holders = [](const base::Reply& reply) { return one_holder(wire::lock::decode_holder(reply)); }};
constexpr Search kReadWriteLocks{.type = "hash",
                                 .sift = [](const std::string& key) { return wire::read_write::has_mode(key); },
                                 .passes = is_one,
                                 .look = [](const std::string& key) { return wire::read_write::holders(key); },
                                 .names = wire::read_write::names,
                                 .holders = wire::read_write::decode_all};
constexpr Search kSimpleLocks{
    .type = "string",
    .sift = length,
    .passes = is_short_text,
    .look = [](const std::string& key) { return wire::simple::holder(key); },
    .names = wire::simple::names,
    .holders = [](const base::Reply& reply) { return one_holder(wire::simple::decode_holder(reply)); },
    .has_end = true};
constexpr Search kLeasedSemaphores{
    .type = "string",
    .sift = [](const std::string& key) { return wire::permits::count_held(wire::permits::expiries(key)); },
    .passes = [](const base::Reply& count) { return count.is_integer() && count.integer > 0; },
    .look = [](const std::string& key) { return kinds::kLeasedSemaphore.questions.holder(key); },
    .names = wire::permits::names,
    .holders = [](const base::Reply& reply) { return kinds::kLeasedSemaphore.questions.decode_holders(reply); },
    .available = [](const base::Reply& reply) { return kinds::kLeasedSemaphore.questions.decode_available(reply); }};
constexpr Search kSemaphores{.type = "string",
                             .sift = length,
                             .passes = may_be_number,
                             .look = [](const std::string& key) { return wire::semaphore::available(key); },
                             .names = wire::semaphore::names,
                             .available = wire::semaphore::decode_available};
constexpr Search kLatches{.type = "string",
                          .sift = length,
                          .passes = may_be_number,
                          .look = [](const std::string& key) { return wire::latch::count(key); },
                          .names = wire::latch::names,
                          .available = wire::semaphore::decode_available};

/// How many names one SCAN step and one round of queries cover.
constexpr std::size_t kScanStep = 500;

}  // namespace

const Search& search_for(Listed what) {
  switch (what) {
    case Listed::read_write_locks:
      return kReadWriteLocks;
    case Listed::simple_locks:
      return kSimpleLocks;
    case Listed::leased_semaphores:
      return kLeasedSemaphores;
    case Listed::semaphores:
      return kSemaphores;
    case Listed::latches:
      return kLatches;
    case Listed::locks:
      break;
  }
  return kLocks;
}

std::vector<base::Command> Listing::commands() const {
  if (servers_.begins()) return {{{"PING"}}};
  if (step_ == Step::holders) return ask_holders_.commands();
  std::vector<base::Command> commands;
  if (step_ == Step::scan) commands.push_back(wire::scan(cursor_, pattern_, kScanStep, search_.type));
  for (const std::string& key : keys_) {
    if (step_ == Step::sift) {
      commands.push_back(search_.sift(key));
    } else {
      commands.push_back(search_.look(key));
      commands.push_back(wire::remaining(key));
    }
  }
  if (step_ == Step::look && detail_ != Detail::owner) commands.push_back(ask_listeners());
  return commands;
}

/// For this page, in one command.
base::Command Listing::ask_listeners() const {
  std::vector<std::string> channels;
  for (const std::string& key : keys_) channels.push_back(search_.names(key).channel);
  return wire::listeners(channels, router_.publish() != Publish::publish);
}

void Listing::read_looks(const std::vector<base::Reply>& replies) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const base::Reply& said = replies[2 * i];
    const std::optional<std::chrono::milliseconds> left = wire::time_left(replies[2 * i + 1]);
    if (search_.has_end && !left) continue;
    LockInfo info{.name = keys_[i].substr(prefix_.size()), .owner = {}};
    if (search_.available != nullptr) info.available = search_.available(said);
    if (search_.holders != nullptr) {
      set_holders(info, search_.holders(said), left);
      if (info.owner.empty()) continue;
    } else {
      if (!info.available) continue;
      info.remaining = left;
    }
    if (detail_ != Detail::owner) info.listeners = wire::decode_listeners(replies.back(), i);
    found_.push_back(std::move(info));
  }
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
        if (key.text.starts_with(prefix_)) keys_.push_back(key.text);  // others do not match
      }
      if (keys_.empty()) return next_page();
      step_ = Step::sift;
      return true;
    case Step::sift: {
      std::vector<std::string> rest;
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        if (search_.passes(replies[i])) rest.push_back(std::move(keys_[i]));
      }
      keys_.swap(rest);
      if (keys_.empty()) return next_page();
      step_ = Step::look;
      return true;
    }
    case Step::look:
      read_looks(replies);
      return next_page();
    case Step::holders:
      return ask_holders_.on_replies(replies, found_) || next_server();
  }
  return false;
}

}  // namespace holdfast::face
