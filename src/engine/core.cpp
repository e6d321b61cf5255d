#include "engine/core.hpp"

#include <algorithm>

#include <holdfast/error.hpp>

#include "base/ids.hpp"
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

Core::Core(Config config)
    : config_(prepare(std::move(config))),
      id_(base::make_uuid()),
      node_(config_.node()),
      loop_([this] { lane_.flush(); }, [this] { return watchdog_.next_look(); }),
      reporter_(config_.observer, notifier_),
      channels_(std::make_shared<redis::Channels>()),
      sites_(std::make_shared<Sites>(channels_, config_.name_prefix, config_.handoff)),
      lane_(loop_.context(), config_, *channels_,
            {.connected = [this] { on_connected(); },
             .disconnected =
                 [this](const std::string& cause) {
                   reporter_.tell(&Observer::on_connection, [&] {
                     return ConnectionEvent{node_, false, reporter_.snapshot().connections, cause};
                   });
                 },
             .message = [this] { Reporter::add(reporter_.count.wakes); },
             .command = [this] { Reporter::add(reporter_.count.commands); }}),
      watchdog_(*this, {config_.renewal_batch, config_.command_timeout}) {
  loop_.start();
  lane_.start();
}

Core::~Core() { close(); }

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
  struct Asking final : Loop::Task, std::enable_shared_from_this<Asking> {
    Asking(Core& its_core, std::vector<base::Command> its_commands)
        : core(its_core), commands(std::move(its_commands)) {}
    void run() override {
      core.lane_.send({std::move(commands), core.config_.command_timeout, {}},
                      [self = shared_from_this()](redis::Result reply) {
                        self->result = std::move(reply);
                        self->core.loop_.set(self->answer);
                      });
    }
    Core& core;
    std::vector<base::Command> commands;
    Loop::Answer answer;
    redis::Result result;
  };
  const auto asking = std::make_shared<Asking>(*this, std::move(commands));
  // The lane answers within the command's time limit; the slack is for a machine that stands still.
  const TimePoint until = base::Clock::now() + config_.command_timeout * 2 + std::chrono::seconds(5);
  loop_.call(asking, asking->answer, until);
  if (!asking->answer.is_there()) throw Error(closed_ ? Errc::closed : Errc::unknown_outcome, name, node_, "no reply");
  redis::Result& result = asking->result;
  if (result.delivery != redis::Delivery::answered) {
    throw Error(static_cast<Errc>(result.error.value()), name, node_, result.cause);
  }
  for (const base::Reply& reply : result.replies) {
    if (errors == Errors::raise && reply.is_error()) throw Error(redis::classify(reply.text), name, node_, reply.text);
  }
  return std::move(result.replies);
}

void Core::send(redis::Request request, redis::Lane::Handler handler) {
  if (loop_.inside()) {
    lane_.send(std::move(request), std::move(handler));
  } else {
    lane_.submit(std::move(request), std::move(handler));
    loop_.nudge();
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

void Core::close() noexcept {
  const std::scoped_lock guard(close_mutex_);
  if (closed_.exchange(true)) return;  // sequentially consistent, as is its reading: see Shell::attempt
  try {
    const std::vector<std::shared_ptr<Target>> open = targets();
    for (const std::shared_ptr<Target>& target : open) target->close();
    end_holds();
    // Releases, and attempts whose callers have just left: a grant that still comes is given back. One that came while
    // the holds were being ended is found the second time; nothing can follow that.
    const TimePoint limit = base::Clock::now() + config_.release_timeout;
    pending_.wait(limit - base::Clock::now());
    end_holds();
    pending_.wait(limit - base::Clock::now());
    for (const std::shared_ptr<Target>& target : open) target->forget_threads();
    loop_.defer([this] {
      watchdog_.stop();
      lane_.close();
      for (Timer* timer : pauses_) timer->cancel();
    });
  } catch (...) {
    // Out of memory: what is under way ends with its lease.
  }
  loop_.finish(kRunOut);
  signals_.stop();
  notifier_.stop();
}

}  // namespace holdfast::engine
