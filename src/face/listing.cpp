// SPDX-License-Identifier: Apache-2.0
#include "face/listing.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <holdfast/error.hpp>

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/latch.hpp"
#include "kinds/leased_semaphore.hpp"
#include "kinds/lock.hpp"
#include "kinds/read_write_lock.hpp"
#include "kinds/semaphore.hpp"
#include "kinds/server_calls.hpp"
#include "kinds/simple_lock.hpp"
#include "lock/queue/holder.hpp"

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

/// Fields and values, as the server has them.
bool is_pairs(const base::Reply& reply) {
  return reply.is_array() && reply.elements.size() % 2 == 0 &&
         std::ranges::all_of(reply.elements, &base::Reply::is_text);
}
bool is_value(const base::Reply& reply) { return reply.is_null() || reply.is_text(); }
/// The mode, the time to live, and three parts for each hold.
bool is_readers(const base::Reply& reply) {
  return reply.is_null() || (reply.is_array() && reply.elements.size() % 3 == 2);
}
bool is_permits(const base::Reply& reply) { return reply.is_null() || wire::permits::decode_look(reply).has_value(); }

constexpr Search kLocks{
    .form = KeyForm::locks,
    .sift = [](const std::string& key) { return wire::lock::count_fields(key); },
    .passes = is_one,
    .look = [](const std::string& key) { return wire::lock::fields(key); },
    .answers = is_pairs,
    .names = wire::lock::names,
    .holders = [](const base::Reply& reply) { return one_holder(wire::lock::decode_holder(reply)); }};
constexpr Search kReadWriteLocks{.form = KeyForm::read_write_locks,
                                 .sift = [](const std::string& key) { return wire::read_write::has_mode(key); },
                                 .passes = is_one,
                                 .look = [](const std::string& key) { return wire::read_write::holders(key); },
                                 .answers = is_readers,
                                 .names = wire::read_write::names,
                                 .holders = wire::read_write::decode_all};
constexpr Search kSimpleLocks{
    .form = KeyForm::simple_locks,
    .sift = length,
    .passes = is_short_text,
    .look = [](const std::string& key) { return wire::simple::holder(key); },
    .answers = is_value,
    .names = wire::simple::names,
    .holders = [](const base::Reply& reply) { return one_holder(wire::simple::decode_holder(reply)); },
    .has_end = true};
constexpr Search kLeasedSemaphores{
    .form = KeyForm::leased_semaphores,
    .sift = [](const std::string& key) { return wire::permits::count_held(wire::permits::expiries(key)); },
    .passes = [](const base::Reply& count) { return count.is_integer() && count.integer > 0; },
    .look = [](const std::string& key) { return kinds::kLeasedSemaphore.questions.holder(key); },
    .answers = is_permits,
    .names = wire::permits::names,
    .holders = [](const base::Reply& reply) { return kinds::kLeasedSemaphore.questions.decode_holders(reply); },
    .available = [](const base::Reply& reply) { return kinds::kLeasedSemaphore.questions.decode_available(reply); }};
constexpr Search kSemaphores{.form = KeyForm::semaphores,
                             .sift = length,
                             .passes = may_be_number,
                             .look = [](const std::string& key) { return wire::semaphore::available(key); },
                             .answers = is_value,
                             .names = wire::semaphore::names,
                             .available = wire::semaphore::decode_available};
constexpr Search kLatches{.form = KeyForm::latches,
                          .sift = length,
                          .passes = may_be_number,
                          .look = [](const std::string& key) { return wire::latch::count(key); },
                          .answers = is_value,
                          .names = wire::latch::names,
                          .available = wire::semaphore::decode_available};

/// Of the keys to which such a set may belong, those with a brace of their own, or those without.
template <bool WithBrace>
std::vector<std::string> permits_of(std::string_view expiries) {
  std::vector<std::string> keys = wire::permits::keys_of(expiries);
  std::erase_if(keys, [](const std::string& key) { return (key.find('{') != key.npos) != WithBrace; });
  return keys;
}

/// By the sets of what is held: servers have few sets and many strings.
std::vector<Walk> walks_for_permits(const std::string& pattern) {
  const auto walk = [](const std::string& match, std::vector<std::string> (*keys)(std::string_view)) {
    return Walk{match + std::string(wire::permits::kExpiriesEnd), "zset", {&kLeasedSemaphores}, keys};
  };
  if (pattern == "*") return {walk(pattern, wire::permits::keys_of)};
  std::vector<Walk> walks{walk("{" + pattern + "}", permits_of<false>)};
  if (pattern.find_first_of("{*?[") != pattern.npos) walks.push_back(walk(pattern, permits_of<true>));
  return walks;
}

/// How many names one SCAN step and one round of queries cover; the server may give more in one step.
constexpr std::size_t kScanStep = 500;

void tell_by_owner(LockInfo& info) {
  for (LockHolder& each : info.holders) each.holder = engine::holder_of(each.owner, nullptr);
  info.holder = info.holders.front().holder;
}

/// About, and without what its holders are told by CLIENT LIST.
std::size_t bytes_of(const LockInfo& info) {
  std::size_t bytes = sizeof info + info.name.size() + info.owner.size();
  for (const LockHolder& each : info.holders) bytes += sizeof each + each.owner.size();
  return bytes;
}

}  // namespace

