// SPDX-License-Identifier: Apache-2.0
#include "support/listen.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <hiredis/hiredis.h>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <thread>

#include "base/text.hpp"
#include "kinds/owner.hpp"
#include "support/monitor_line.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {
namespace {

const std::string kMark = "holdfast-test-mark:";

using ReplyPointer = std::unique_ptr<redisReply, void (*)(void*)>;

/// A connection that sends once and then only listens, in a thread, until it is destroyed.
class Listener {
 public:
  Listener(const RedisServer& server, const std::vector<std::string>& command,
           std::function<void(const redisReply&)> on_reply)
      : on_reply_(std::move(on_reply)) {
    context_.reset(redisConnectUnix(server.socket_path().c_str()));
    if (!context_ || context_->err != 0) throw std::runtime_error("cannot listen to the server");
    if (!server.admin_user().empty()) {
      ask({"AUTH", server.admin_user(), server.admin_password()});
    } else if (!server.admin_password().empty()) {
      ask({"AUTH", server.admin_password()});
    }
    // The first reply is the confirmation (of the first channel).
    ask(command);
    auto [stop_read, stop_write] = make_pipe();
    stop_ = std::move(stop_write);
    thread_ = std::thread([this, stop = std::move(stop_read)] { run(stop); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    stop_.reset();
    thread_.join();
  }

 private:
  struct Closer {
    void operator()(redisContext* context) const { redisFree(context); }
  };

  void ask(const std::vector<std::string>& args) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const std::string& arg : args) {
      texts.push_back(arg.data());
      sizes.push_back(arg.size());
    }
    const ReplyPointer reply(static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(args.size()),
                                                                       texts.data(), sizes.data())),
                             freeReplyObject);
    if (!reply) throw std::runtime_error(context_->errstr);
    if (reply->type == REDIS_REPLY_ERROR) throw std::runtime_error(reply->str);
  }

  void run(const Fd& stop) {
    for (;;) {
      void* next = nullptr;
      while (redisGetReplyFromReader(context_.get(), &next) == REDIS_OK && next != nullptr) {
        const ReplyPointer reply(static_cast<redisReply*>(next), freeReplyObject);
        next = nullptr;
        on_reply_(*reply);
      }
      std::array<pollfd, 2> polled{{{context_->fd, POLLIN, 0}, {stop.get(), POLLIN, 0}}};
      if (poll(polled.data(), polled.size(), -1) < 0) continue;
      if (polled[1].revents != 0 || redisBufferRead(context_.get()) != REDIS_OK) return;
    }
  }

  std::function<void(const redisReply&)> on_reply_;
  std::unique_ptr<redisContext, Closer> context_;
  Fd stop_;
  std::thread thread_;
};

