// SPDX-License-Identifier: Apache-2.0
// One client's way through the Proxy: two sockets and what is under way between them.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <poll.h>
#include <random>
#include <string>

#include "support/spawn.hpp"

namespace holdfast::test {

/// The faults in force, read by every link. Confined to the proxy's thread.
struct ProxyFaults {
  bool drop_requests = false;
  bool drop_replies = false;
  std::chrono::milliseconds delay_to_server{0};
  std::chrono::milliseconds delay_to_client{0};
  std::string cut_after;  ///< Empty: not armed.
  std::string hold;       ///< Empty: not armed.
  std::size_t fired = 0;
  // At random: see Proxy::Weather.
  int lost = 0, late = 0;
  std::chrono::milliseconds late_by{0}, random_delay{0};
  std::mt19937_64 random{};

  bool strikes(int in_a_thousand) {
    return in_a_thousand > 0 && random() % 1000 < static_cast<unsigned>(in_a_thousand);
  }
  std::chrono::milliseconds up_to(std::chrono::milliseconds most) {
    return most.count() > 0 ? std::chrono::milliseconds(random() % static_cast<unsigned>(most.count() + 1))
                            : std::chrono::milliseconds(0);
  }
  std::chrono::milliseconds some_delay() { return strikes(333) ? up_to(random_delay) : std::chrono::milliseconds(0); }
};

/// Confined to the proxy's thread. Its life: forwarding -> cutting or held (one-shot faults) -> over.
class ProxyLink {
 public:
  ProxyLink(Fd client, Fd server, ProxyFaults& faults);

  /// What to poll for: {client, server}; `fd` is -1 where nothing is of interest.
  pollfd client_interest() const;
  pollfd server_interest() const;
  /// When bytes that are delayed become due.
  std::optional<std::chrono::steady_clock::time_point> next_due() const;

  void on_client(short events);
  void on_server(short events);

  /// True when both sides are to be closed.
  bool over() const;
  bool has_client() const { return client_.valid(); }
  bool has_lost_bytes() const { return lost_bytes_; }
  bool is_held() const { return mode_ == Mode::held || mode_ == Mode::delivering; }
  /// Sends the bytes kept back, and closes towards the server behind them.
  void deliver_held();
  /// True when the server has answered what deliver_held() sent and has then closed in good order.
  bool delivered() const { return answered_ && server_closed_ == Closed::in_order; }

 private:
  enum class Mode { forwarding, cutting, held, delivering };
  enum class Closed { no, in_order, broken };

  struct Chunk {
    std::chrono::steady_clock::time_point due;
    std::string bytes;
  };
  using Queue = std::deque<Chunk>;

  /// The first portions log in: without them nothing would come about.
  int spared(int in_a_thousand) const { return replies_ < 8 ? in_a_thousand / 20 : in_a_thousand; }
  void lose_client();

  static Closed read_all(const Fd& from, std::string& bytes);
  static bool write_due(const Fd& to, Queue& queue);
  static bool has_due(const Queue& queue);
  static void enqueue(Queue& queue, std::string bytes, std::chrono::milliseconds delay);
  void take_request(std::string bytes);
  void flush();

  ProxyFaults& faults_;
  Fd client_, server_;
  Mode mode_ = Mode::forwarding;
  Closed client_closed_ = Closed::no;
  Closed server_closed_ = Closed::no;
  bool finished_sending_ = false;  // the server has been told that no more requests come
  bool lost_bytes_ = false;
  bool answered_ = false;
  int replies_ = 0;  // portions
  Queue to_server_, to_client_;
  std::string recent_;  // the end of what passed, since a search text may come in two pieces
  std::string held_;
};

}  // namespace holdfast::test
