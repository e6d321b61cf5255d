// SPDX-License-Identifier: Apache-2.0
#include "fuzz/stage.hpp"

#include <algorithm>
#include <array>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "fuzz/fuzz.hpp"

namespace holdfast::fuzz {
namespace {

Stage* the_stage = nullptr;
/// Handlers that run without anything happening outside; beyond that something goes around in a circle.
constexpr int kMostHandlers = 100'000;

}  // namespace

Stage::Stage() {
  require(the_stage == nullptr, "there is one stage at a time");
  the_stage = this;
}

Stage::~Stage() {
  ending_ = true;
  while (!servers_.empty()) hang_up(0);
  std::exchange(dials_, {}).clear();
  waits_.clear();
  context_.reset();
  the_stage = nullptr;
}

Stage* Stage::current() { return the_stage; }

void Stage::settle() {
  context_->restart();
  for (int handlers = 0; context_->poll_one() > 0; ++handlers) {
    require(handlers < kMostHandlers, "the loop comes to rest");
    between_();
  }
}

void Stage::pass(base::Duration time) {
  pass_until(time, [] { return false; });
}

void Stage::pass_until(base::Duration most, const std::function<bool()>& over) {
  const base::TimePoint last = now_ + most;
  settle();
  while (!over()) {
    const Wait* const due = next();
    if (due == nullptr || due->time > last) {
      now_ = last;
      return;
    }
    now_ = std::max(now_, due->time);
    boost::asio::post(*context_, due->handler);
    end(due->timer);
    settle();
  }
}

void Stage::pass_to_next(base::Duration most) {
  settle();
  const Wait* const due = next();
  if (due == nullptr) return;
  const base::Duration left = due->time - now_;
  if (left <= most) pass(std::max(left, base::Duration(0)));
}

// --- timers ---

const Stage::Wait* Stage::next() const {
  const auto first = std::ranges::min_element(waits_, {}, &Wait::time);
  return first == waits_.end() ? nullptr : &*first;
}

void Stage::start(const timing::Timer* timer, base::TimePoint time, std::function<void()> handler) {
  waits_.push_back({timer, time, std::move(handler)});
}

void Stage::end(const timing::Timer* timer) {
  std::erase_if(waits_, [timer](const Wait& wait) { return wait.timer == timer; });
}

// --- connections ---

void Stage::dial(std::function<void(int)> done) {
  if (!ending_) dials_.push_back(std::move(done));
}

bool Stage::accept() {
  if (dials_.empty()) return false;
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0, "there are sockets");
  if (servers_.size() == kMostConnections) hang_up(0);
  servers_.push_back(ends[0]);
  at_ = servers_.size() - 1;
  const auto done = std::move(dials_.front());
  dials_.pop_front();
  done(ends[1]);
  settle();
  return true;
}

bool Stage::refuse() {
  if (dials_.empty()) return false;
  const auto done = std::move(dials_.front());
  dials_.pop_front();
  done(-1);
  settle();
  return true;
}

void Stage::turn_to(std::size_t connection) {
  if (!servers_.empty()) at_ = connection % servers_.size();
}

void Stage::say(std::string_view bytes) {
  while (!servers_.empty() && !bytes.empty()) {
    const ssize_t sent = ::send(servers_[at_], bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // hung up, or it does not listen
    bytes.remove_prefix(static_cast<std::size_t>(sent));
    settle();
  }
}

std::string Stage::hear() {
  std::string heard;
  std::array<char, 4096> part{};
  while (!servers_.empty()) {
    const ssize_t got = ::recv(servers_[at_], part.data(), part.size(), 0);
    if (got <= 0) break;
    heard.append(part.data(), static_cast<std::size_t>(got));
  }
  return heard;
}

void Stage::hang_up() {
  if (!servers_.empty()) hang_up(at_);
}

void Stage::hang_up(std::size_t connection) {
  ::close(servers_[connection]);
  servers_.erase(servers_.begin() + static_cast<std::ptrdiff_t>(connection));
  at_ = servers_.empty() ? 0 : servers_.size() - 1;
  if (!ending_) settle();
}

}  // namespace holdfast::fuzz
