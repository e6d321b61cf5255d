#include "cli/run_marks.hpp"

#include <chrono>
#include <tuple>

#include <fmt/format.h>

#include <holdfast/error.hpp>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

/// How long a firing is remembered, which limits how far apart its first and last start may be.
constexpr std::chrono::hours kFiringLife{24};

constexpr std::chrono::milliseconds kAskOnce{0};

}  // namespace

RunMarks::~RunMarks() {
  if (!firing_ || !begun_) return;  // the destructor releases it
  try {
    std::ignore = firing_->detach();
  } catch (const Error&) {
    // It is gone, so nothing can be left.
  }
}

std::optional<RunMarks::Skip> RunMarks::reason_to_skip() {
  if (options_.fresh) {
    const LockInfo seen = mark("holdfast_succeeded").info(Detail::owner);
    if (!seen.owner.empty()) {
      const std::string due = seen.remaining ? fmt::format("it is due again in {}", in_words(*seen.remaining))
                                             : std::string("nothing says when it is due again");
      return Skip{"fresh", fmt::format("the command has succeeded already; {}", due)};
    }
  }
  if (options_.at) {
    MaybeHold mine = mark("holdfast_at:" + *options_.at).try_acquire({.wait = kAskOnce, .lease = fixed(kFiringLife)});
    if (!mine) return Skip{"at", fmt::format("a command has already begun for {}", *options_.at)};
    firing_.emplace(std::move(*mine));
  }
  return std::nullopt;
}

std::optional<std::string> RunMarks::command_succeeded() {
  if (!options_.fresh) return std::nullopt;
  try {
    MaybeHold mark_of_it = mark("holdfast_succeeded").try_acquire({.wait = kAskOnce, .lease = fixed(*options_.fresh)});
    if (mark_of_it) std::ignore = mark_of_it->detach();
  } catch (const Error& error) {
    return fmt::format("that the command has succeeded is not known to others: {}", error.what());
  }
  return std::nullopt;
}

SimpleLock RunMarks::mark(std::string_view what) const {
  return client_.simple_lock(mark_name(options_.names.front(), what));
}

std::string mark_name(std::string_view lock, std::string_view what) {
  const bool whole = lock.find('}') == lock.npos;
  return whole ? fmt::format("{{{}}}:{}", lock, what) : fmt::format("{}:{}", lock, what);
}

}  // namespace holdfast::cli
