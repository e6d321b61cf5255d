#include "engine/client/core.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <unistd.h>

#include <holdfast/error.hpp>

#include "base/ids.hpp"
#include "engine/client/closing.hpp"
#include "engine/client/guests.hpp"
#include "redis/failures/errors.hpp"
#include "redis/local/local_server.hpp"
#include "wire/connection_name.hpp"

namespace holdfast::engine {
namespace {

Config prepare(Config config) {
  config.validate();
  if (config.local) config.unix_socket = redis::ensure_local_server();
  return config;
}

/// A client that gives no name has a UUID that does not promise one.
std::string make_id(const Config& config) { return base::make_uuid(config.client_name.empty() ? 4 : 8); }

/// The settings of the connection: its name tells whose it is.
Config with_full_name(Config config, const std::string& id) {
  if (config.client_name.empty()) return config;
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  const std::string label = config.label.empty() ? program_invocation_short_name : config.label;
  config.client_name = wire::connection_name(config.client_name, {id, host.data(), getpid(), label});
  return config;
}

/// How long close() waits for the loop to run out of work before it stops it.
constexpr std::chrono::seconds kRunOut{2};

}  // namespace

Core::Core(Config config, boost::asio::io_context* host)
    : config_(prepare(std::move(config))),
      id_(make_id(config_)),
      node_(config_.node()),
      host_(host),
      loop_(make_loop()),
      notifier_(elsewhere()),
      signals_(elsewhere()),
      reporter_(config_.observer, notifier_),
      channels_(std::make_shared<redis::Channels>()),
      sites_(std::make_shared<Sites>(channels_, config_.name_prefix, config_.handoff)),
      lane_(loop_->executor(), with_full_name(config_, id_), *channels_,
            {.connected = [this] { on_connected(); },
             .disconnected =
                 [this](const std::string& cause) {
                   server_.store(0, std::memory_order_relaxed);
                   reporter_.tell(&Observer::on_connection, [&] {
                     return ConnectionEvent{node_, false, reporter_.snapshot().connections, cause};
                   });
                 },
             .message = [this] { Reporter::add(reporter_.count.wakes); },
             .command = [this] { Reporter::add(reporter_.count.commands); },
             .to_be_flushed = [this](std::size_t bytes) { loop_->to_be_settled(bytes); }}),
      watchdog_(*this, {config_.renewal_batch, config_.command_timeout}),
      rounds_(*this) {}

Core::~Core() {
  if (own_loop_ != nullptr) own_loop_->finish({});
  signals_.stop();  // its thread looks at the watchdog
}

std::shared_ptr<Core> Core::make(Config config, boost::asio::io_context* host) {
  auto core = std::make_shared<Core>(std::move(config), host);
  core->start();
  return core;
}

std::unique_ptr<Loop> Core::make_loop() {
  if (host_ != nullptr) return std::make_unique<GuestLoop>(*host_, [this] { lane_.flush(); });
  auto loop = std::make_unique<OwnLoop>(OwnLoop::Hooks{.settle = [this] { lane_.flush(); },
                                                       .next_due = [this] { return watchdog_.next_look(); },
                                                       .socket = [this] { return lane_.socket(); },
                                                       .recover = [this] { lane_.recover(); }});
  own_loop_ = loop.get();
  return loop;
}

/// A guest's callbacks run where everything of the caller's runs.
Notifier::Elsewhere Core::elsewhere() const {
  if (host_ == nullptr) return {};
  return [strand = boost::asio::make_strand(*host_)](std::function<void()> task) {
    boost::asio::post(strand, std::move(task));
  };
}

void Core::start() {
  if (own_loop_ != nullptr) {
    try {
      // All of them now: later there may be no thread to be had, and somebody must hear of a loss.
      notifier_.start();
      signals_.start([this] { return watchdog_.look_at_deadlines(); });
      own_loop_->start();
    } catch (const std::system_error& error) {
      throw Error(Errc::exhausted, {}, node_, std::string("no thread could be started: ") + error.code().message());
    }
    loop_->defer([this] { lane_.start({}); });
  } else {
    static_cast<GuestLoop&>(*loop_).start(weak_from_this());
    boost::asio::use_service<Guests>(*host_).add(weak_from_this());
    loop_->defer([this] { lane_.start(weak_from_this()); });
  }
}

void Core::on_connected() {
  Reporter::add(reporter_.count.connections);
  reporter_.tell(&Observer::on_connection,
                 [&] { return ConnectionEvent{node_, true, reporter_.snapshot().connections, {}}; });
  if (identifies_server_.load()) ask_which_server();
  watchdog_.on_connected();
  // A message may have been missed while there was no connection.
  for (const std::shared_ptr<Target>& target : targets(Which::all)) target->wake();
}

void Core::identify_server() {
  if (!identifies_server_.exchange(true)) ask_which_server();
}

/// Its reply comes before that of any acquire behind it. Where there is no connection yet, it is asked again on that.
void Core::ask_which_server() {
  send(redis::Request::of(wire::server_info(), config_.command_timeout),
       [this, keep = keep_alive()](const redis::Result& result) {
         if (result.delivery != redis::Delivery::answered) return;
         const std::string run_id = wire::decode_run_id(result.replies.front());
         server_.store(run_id.empty() ? 0 : std::hash<std::string>()(run_id), std::memory_order_relaxed);
       });
}

void Core::adopt(const std::shared_ptr<Target>& target, Bond bond) {
  const base::Guard guard(mutex_);
  std::erase_if(adopted_, [](const Adopted& each) { return each.target.expired(); });
  adopted_.push_back({target, bond});
}

std::vector<std::shared_ptr<Target>> Core::targets(Which which) {
  std::vector<std::shared_ptr<Target>> out;
  const base::Guard guard(mutex_);
  for (std::shared_ptr<Site>& site : sites_->all()) out.push_back(std::move(site));
  for (const Adopted& each : adopted_) {
    if (which == Which::own && each.bond == Bond::wakes) continue;
    if (std::shared_ptr<Target> target = each.target.lock()) out.push_back(std::move(target));
  }
  return out;
}

wire::Owner Core::make_owner() const { return owner(base::next_number()); }

LeaseTerms Core::lease_terms(const AcquireOptions& options, const std::string& name) const {
  LeaseTerms terms;
  terms.renewed = options.lease.kind() == Lease::Kind::renewed;
  terms.length = options.lease.length().value_or(config_.lease);
  terms.max_hold = options.max_hold;
  if (terms.length < kShortestLease || terms.length > kLongestLease) {
    throw Error(Errc::invalid_argument, name, node_,
                "a lease of " + std::to_string(terms.length.count()) + " ms; it must be between 10 ms and 10 years");
  }
  if (terms.max_hold && (terms.max_hold->count() <= 0 || *terms.max_hold > kLongestLease)) {
    throw Error(Errc::invalid_argument, name, node_,
                "max_hold of " + std::to_string(terms.max_hold->count()) + " ms; it must be above 0, up to 10 years");
  }
  return terms;
}

std::vector<base::Reply> Core::ask(std::vector<base::Command> commands, const std::string& name, Errors errors) {
  require_usable(name);
  require_waiting(name);
  struct Asking final : Loop::Task, std::enable_shared_from_this<Asking> {
    Asking(Core& its_core, std::vector<base::Command> its_commands)
        : core(its_core), commands(std::move(its_commands)) {}
    void run() override {
      core.lane_.send({std::move(commands), core.config_.command_timeout, {}},
                      [self = shared_from_this()](redis::Result reply) {
                        self->result = std::move(reply);
                        self->core.own_loop_->set(self->answer);
                      });
    }
    void broken() noexcept override {
      result.error = Errc::exhausted;
      core.own_loop_->set(answer);
    }
    Core& core;
    std::vector<base::Command> commands;
    OwnLoop::Answer answer;
    redis::Result result;
  };
  const auto asking = std::make_shared<Asking>(*this, std::move(commands));
  // The lane answers within the command's time limit; the slack is for a machine that stands still.
  const TimePoint until = base::Clock::now() + config_.command_timeout * 2 + std::chrono::seconds(5);
  own_loop_->call(asking, asking->answer, until);
  if (!asking->answer.is_there()) throw Error(closed_ ? Errc::closed : Errc::unknown_outcome, name, node_, "no reply");
  return replies(std::move(asking->result), name, errors);
}

std::vector<base::Reply> Core::replies(redis::Result result, const std::string& name, Errors errors) const {
  if (result.delivery != redis::Delivery::answered) {
    throw Error(static_cast<Errc>(result.error.value()), name, node_, result.cause);
  }
  for (const base::Reply& reply : result.replies) {
    if (errors == Errors::keep || !reply.is_error()) continue;
    throw Error(redis::classify(reply.text).code, name, node_, redis::explain(reply.text));
  }
  return std::move(result.replies);
}

void Core::send(redis::Request request, redis::Lane::Handler handler, std::size_t most_waiting) {
  if (loop_->inside()) return lane_.send(std::move(request), std::move(handler));
  redis::Result refused;
  {
    const base::Guard guard(over_mutex_);
    if (!over_ && waiting_ < most_waiting) {
      ++waiting_;
      loop_->defer([this, request = std::move(request), handler = std::move(handler)]() mutable {
        {
          const base::Guard taken(over_mutex_);
          --waiting_;
        }
        lane_.send(std::move(request), std::move(handler));
      });
      return;
    }
    refused.pointless = over_;
    refused.error = over_ ? Errc::closed : Errc::unreachable;
  }
  if (!refused.pointless) refused.cause = "its client's loop stands still";
  handler(std::move(refused));
}

/// What was handed in before this is answered by the lane, as the loop runs out of work.
void Core::stop_taking() {
  const base::Guard guard(over_mutex_);
  over_ = true;
}

std::error_code Core::unusable() const noexcept {
  if (in_child()) return Errc::forked;
  if (closed_.load()) return Errc::closed;
  return {};
}

void Core::require_usable(const std::string& name) const {
  if (const std::error_code error = unusable()) throw Error(static_cast<Errc>(error.value()), name, node_, {});
}

void Core::require_waiting(const std::string& name) const {
  if (host_ == nullptr) return;
  throw Error(Errc::would_deadlock, name, node_,
              "this client runs on the caller's io_context: use the calls of async.hpp, which do not wait");
}

void Core::end_holds() {
  for (const std::shared_ptr<HeldLock>& hold : watchdog_.armed()) {
    hold->on_closed();
    if (config_.on_close == OnClose::leave_to_expire) {
      watchdog_.disarm(*hold);
    } else {
      hold->give_up();
    }
  }
}

void Core::start_close(std::function<void()> done) {
  bool first = false;
  {
    const base::Guard guard(mutex_);
    if (!all_over_) {
      if (done) when_closed_.push_back(std::exchange(done, {}));
      first = !closed_.exchange(true);  // sequentially consistent, as is its reading: see AcquireOp::attempt
    }
  }
  if (first) std::make_shared<Closing>(shared_from_this())->start();
  if (done) done();
}

void Core::on_closed() {
  std::vector<std::function<void()>> told;
  {
    const base::Guard guard(mutex_);
    all_over_ = true;
    told.swap(when_closed_);
  }
  for (const std::function<void()>& done : told) done();
}

void Core::drop_all() noexcept {
  closed_.store(true);
  stop_taking();
  pending_.when_none({});
  for (const std::shared_ptr<Target>& target : targets(Which::own)) target->drop_waiters();
  loop_->shut();
  lane_.drop_all();
  watchdog_.drop_all();
  rounds_.drop_all();
  sites_->let_go();
  std::vector<std::function<void()>> untold;
  {
    const base::Guard guard(mutex_);
    untold.swap(when_closed_);
  }
}

void Core::close() noexcept {
  const base::Guard guard(close_mutex_);
  try {
    if (own_loop_ == nullptr) return start_close({});
    const auto closed = std::make_shared<std::promise<void>>();
    start_close([closed] { closed->set_value(); });
    closed->get_future().wait_for(config_.release_timeout + kRunOut);
  } catch (...) {
    // Out of memory: what is under way ends with its lease.
  }
  if (own_loop_ == nullptr) return;
  own_loop_->finish(kRunOut);
  stop_taking();  // if it was stopped in the middle of its work
  signals_.stop();
  notifier_.stop();
}

}  // namespace holdfast::engine
