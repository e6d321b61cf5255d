#include "cli/run_lock.hpp"

#include <array>
#include <memory>

#include <fmt/format.h>

#include "cli/around.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// How long the tool tries to release a lock that is lost, or could not be renewed.
constexpr milliseconds kLastWord{300};

}  // namespace

RunLock::RunLock(const RunOptions& options, const Console& console, RunReport& report, std::vector<Config> configs)
    : options_(options),
      console_(console),
      report_(report),
      patience_(configs.front().patience),
      servers_(std::move(configs)) {
  report_.node = servers_.in_words();
  report_.nodes = servers_.nodes();
}

AcquisitionResult RunLock::acquire(const RunTimes& times, const SignalGate& signals) {
  if ((options_.fresh || options_.at) && report_.nodes.size() > 1) {
    throw UsageError("run: --fresh and --at are for one server");
  }
  BasicLock lock =
      options_.any ? servers_.any_of(options_.names, options_.kind) : servers_.lock(options_.names, options_.kind);
  report_.name = lock.name();
  AcquireOptions options;
  options.wait = options_.wait;
  options.lease = options_.fixed ? fixed(times.lease) : renewed(times.lease);
  options.max_hold = options_.max_hold;
  Acquisition acquisition(lock, options, prepare(), ask_holder(), perseverance());
  while (interrupted_by_ == 0 && !acquisition.done()) {
    wait_readable(std::array{signals.fd(), acquisition.done_fd()});
    while (const std::optional<int> signal = signals.next()) {
      if (SignalGate::is_ending(*signal)) interrupted_by_ = *signal;
    }
  }
  if (interrupted_by_ != 0) acquisition.stop();
  return acquisition.take();
}

Prepare RunLock::prepare() {
  if (!options_.max) return {};
  return [this](milliseconds limit, const std::stop_token& stop) {
    servers_.say_how_many(options_.names.front(), *options_.max, limit, stop);
  };
}

AskHolder RunLock::ask_holder() {
  const bool reports = console_.json() || options_.status_fd;
  AskHolder ask{.ask = [&](milliseconds limit) { return servers_.holders(options_.names, options_.kind, limit); },
                .before = {},
                .after = reports || !console_.quiet()};
  // If one of several is held, the others may still be free.
  if (!options_.any && (console_.verbose() || reports || !owners_around().empty())) {
    ask.before = [this](const std::vector<LockInfo>& holders) {
      refuse_to_wait_for_ourselves(holders);
      console_.detail(
          fmt::format("{}: held by {}, waiting", report_.lock_in_words(), holder_in_words(holders.front())));
    };
  }
  return ask;
}

/// Connecting is part of the wait. Without a limit, a server that is not up yet gets the same patience as one that has
/// gone away. A candidate of `elect` retries by itself.
Perseverance RunLock::perseverance() {
  return {.limit = options_.campaigns ? milliseconds() : options_.wait.value_or(patience_),
          .patience = patience_,
          .reached = [this] { return servers_.reached(); },
          .tell =
              [this](const Error& error, milliseconds left) {
                console_.note(fmt::format("{}; trying again for {}", error.what(), in_words(left)));
              }};
}

int RunLock::not_acquired(const AcquisitionResult& result) {
  try {
    std::rethrow_exception(result.failure);
  } catch (const Error& error) {
    auto code = static_cast<Errc>(error.code().value());
    const bool in_vain = code == Errc::busy || code == Errc::timed_out;
    if (in_vain && options_.wait == milliseconds::zero()) code = Errc::busy;
    // With several servers, the cause already names them.
    const Error told(code, error.key(), error.node().empty() ? "" : report_.node, error.cause(), error.may_pass());
    if (!in_vain) throw Error(told);
    Problem problem = Problem::from(told);
    problem.exit_code = options_.conflict_exit_code;
    if (result.holder) {
      const auto left = result.holder->remaining;
      // After a long wait the failure itself names the holder.
      const std::string who = holder_in_words(*result.holder);
      const bool named = told.cause().find(who) != std::string::npos;
      problem.message += fmt::format(" ({}{})", named ? printable(result.holder->owner) : who,
                                     left ? fmt::format(", {} left", in_words(*left)) : "");
    }
    report_.problem = problem;
    console_.note(problem.message);
    return problem.exit_code;
  }
}

std::optional<RunMarks::Skip> RunLock::reason_to_skip() {
  if (!options_.fresh && !options_.at) return std::nullopt;
  marks_.emplace(options_, servers_.first());
  return marks_->reason_to_skip();
}

void RunLock::command_begins() {
  if (marks_) marks_->command_begins();
}

void RunLock::command_ended(const Hold& hold, const ChildEnd& end) {
  if (!marks_) return;
  if (end.exec_error != 0) marks_->command_never_began();
  const bool succeeded = end.exec_error == 0 && end.signal == 0 && end.exit_code == 0;
  if (!succeeded || report_.lost || hold.valid_for() <= milliseconds::zero()) return;
  if (const auto trouble = marks_->command_succeeded()) console_.note(*trouble);
}

void RunLock::release(Hold& hold, milliseconds rest) {
  marks_.reset();
  if (!report_.lost) {
    report_.release = hold.leave(rest);
    return;
  }
  // The server may be silent, and waiting for it is of no use.
  last_word_ = std::async(std::launch::async,
                          [last = std::make_shared<Hold>(std::move(hold)), rest] { return last->leave(rest); });
  const bool answered = last_word_.wait_for(kLastWord) == std::future_status::ready;
  report_.release = answered ? last_word_.get() : ReleaseOutcome::unknown;
}

void RunLock::close() {
  marks_.reset();
  const bool waited_for_it = report_.lost || report_.release == ReleaseOutcome::unknown;
  // With several servers, some may not have received the release yet.
  const bool done = report_.release == ReleaseOutcome::released || report_.release == ReleaseOutcome::left;
  const bool settled = done && report_.nodes.size() == 1;
  if (!waited_for_it && !settled) servers_.close();
}

}  // namespace holdfast::cli
