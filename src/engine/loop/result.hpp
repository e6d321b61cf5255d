// The result of a task, for a caller who is called with it, or who waits for it on a client's own loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "engine/loop/own_loop.hpp"

namespace holdfast::engine {

/// At the end of a task: tells whoever is to be told, if that has not been done.
template <class Result>
void tell_once(std::function<void(Result)>& done, Result result) noexcept {
  const std::function<void(Result)> told = std::exchange(done, {});
  try {
    if (told) told(std::move(result));
  } catch (...) {
    // Out of memory for whoever was to be told.
  }
}

/// Runs on the loop the task that `make` returns, which is to call the function that `make` is given, and waits for
/// that. Empty: `until` was reached first, or the loop is over. Not from the loop itself.
template <class Result, class Make>
std::optional<Result> await_result(OwnLoop& loop, base::TimePoint until, Make make) {
  struct Waiting {
    Answer answer;
    Result result{};
  };
  const auto waiting = std::make_shared<Waiting>();
  loop.call(make(std::function<void(Result)>([waiting, &loop](Result result) {
              waiting->result = std::move(result);
              loop.set(waiting->answer);
            })),
            waiting->answer, until);
  if (!waiting->answer.is_there()) return std::nullopt;
  return std::move(waiting->result);
}

}  // namespace holdfast::engine