std::vector<Walk> walks_for(KeyForm what, const std::string& pattern) {
  switch (what) {
    case KeyForm::read_write_locks:
      return {{pattern, "hash", {&kReadWriteLocks}}};
    case KeyForm::simple_locks:
      return {{pattern, "string", {&kSimpleLocks}}};
    case KeyForm::leased_semaphores:
      return walks_for_permits(pattern);
    case KeyForm::semaphores:
      return {{pattern, "string", {&kSemaphores}}};
    case KeyForm::latches:
      return {{pattern, "string", {&kLatches}}};
    case KeyForm::any: {
      std::vector<Walk> walks = walks_for_permits(pattern);
      walks.insert(walks.begin(), {pattern, "hash", {&kReadWriteLocks, &kLocks}});
      return walks;
    }
    case KeyForm::locks:
      break;
  }
  return {{pattern, "hash", {&kLocks}}};
}

Listing::Listing(engine::Runtime& runtime, const std::vector<std::string>& names, InfoDetail detail, KeyForm what)
    : Listing(runtime, "*", detail, what) {
  for (const std::string& name : names) only_.push_back(prefix_ + name);
  page_.assign(only_.begin(), only_.end());
  next_keys();
}

std::vector<base::Command> Listing::commands() const {
  if (servers_.begins()) return {{{"PING"}}};
  if (step_ == Step::holders) return ask_holders_.commands();
  std::vector<base::Command> commands;
  const Walk& walk = walks_[walk_];
  if (step_ == Step::scan) commands.push_back(wire::scan(cursor_, walk.match, kScanStep, walk.type));
  for (const auto& [key, search] : keys_) {
    if (step_ == Step::sift) {
      for (const Search* const each : walk.searches) commands.push_back(each->sift(key));
    } else {
      commands.push_back(search->look(key));
      commands.push_back(wire::remaining(key));
    }
  }
  if (step_ == Step::look && detail_ != InfoDetail::owner) commands.push_back(ask_listeners());
  return commands;
}

/// For this page, in one command.
base::Command Listing::ask_listeners() const {
  std::vector<std::string> channels;
  for (const auto& [key, search] : keys_) channels.push_back(search->names(key).channel);
  return wire::listeners(channels, router_.publish() != Publish::publish);
}

void Listing::keep_for_later(const std::string& found) {
  const Walk& walk = walks_[walk_];
  for (std::string& key : walk.keys != nullptr ? walk.keys(found) : std::vector{found}) {
    if (key.starts_with(prefix_)) page_.push_back(std::move(key));  // others do not match
  }
}

/// Leaves those that may be of a form.
void Listing::sift(const std::vector<base::Reply>& replies) {
  const std::vector<const Search*>& searches = walks_[walk_].searches;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].is_integer() && !replies[i].is_error()) throw std::runtime_error("a size is no number");
    Candidate& candidate = keys_[i / searches.size()];
    const Search* const search = searches[i % searches.size()];
    if (candidate.search == nullptr && search->passes(replies[i])) candidate.search = search;
  }
  std::erase_if(keys_, [](const Candidate& each) { return each.search == nullptr; });
}

void Listing::read_looks(const std::vector<base::Reply>& replies) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const base::Reply& said = replies[2 * i];
    const auto& [key, search] = keys_[i];
    if (said.is_error()) continue;
    if (!search->answers(said)) throw std::runtime_error("it is no answer about " + base::quote(key));
    const std::optional<std::chrono::milliseconds> left = wire::time_left(replies[2 * i + 1]);
    if (search->has_end && !left) continue;
    LockInfo info{.name = key.substr(prefix_.size()), .owner = {}, .form = search->form};
    if (search->available != nullptr) info.available = search->available(said);
    if (search->holders != nullptr) {
      set_holders(info, search->holders(said), left);
      if (info.owner.empty()) continue;
      if (!only_.empty()) tell_by_owner(info);
    } else {
      if (!info.available) continue;
      info.remaining = left;
    }
    if (detail_ != InfoDetail::owner) info.listeners = wire::decode_listeners(replies.back(), i);
    keep(std::move(info));
  }
}

void Listing::keep(LockInfo info) {
  kept_ += bytes_of(info);
  if (kept_ > kMostKept) {
    throw Error(Errc::exhausted, {}, {}, "the list would take more than " + std::to_string(kMostKept) + " bytes");
  }
  found_.push_back(std::move(info));
}

/// The next of this page, or else the next page, or the next walk.
bool Listing::next_keys() {
  if (page_.empty()) return next_page();
  keys_.clear();
  while (!page_.empty() && keys_.size() < kScanStep) {
    keys_.push_back({std::move(page_.front())});
    page_.pop_front();
  }
  step_ = Step::sift;
  return true;
}

bool Listing::next_page() {
  keys_.clear();
  step_ = cursor_ == "0" && ++walk_ == walks_.size() ? Step::holders : Step::scan;
  if (step_ == Step::scan && !only_.empty()) {
    page_.assign(only_.begin(), only_.end());
    return next_keys();
  }
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
  walk_ = 0;
  cursor_.assign(1, '0');
  ask_holders_ = AskHolders(detail_, servers_.several());
  return true;
}

bool Listing::on_replies(const std::vector<base::Reply>& replies) {
  if (servers_.begins()) return servers_.next();
  switch (step_) {
    case Step::scan: {
      const std::vector<base::Reply>& said = replies.front().elements;
      if (!replies.front().is_array() || said.size() != 2 || !said[0].is_text() || !said[1].is_array()) {
        throw std::runtime_error("it is no page of names");
      }
      cursor_ = said[0].text;
      for (const base::Reply& key : said[1].elements) keep_for_later(key.text);
      return next_keys();
    }
    case Step::sift:
      sift(replies);
      if (keys_.empty()) return next_keys();
      step_ = Step::look;
      return true;
    case Step::look:
      read_looks(replies);
      return next_keys();
    case Step::holders:
      return ask_holders_.on_replies(replies, found_) || next_server();
  }
  return false;
}

}  // namespace holdfast::face
