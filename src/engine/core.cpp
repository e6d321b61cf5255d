#include "engine/core.hpp"

#include <algorithm>
#include <future>

#include <holdfast/error.hpp>

#include "base/ids.hpp"
#include "engine/closing.hpp"
#include "engine/guests.hpp"
#include "redis/errors.hpp"
#include "redis/local_server.hpp"

namespace holdfast::engine {
namespace {

Config prepare(Config config) {
  config.validate();
  if (config.local) config.unix_socket = redis::ensure_local_server();
  return config;
}

/// How long close() waits for the loop to run out of work before it stops it.
constexpr std::chrono::seconds kRunOut{2};

}  // namespace

Core::Core(Config config, boost::asio::io_context* host)
    : config_(prepare(std::move(config))),
      id_(base::make_uuid()),
      node_(config_.node()),
      host_(host),
      loop_(make_loop()),
      notifier_(elsewhere()),
      signals_(elsewhere()),
      reporter_(config_.observer, notifier_),
      channels_(std::make_shared<redis::Channels>()),
      sites_(std::make_shared<Sites>(channels_, config_.name_prefix, config_.handoff)),
      lane_(loop_->executor(), config_, *channels_,
            {.connected = [this] { on_connected(); },
             .disconnected =
                 [this](const std::string& cause) {
                   reporter_.tell(&Observer::on_connection, [&] {
                     return ConnectionEvent{node_, false, reporter_.snapshot().connections, cause};
                   });
                 },
             .message = [this] { Reporter::add(reporter_.count.wakes); },
             .command = [this] { Reporter::add(reporter_.count.commands); },
             .to_be_flushed = [this](std::size_t bytes) { loop_->to_be_settled(bytes); }}),
      watchdog_(*this, {config_.renewal_batch, config_.command_timeout}) {}

Core::~Core() {
  if (own_loop_ != nullptr) own_loop_->finish({});
}

std::shared_ptr<Core> Core::make(Config config, boost::asio::io_context* host) {
  auto core = std::make_shared<Core>(std::move(config), host);
  core->start();
  return core;
}

std::unique_ptr<Loop> Core::make_loop() {
  if (host_ != nullptr) return std::make_unique<GuestLoop>(*host_, [this] { lane_.flush(); });
  auto loop = std::make_unique<OwnLoop>([this] { lane_.flush(); }, [this] { return watchdog_.next_look(); });
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
    own_loop_->start();
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
  watchdog_.on_connected();
  // A message may have been missed while there was no connection.
  for (const std::shared_ptr<Target>& target : targets()) target->wake();
}

void Core::adopt(const std::shared_ptr<Target>& target) {
  const std::scoped_lock guard(mutex_);
  std::erase_if(adopted_, [](const auto& weak) { return weak.expired(); });
  adopted_.push_back(target);
}

std::vector<std::shared_ptr<Target>> Core::targets() {
  std::vector<std::shared_ptr<Target>> out;
  const std::scoped_lock guard(mutex_);
  for (std::shared_ptr<Site>& site : sites_->all()) out.push_back(std::move(site));
  for (const auto& weak : adopted_) {
    if (std::shared_ptr<Target> target = weak.lock()) out.push_back(std::move(target));
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
    if (errors == Errors::raise && reply.is_error()) throw Error(redis::classify(reply.text), name, node_, reply.text);
  }
  return std::move(result.replies);
}

void Core::send(redis::Request request, redis::Lane::Handler handler) {
  if (loop_->inside()) {
    lane_.send(std::move(request), std::move(handler));
  } else {
    loop_->defer([this, request = std::move(request), handler = std::move(handler)]() mutable {
      lane_.send(std::move(request), std::move(handler));
    });
  }
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
      hold->release_async({});
    }
  }
}

void Core::start_close(std::function<void()> done) {
  bool first = false;
  {
    const std::scoped_lock guard(mutex_);
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
    const std::scoped_lock guard(mutex_);
    all_over_ = true;
    told.swap(when_closed_);
  }
  for (const std::function<void()>& done : told) done();
}

void Core::drop_all() noexcept {
  closed_.store(true);
  pending_.when_none({});
  for (const std::shared_ptr<Target>& target : targets()) target->drop_waiters();
  loop_->drop_inbox();
  lane_.drop_all();
  watchdog_.drop_all();
  std::vector<std::function<void()>> untold;
  {
    const std::scoped_lock guard(mutex_);
    untold.swap(when_closed_);
  }
}

void Core::close() noexcept {
  const std::scoped_lock guard(close_mutex_);
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
  signals_.stop();
  notifier_.stop();
}

}  // namespace holdfast::engine
