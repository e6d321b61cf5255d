// One connection from its first byte to its last: TCP, a unix socket or TLS; commands out, replies and pushes in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/redis/resp3/parser.hpp>

#include <holdfast/config.hpp>

#include "redis/reply_builder.hpp"

namespace holdfast::redis {

/// Everything on the loop, whose executor it is given. The owner lives until end(), after which it is told nothing any
/// more but on_end().
class Session : public std::enable_shared_from_this<Session> {
 public:
  using ErrorCode = boost::system::error_code;
  using Node = boost::redis::resp3::node_view;

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_open() = 0;
    /// The next node of the next reply, in the order of the commands. False: it makes no sense here.
    virtual bool on_node(const Node& node) = 0;
    virtual void on_reply() = 0;
    virtual void on_push(const base::Reply& message) = 0;
    /// The connection is gone, or never came about. Never from within a call of the owner's.
    virtual void on_end(ErrorCode error) = 0;
    /// Keeps it alive.
    virtual std::shared_ptr<Owner> keep() = 0;
  };

  /// How far it has come.
  enum class Phase { resolving, connecting, shaking_hands, open };

  Session(const boost::asio::any_io_executor& executor, const Config& config, boost::asio::ssl::context& tls,
          Owner& owner);

  void open();
  /// Closes it, and tells the owner soon.
  void end(ErrorCode error);
  Phase phase() const { return phase_; }
  /// What is appended here is sent by the next flush().
  std::string& out() { return out_; }
  void flush();
  /// Something has arrived since this was last asked.
  bool heard() { return std::exchange(heard_, false); }

 private:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using Endpoint = boost::asio::generic::stream_protocol::endpoint;

  void connect(std::size_t next, ErrorCode why);
  void on_connected();
  void shake_hands();
  void begin();
  void read();
  void on_read(ErrorCode error, std::size_t count);
  bool parse();
  bool on_parsed(const Node& node);
  void write_rest();

  const Config& config_;
  Owner* owner_;
  Phase phase_ = Phase::resolving;
  boost::asio::ip::tcp::resolver resolver_;
  std::vector<Endpoint> endpoints_;
  Socket socket_;
  boost::asio::ssl::context& tls_context_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;

  std::string out_;       // to be sent
  std::string writing_;   // being sent; empty: nothing is
  std::vector<char> in_;  // received
  std::size_t in_end_ = 0;
  std::size_t in_begin_ = 0;  // what comes before has been parsed
  boost::redis::resp3::parser parser_;
  bool in_push_ = false;
  ReplyBuilder push_;
  bool heard_ = false;
};

}  // namespace holdfast::redis
