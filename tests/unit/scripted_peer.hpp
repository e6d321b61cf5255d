// SPDX-License-Identifier: Apache-2.0
// A server of which a test says every word, on the test's own loop.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

namespace holdfast::test {

/// Takes one connection, answers its login as a node of a cluster, and notes what else it is told.
class ScriptedPeer {
 public:
  explicit ScriptedPeer(boost::asio::io_context& context)
      : acceptor_(context, {boost::asio::ip::address_v4::loopback(), 0}), socket_(context) {
    acceptor_.async_accept(socket_, [this](const boost::system::error_code& error) {
      if (!error) read();
    });
  }
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  /// Commands since the login, each with its words separated by spaces.
  const std::vector<std::string>& heard() const { return heard_; }
  bool has_heard(std::string_view command) const { return std::ranges::find(heard_, command) != heard_.end(); }
  void forget() { heard_.clear(); }

  // What it says. All that is said in one turn of the loop arrives in that order.
  void say(const std::string& text) { boost::asio::write(socket_, boost::asio::buffer(text)); }
  void say_number(int number) { say(":" + std::to_string(number) + "\r\n"); }
  void say_error(const std::string& error) { say("-" + error + "\r\n"); }
  /// `ssubscribe`, `sunsubscribe` and the like.
  void push(const std::string& kind, const std::string& channel) {
    say(">3\r\n" + bulk(kind) + bulk(channel) + ":0\r\n");
  }
  void push_message(const std::string& kind, const std::string& channel) {
    say(">3\r\n" + bulk(kind) + bulk(channel) + bulk("0"));
  }
  void say_hello() { say("%2\r\n" + bulk("mode") + bulk("cluster") + bulk("id") + ":1\r\n"); }

 private:
  static std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
  }

  void read() {
    socket_.async_read_some(boost::asio::buffer(part_),
                            [this](const boost::system::error_code& error, std::size_t count) {
                              if (error) return;
                              in_.append(part_.data(), count);
                              while (std::optional<std::string> command = take()) on_command(*command);
                              read();
                            });
  }

  /// A line that is there, from `at` on, which is moved behind it.
  std::optional<std::string_view> line(std::size_t& at) const {
    const std::size_t end = in_.find("\r\n", at);
    if (end == in_.npos) return std::nullopt;
    const std::string_view text = std::string_view(in_).substr(at, end - at);
    at = end + 2;
    return text;
  }
  static std::size_t number(std::string_view line) {
    std::size_t value = 0;
    std::from_chars(line.data() + 1, line.data() + line.size(), value);
    return value;
  }

  /// The next command, if all of it has come.
  std::optional<std::string> take() {
    std::size_t at = 0;
    const auto head = line(at);
    if (!head) return std::nullopt;
    std::string words;
    for (std::size_t i = 0; i < number(*head); ++i) {
      const auto size = line(at);
      if (!size || in_.size() < at + number(*size) + 2) return std::nullopt;
      words.append(words.empty() ? "" : " ").append(in_, at, number(*size));
      at += number(*size) + 2;
    }
    in_.erase(0, at);
    return words;
  }

  void on_command(const std::string& command) {
    if (command.starts_with("HELLO 3")) return say_hello();
    heard_.push_back(command);
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::socket socket_;
  std::array<char, 4096> part_{};
  std::string in_;
  std::vector<std::string> heard_;
};

}  // namespace holdfast::test
