// SPDX-License-Identifier: Apache-2.0
#include "lock/runtime/runtime.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>

#include <holdfast/error.hpp>

#include "base/entropy.hpp"
#include "base/location.hpp"
#include "kinds/connection_name.hpp"
#include "kinds/server_calls.hpp"
#include "loop/guest_loop.hpp"
#include "loop/own_loop.hpp"
#include "redis/connection/login.hpp"
#include "redis/settings/local_url.hpp"
#include "system/system.hpp"

namespace holdfast::engine {

void Links::set(const redis::Shard* shard, std::string node, bool connected) noexcept {
  try {
    const base::Guard guard(mutex_);
    links_[shard] = {std::move(node), connected};
  } catch (...) {
    // Out of memory: this is only for display.
  }
}

void Links::drop(const redis::Shard* shard) noexcept {
  const base::Guard guard(mutex_);
  links_.erase(shard);
}

std::vector<std::pair<std::string, bool>> Links::all() const {
  std::vector<std::pair<std::string, bool>> out;
  const base::Guard guard(mutex_);
  out.reserve(links_.size());
  for (const auto& [shard, link] : links_) out.push_back(link);
  return out;
}

// ---- what its server is ----

namespace {

/// How long a list of connections is reused.
constexpr std::chrono::seconds kFresh{1};

}  // namespace

void KnownConnections::ask(Done done) {
  if (base::Clock::now() < known_at_ + kFresh) return done(connections_, false);
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  ask_server(wire::count_connections(), [this](const redis::Result& result) {
    const bool few = !result.replies.empty() && wire::are_few_connections(result.replies.front());
    if (few) return ask_list();
    tell(nullptr);
  });
}

void KnownConnections::ask_server(base::Command command, redis::Lane::Handler handler) {
  redis::Request request = redis::Request::of(std::move(command), command_timeout_);
  request.here = true;
  shard_.send(std::move(request), std::move(handler));
}

void KnownConnections::ask_list() {
  ask_server(wire::list_connections(), [this](const redis::Result& result) {
    std::optional<wire::Connections> list;
    if (!result.replies.empty()) list = wire::decode_connections(result.replies.front());
    tell(list ? std::make_shared<const wire::Connections>(std::move(*list)) : nullptr);
  });
}

void KnownConnections::tell(List connections) {
  connections_ = std::move(connections);
  known_at_ = base::Clock::now();
  bool first = true;
  for (const Done& done : std::exchange(waiting_, {})) {
    done(connections_, std::exchange(first, false));
  }
}

bool Identity::want() {
  wanted_.store(true);
  return router_.server() == 0;
}

void Identity::ask(std::shared_ptr<void> client) {
  redis::Shard* const only = router_.only_shard();
  if (only != nullptr && only->server() == 0 && under_way_ == 0) send(*only, std::move(client));
}

void Identity::on_connected(redis::Shard& shard, std::shared_ptr<void> client) {
  if (wanted_.load() && router_.only_shard() != nullptr) send(shard, std::move(client));
}

/// If there is no connection yet, the new connection asks again.
void Identity::send(redis::Shard& shard, std::shared_ptr<void> client) {
  ++under_way_;
  shard.send(redis::Request::of(wire::server_info(), timeout_),
             [this, &shard, client = std::move(client)](const redis::Result& result) {
               --under_way_;
               if (result.delivery != redis::Delivery::answered) return;
               const std::string run_id = wire::decode_run_id(result.replies.front());
               shard.identify(run_id.empty() ? redis::kNameless : std::hash<std::string>()(run_id));
               waited_for();
             });
}

bool Identity::to_be_waited_for() const { return !waited_for_.load() && router_.server() == 0; }

// ---- the client ----

namespace {

Config prepare(Config config) {
  config.validate();
  if (std::holds_alternative<LocalServer>(config.server)) config.server = UnixSocket{redis::local_server()};
  return config;
}

/// The UUID's version says whether the client's connections have names.
std::string make_id(const Config& config) { return wire::make_uuid(config.client_name.empty() ? 4 : 8); }

/// The settings of the connection, with a full name that identifies the client.
Config with_full_name(Config config, const std::string& id) {
  if (config.client_name.empty()) return config;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string label = config.label.empty() ? system::program_name() : config.label;
  config.client_name = wire::connection_name(config.client_name, {id, host.data(), getpid(), label});
  return config;
}

/// The server that is connected, or else what is configured.
std::string node_of(const redis::Shard& shard, const std::string& configured) {
  std::string address = shard.address();
  return address.empty() ? configured : address;
}

/// Converts exceptions of Asio and the system: no descriptors are left.
template <class Make>
auto in_words_of_ours(const std::string& node, Make&& make) {
  try {
    return make();
  } catch (const std::runtime_error& error) {
    throw Error(Errc::exhausted, {}, node, std::string("no descriptor could be had: ") + error.what());
  }
}

/// Whether a connection that ended for this cause is still needed.
bool needed(const std::string& cause) { return !cause.ends_with(redis::kNotNeeded); }

}  // namespace

Runtime::Runtime(Config config, boost::asio::io_context* host, redis::ServerEvents& events,
                 LookAtDeadlines look_at_deadlines)
    : config_(prepare(std::move(config))),
      id_(make_id(config_)),
      node_(config_.node()),
      events_(events),
      look_at_deadlines_(std::move(look_at_deadlines)),
      host_(host),
      loop_(in_words_of_ours(node_, [this] { return make_loop(); })),
      notifier_(host),
      signals_(host),
      reporter_(config_.observer, notifier_, config_.lock_class),
      listeners_(std::make_shared<redis::Listeners>()),
      router_(make_router()) {}

std::unique_ptr<Loop> Runtime::make_loop() {
  if (host_ != nullptr) {
    return std::make_unique<GuestLoop>(
        *host_, GuestLoop::Hooks{.settle = [this] { router_->flush(); }, .recover = [this] { router_->recover(); }});
  }
  auto loop = std::make_unique<OwnLoop>(OwnLoop::Hooks{.settle = [this] { router_->flush(); },
                                                       .sockets = [this] { return router_->sockets(); },
                                                       .recover = [this] { router_->recover(); }});
  own_loop_ = loop.get();
  return loop;
}

std::unique_ptr<redis::Router> Runtime::make_router() {
  return redis::make_router(loop_->schedule(), with_full_name(config_, id_), listeners_, *this);
}

void Runtime::start(std::weak_ptr<void> client) {
  client_ = std::move(client);
  if (own_loop_ == nullptr) {
    static_cast<GuestLoop&>(*loop_).start(client_);
    loop_->defer([this] { router_->start(client_); });
    return;
  }
  try {
    // All of them now: later no thread may be available, and losses must be reported.
    notifier_.start();
    signals_.start(look_at_deadlines_);
    own_loop_->start();
  } catch (const std::system_error& error) {
    throw Error(Errc::exhausted, {}, node_, std::string("no thread could be started: ") + error.code().message());
  }
  loop_->defer([this] { router_->start({}); });
}

// ---- the server ----

void Runtime::identify() {
  if (identity_.want()) hand_over([this] { identity_.ask(keep_alive()); });
}

bool Runtime::has_successors() const { return redis::must_be_primary(config_) || base::cluster_of(config_) != nullptr; }

void Runtime::answered(redis::Shard&, redis::Operation operation, Duration took) {
  reporter_.meter.on_command(operation, took);
  loop_->answered(took);
}

void Runtime::connected(redis::Shard& shard) {
  links_.set(&shard, node_of(shard, node_), true);
  reporter_.add(&Counters::connections);
  reporter_.tell(&Observer::on_connection, [&] {
    return ConnectionEvent{node_of(shard, node_), true, reporter_.count(&Counters::connections), {}};
  });
  identity_.on_connected(shard, keep_alive());
  events_.connected(shard);
}

void Runtime::disconnected(redis::Shard& shard, const std::string& cause) {
  events_.disconnected(shard, cause);
  if (needed(cause)) {
    links_.set(&shard, node_of(shard, node_), false);
  } else {
    links_.drop(&shard);
  }
  reporter_.tell(&Observer::on_connection, [&] {
    return ConnectionEvent{node_of(shard, node_), false, reporter_.count(&Counters::connections), cause, needed(cause)};
  });
}

KnownConnections& Runtime::known_connections(redis::Shard& shard) {
  return known_connections_.try_emplace(&shard, shard, config_.timing.command_timeout).first->second;
}

void Runtime::send(redis::Request request, redis::Lane::Handler handler, std::size_t most_waiting) {
  if (!request.tells.empty()) handler = telling_again(*router_, request, std::move(handler));
  if (loop_->inside()) return router_->send(std::move(request), std::move(handler));
  redis::Result refused;
  {
    const base::Guard guard(over_mutex_);
    if (!over() && waiting_ < most_waiting) {
      loop_->defer([this, request = std::move(request), handler = std::move(handler)]() mutable {
        {
          const base::Guard taken(over_mutex_);
          --waiting_;
        }
        router_->send(std::move(request), std::move(handler));
      });
      ++waiting_;  // counts only posted requests; the mutex is held until then
      return;
    }
    refused.pointless = over();
    refused.error = refused.pointless ? Errc::closed : Errc::unreachable;
  }
  if (!refused.pointless) refused.cause = "its client's loop stands still";
  handler(std::move(refused));
}

bool Runtime::may_pass(const redis::Result& unanswered) const {
  if (unanswered.error == Errc::closed) return false;
  return !unanswered.refused || reporter_.count(&Counters::connections) > 0;
}

// ---- admission of work ----

wire::Owner Runtime::make_owner() const { return owner(base::next_number()); }

std::error_code Runtime::unusable() const noexcept {
  if (in_child()) return Errc::forked;
  if (closed()) return Errc::closed;
  return {};
}

void Runtime::require_usable(const std::string& name) const {
  if (const std::error_code error = unusable()) throw Error(static_cast<Errc>(error.value()), name, node_, {});
}

void Runtime::require_waiting(const std::string& name) const {
  if (host_ == nullptr) return;
  throw Error(Errc::would_deadlock, name, node_,
              "this client runs on the caller's io_context: use the calls of async.hpp, which do not wait");
}

/// Sequentially consistent, like begin_close(): the work is counted before it is read whether the client is open.
Runtime::Admission Runtime::admit() {
  Admission admission{pending_.begin(), {}};
  admission.refused = unusable();
  if (admission.refused) admission.token = {};
  return admission;
}

// ---- the end ----

void Runtime::stop_taking() {
  const base::Guard guard(over_mutex_);
  life_ = Life::over;
}

void Runtime::stop_work() {
  router_->close();
  loop_->schedule().close();
}

void Runtime::stop_threads() {
  if (own_loop_ == nullptr) return;
  own_loop_->finish(kRunOut);
  stop_taking();  // if it was stopped in the middle of its work
  signals_.stop();
  notifier_.stop();
}

void Runtime::halt() {
  if (own_loop_ != nullptr) own_loop_->finish({});
  signals_.stop();
}

void Runtime::refuse_work() noexcept {
  stop_taking();
  pending_.when_none({});
}

void Runtime::drop_all() noexcept {
  loop_->shut();
  notifier_.stop();
  signals_.stop();
  router_->drop_all();
  loop_->schedule().drop_all();
}

}  // namespace holdfast::engine