/// What a listener has collected, in order; a mark that was seen stays until somebody asks for it.
template <class Item>
class Collection {
 public:
  void add(Item item) {
    const std::lock_guard guard(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  void mark(std::string text) {
    const std::lock_guard guard(mutex_);
    last_mark_ = std::move(text);
    changed_.notify_all();
  }
  void wait_for_mark(const std::string& text) {
    std::unique_lock guard(mutex_);
    if (!changed_.wait_for(guard, kPatience, [&] { return last_mark_ == text; })) {
      throw std::runtime_error("the server does not show what it was just asked to do");
    }
  }
  bool wait_for(std::size_t count, std::chrono::milliseconds limit) {
    std::unique_lock guard(mutex_);
    return changed_.wait_for(guard, limit, [&] { return items_.size() >= count; });
  }
  std::vector<Item> items() {
    const std::lock_guard guard(mutex_);
    return items_;
  }
  void clear() {
    const std::lock_guard guard(mutex_);
    items_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_;  // guarded by mutex_
  std::string last_mark_;    // guarded by mutex_
};

std::string text_of(const redisReply& reply) { return {reply.str, static_cast<std::size_t>(reply.len)}; }

/// In the slot of the others, if they are sharded.
std::string make_mark_channel(const std::vector<std::string>& channels, Heard heard) {
  std::string channel = kMark + wire::make_uuid();
  if (heard == Heard::plain) return channel;
  const std::string& first = channels.at(0);
  const std::size_t brace = first.find('{');
  return channel.append(first, brace, first.find('}', brace) + 1 - brace);
}

std::vector<std::string> subscription(std::vector<std::string> channels, Heard heard, const std::string& mark_channel) {
  if (channels.empty()) return {"PSUBSCRIBE", "*"};
  // The mark's channel is last: when its first mark arrives, all channels are subscribed.
  channels.insert(channels.begin(), heard == Heard::plain ? "SUBSCRIBE" : "SSUBSCRIBE");
  channels.push_back(mark_channel);
  return channels;
}

}  // namespace

void PrintTo(const Message& message, std::ostream* out) {
  *out << base::quote(message.payload) << " on " << base::quote(message.channel);
}

struct Subscriber::State {
  State(const RedisServer& server, std::vector<std::string> channels, Heard heard)
      : mark_channel(make_mark_channel(channels, heard)),
        tell(heard == Heard::plain ? "PUBLISH" : "SPUBLISH"),
        raw(server),
        listener(server, subscription(std::move(channels), heard, mark_channel), [this](const redisReply& reply) {
          // [message, channel, payload] or [pmessage, pattern, channel, payload]
          if (reply.type != REDIS_REPLY_ARRAY || reply.elements < 3) return;
          if (!text_of(*reply.element[0]).ends_with("message")) return;
          const std::size_t channel = reply.elements - 2;
          Message message{text_of(*reply.element[channel]), text_of(*reply.element[channel + 1])};
          if (message.channel == mark_channel) return found.mark(message.payload);
          // Another Subscriber's mark is no message of the test's.
          if (!message.channel.starts_with(kMark)) found.add(std::move(message));
        }) {
    settle();
  }

  void settle() {
    const std::lock_guard guard(settling);
    const std::string mark = wire::make_uuid();
    raw.command(tell, mark_channel, mark);
    found.wait_for_mark(mark);
  }

  const std::string mark_channel;
  const std::string tell;
  Collection<Message> found;
  std::mutex settling;
  Raw raw;  // guarded by settling
  Listener listener;
};

Subscriber::Subscriber(const RedisServer& server) : Subscriber(server, {}, Heard::plain) {}
Subscriber::Subscriber(const RedisServer& server, std::vector<std::string> channels, Heard heard)
    : state_(std::make_unique<State>(server, std::move(channels), heard)) {}
Subscriber::~Subscriber() = default;

bool Subscriber::wait_for(std::size_t count, std::chrono::milliseconds limit) const {
  return state_->found.wait_for(count, limit);
}

std::vector<Message> Subscriber::messages() {
  state_->settle();
  return state_->found.items();
}

void Subscriber::clear() {
  state_->settle();
  state_->found.clear();
}

struct Monitor::State {
  explicit State(const RedisServer& server)
      : own_marks(kMark + wire::make_uuid() + ":"),
        raw(server),
        listener(server, {"MONITOR"}, [this](const redisReply& reply) {
          MonitorLine line = parse_monitor_line(text_of(reply));
          const std::string& last = line.args.empty() ? line.text : line.args.back();
          if (last.starts_with(own_marks)) return found.mark(last);
          // Another Monitor's mark is no command of the test's.
          if (!last.starts_with(kMark)) found.add(std::move(line));
        }) {}

  void settle() {
    const std::lock_guard guard(settling);
    const std::string mark = own_marks + std::to_string(++settled);
    raw.command("ECHO", mark);
    found.wait_for_mark(mark);
  }

  const std::string own_marks;
  Collection<MonitorLine> found;
  std::mutex settling;
  int settled = 0;  // guarded by settling
  Raw raw;          // guarded by settling
  Listener listener;
};

Monitor::Monitor(const RedisServer& server) : state_(std::make_unique<State>(server)) {}
Monitor::~Monitor() = default;

std::vector<MonitorLine> Monitor::lines(Lines which) {
  state_->settle();
  std::vector<MonitorLine> lines = state_->found.items();
  std::erase_if(lines, [which](const MonitorLine& line) {
    return which != Lines::all && line.from_script() != (which == Lines::from_scripts);
  });
  return lines;
}

std::size_t Monitor::count(std::string_view text, Lines which) {
  const std::string wanted = lower_case(text);
  const std::vector<MonitorLine> all = lines(which);
  return static_cast<std::size_t>(std::ranges::count_if(all, [&](const MonitorLine& line) {
    return lower_case(line.text.substr(line.text.find("] ") + 1)).find(wanted) != std::string::npos;
  }));
}

void Monitor::clear() {
  state_->settle();
  state_->found.clear();
}

}  // namespace holdfast::test
