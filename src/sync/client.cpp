#include <algorithm>

#include <holdfast/client.hpp>
#include <holdfast/error.hpp>

#include "engine/core.hpp"
#include "engine/site.hpp"
#include "sync/plans.hpp"
#include "wire/names.hpp"

namespace holdfast {
namespace {

/// How many names one SCAN step and one round of questions take.
constexpr std::size_t kScanStep = 500;

}  // namespace

Client::Client(std::string_view url) : Client(Config::from_url(url)) {}

Client::Client(Config config) : core_(std::make_shared<engine::Core>(std::move(config))) {}

Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
  if (this != &other) {
    const Client old(std::move(*this));
    core_ = std::move(other.core_);
  }
  return *this;
}

Client::~Client() {
  if (core_ && core_->in_child()) {
    // The threads that the core would join exist in the parent only, so in the child it is never destroyed.
    new (std::nothrow) std::shared_ptr<engine::Core>(std::move(core_));
    return;
  }
  close();
}

void Client::close() noexcept {
  if (core_ && !core_->in_child()) core_->close();
}

std::shared_ptr<engine::Site> Client::site(std::vector<std::string> names, const engine::Plan& plan) const {
  core_->require_usable(names.empty() ? std::string() : names.front());
  if (names.empty()) throw Error(Errc::invalid_argument, {}, core_->node(), "no lock is named");
  if (std::ranges::find(names, "") != names.end()) {
    throw Error(Errc::invalid_argument, {}, core_->node(), "the lock's name is empty");
  }
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return core_->sites().site(names, plan);
}

Lock Client::lock(std::string_view name, AcquireOptions defaults) {
  return {{core_, site({std::string(name)}, sync::kLockPlan)}, std::move(defaults)};
}

SimpleLock Client::simple_lock(std::string_view name, AcquireOptions defaults) {
  return {{core_, site({std::string(name)}, sync::kSimplePlan)}, std::move(defaults)};
}

MultiLock Client::multi_lock(const std::vector<std::string>& names, AcquireOptions defaults) {
  std::vector<Lock> members;
  for (const std::string& name : names) members.push_back(lock(name));
  return MultiLock(members, std::move(defaults));
}

void Client::ping() { core_->ask({{{"PING"}}}, {}); }

std::vector<LockInfo> Client::list(std::string_view pattern) {
  const std::string& prefix = core_->config().name_prefix;
  std::vector<LockInfo> found;
  std::string cursor = "0";
  do {
    const std::vector<base::Reply> page =
        core_->ask({wire::scan(cursor, prefix + std::string(pattern), kScanStep)}, {});
    if (!page.front().is_array() || page.front().elements.size() != 2) break;
    cursor = page.front().elements[0].text;
    const std::vector<base::Reply>& keys = page.front().elements[1].elements;
    if (keys.empty()) continue;
    // A lock has exactly one field: other people's hashes, which may be large, are not read.
    std::vector<base::Command> questions;
    for (const base::Reply& key : keys) questions.push_back(wire::count_fields(key.text));
    const std::vector<base::Reply> sizes = core_->ask(std::move(questions), {}, engine::Core::Errors::keep);
    std::vector<std::string> names;
    questions.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (sizes[i].integer != 1) continue;
      names.push_back(keys[i].text);
      questions.push_back(wire::holder(names.back()));
      questions.push_back(wire::remaining(names.back()));
    }
    if (names.empty()) continue;
    const std::vector<base::Reply> answers = core_->ask(std::move(questions), {}, engine::Core::Errors::keep);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const wire::Held held = wire::decode_holder(answers[2 * i]);
      if (!wire::looks_like_owner(held.owner)) continue;
      found.push_back({names[i].substr(prefix.size()), held.owner, wire::time_left(answers[2 * i + 1]), held.count});
    }
  } while (cursor != "0");
  return found;
}

Counters Client::counters() const { return core_->reporter().snapshot(); }
const std::string& Client::id() const noexcept { return core_->id(); }
const std::string& Client::node() const noexcept { return core_->node(); }

}  // namespace holdfast
