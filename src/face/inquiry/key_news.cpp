// SPDX-License-Identifier: Apache-2.0
#include "face/inquiry/key_news.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

#include "base/resp.hpp"
#include "face/listing.hpp"
#include "face/parts.hpp"
#include "face/queries.hpp"
#include "lock/client/core.hpp"

namespace holdfast::detail {

std::vector<LockInfo> list_named(const Client& client, const std::vector<std::string>& names, InfoDetail detail,
                                 KeyForm what) {
  if (names.empty()) return {};
  engine::Runtime& runtime = ClientAccess::core(client).runtime();
  return face::ask_in_steps(runtime, face::Listing(runtime, names, detail, what), {});
}

/// Filled on the client's loop.
class KeyNews::Inbox final : public redis::ServerEvents, public std::enable_shared_from_this<KeyNews::Inbox> {
 public:
  Inbox(const Config& config, const std::string& prefix, std::function<bool(std::string_view)> wanted)
      : name_prefix_(config.name_prefix),
        timeout_(config.timing.command_timeout),
        prefix_(name_prefix_ + prefix),
        wanted_(std::move(wanted)) {}

  /// Each lane finds the server by itself, and after a failover this one may still be at the old one.
  void connected(redis::Shard& shard) override {
    if (up_ && !shard.is_beside_main(redis::Side::watch)) shard.side_lane(redis::Side::watch).recover();
  }
  void side_connected(redis::Shard& shard, redis::Side) override {
    up_ = true;
    base::Command command{{"CLIENT", "TRACKING", "ON", "BCAST"}};
    if (!prefix_.empty()) command.args.insert(command.args.end(), {"PREFIX", prefix_});
    shard.side_lane(redis::Side::watch)
        .send(redis::Request::of(std::move(command), timeout_),
              [self = shared_from_this(), &shard](const redis::Result& result) { self->on_tracked(shard, result); });
  }
  void side_disconnected(redis::Shard&, redis::Side) override {
    up_ = false;
    const std::scoped_lock guard(mutex_);
    news_.tells = false;
    news_.why_not.clear();
    news_.lost = true;
    tell();
  }
  void invalidated(redis::Shard&, const base::Reply& keys) override {
    const std::scoped_lock guard(mutex_);
    if (keys.is_null()) all();
    for (const base::Reply& key : keys.elements) add(key.text);
    if (news_.all || !names_.empty()) tell();
  }

  /// From now on it asks nobody and tells nothing.
  void refuse(const char* why) {
    const std::scoped_lock guard(mutex_);
    news_.why_not = why;
    tell();
  }

  void wait(const std::stop_token& stop, base::TimePoint until) {
    std::unique_lock guard(mutex_);
    told_.wait_until(guard, stop, until, [this] { return new_; });
  }
  News take(std::size_t most) {
    const std::scoped_lock guard(mutex_);
    News taken = news_;
    while (!names_.empty() && taken.changed.size() < most) {
      auto first = names_.extract(names_.begin());
      bytes_ -= first.key().size();
      taken.changed.push_back({std::move(first.key()), first.mapped()});
    }
    news_.all = news_.lost = news_.began = false;
    new_ = !names_.empty();
    return taken;
  }
  bool has(const std::string& name) const {
    const std::scoped_lock guard(mutex_);
    return names_.contains(name);
  }

 private:
  /// Over RESP2 a server accepts the command, and tells nothing on this connection.
  void on_tracked(redis::Shard& shard, const redis::Result& result) {
    if (result.delivery != redis::Delivery::answered) return;  // the next connection asks again
    const base::Reply& said = result.replies.front();
    const std::scoped_lock guard(mutex_);
    news_.began = news_.tells = !said.is_error() && !shard.side_lane(redis::Side::watch).speaks_resp2();
    news_.why_not = said.is_error() ? said.text : news_.tells ? "" : "it speaks RESP2";
    tell();
  }
  void add(const std::string& key) {
    if (news_.all || !key.starts_with(prefix_)) return;
    const std::string_view name = std::string_view(key).substr(name_prefix_.size());
    if (!wanted_(name) || !names_.emplace(name, base::Clock::now()).second) return;
    bytes_ += name.size();
    if (names_.size() > kMostNames || bytes_ > kMostBytes) all();
  }
  void all() {
    names_.clear();
    bytes_ = 0;
    news_.all = true;
  }
  void tell() {
    new_ = true;
    told_.notify_one();
  }

  const std::string name_prefix_;
  const base::Duration timeout_;
  const std::string prefix_;
  const std::function<bool(std::string_view)> wanted_;
  bool up_ = false;  // on the loop

  mutable std::mutex mutex_;
  std::condition_variable_any told_;
  News news_;
  std::map<std::string, base::TimePoint, std::less<>> names_;
  std::size_t bytes_ = 0;
  bool new_ = false;
};

KeyNews::KeyNews(const Client& client, const std::string& prefix, std::function<bool(std::string_view)> wanted)
    : inbox_(std::make_shared<Inbox>(ClientAccess::core(client).runtime().config(), prefix, std::move(wanted))) {
  engine::Core& core = ClientAccess::core(client);
  if (core.runtime().router().only_shard() == nullptr) {
    inbox_->refuse("it is a cluster");
    return;
  }
  core.runtime().hand_over([&core, inbox = inbox_] {
    core.watch_with(inbox);
    core.runtime().router().only_shard()->side_lane(redis::Side::watch);
  });
}

KeyNews::~KeyNews() = default;

void KeyNews::wait(const std::stop_token& stop, base::TimePoint until) const { inbox_->wait(stop, until); }

KeyNews::News KeyNews::take(std::size_t most) { return inbox_->take(most); }

bool KeyNews::has(const std::string& name) const { return inbox_->has(name); }

}  // namespace holdfast::detail
