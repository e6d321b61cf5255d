// SPDX-License-Identifier: Apache-2.0
// One connection over TCP, a unix socket or TLS, from first byte to last: sends commands, reads replies and pushes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>

#include <holdfast/config.hpp>

#include "base/fork_guard.hpp"
#include "redis/connection/dialer.hpp"
#include "redis/connection/stage.hpp"
#include "redis/connection/tls.hpp"
#include "redis/decide/resp.hpp"

namespace holdfast::redis {

struct Link;

/// Everything on the loop. The link lives until end(): its connection is told of the beginning and the end, its
/// pipeline of all that comes. After end() only Connection::on_end() is called.
class Session : public std::enable_shared_from_this<Session> {
 public:
  using ErrorCode = boost::system::error_code;

  /// The limits of a reply during the login, and of one that nobody has asked for.
  static constexpr ReplyLimits kLoginLimits{.bytes = 256U << 10U, .elements = 4096};
  /// Those of a message, which nobody keeps.
  static constexpr ReplyLimits kPushLimits = kMostOfReplies;

  /// `last`: the address to try after all others. Errors reach the pipeline without the secrets. These and the
  /// other references live as long as the link.
  Session(timing::Schedule& schedule, Link& link, TlsContext& tls, EndpointSource& source, Resolver& resolver,
          std::optional<Endpoint> last, const SentSecrets& secrets);
  ~Session();

  void open();
  /// The login has succeeded: from now on replies may be long.
  void logged_in();
  /// Closes it; Connection::on_end() follows soon.
  void end(ErrorCode error);
  void end(ErrorCode error, std::string problem);
  /// False: memory ran out, so it is closed, but Connection::on_end() will not be called.
  bool try_to_end(ErrorCode error) noexcept;
  /// What it waits for before the login has succeeded; a text to follow "no".
  std::string missing() const;
  /// A possible reason for that, as the end of a sentence.
  const char* suspicion() const {
    return stage_ == Stage::handshake ? " (a port without TLS gives none: then its URL begins with redis://)" : "";
  }
  /// The server's address, once there is a connection.
  const std::optional<Endpoint>& endpoint() const { return endpoint_; }
  /// As it was given.
  const ServerAddress& address() const { return dialer_->address(); }
  /// The same as text; empty: not known yet.
  std::string server() const { return dialer_->asked() ? in_words(dialer_->address()) : std::string(); }
  /// Closes it without calling Connection::on_end().
  void abandon() noexcept;
  /// -1 until the login has succeeded, and after the end.
  int socket() { return stage_ == Stage::ready && link_ != nullptr ? socket_.native_handle() : -1; }
  /// Text appended here is sent by the next flush().
  std::string& out() { return out_; }
  /// How many bytes the system has not taken yet.
  std::size_t unsent() const { return out_.size() + writing_.size(); }
  void flush();
  /// A reply, or a part of one, has arrived since the last call. Messages show that the server is alive, but not that
  /// it receives commands: if it owes a reply, only that counts.
  bool heard(bool owes) {
    const bool told = std::exchange(told_, false);
    return std::exchange(answered_, false) || (told && !owes);
  }

 private:
  using Socket = Dialer::Socket;

  void on_dialled(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem);
  void shake_hands();
  void on_shaken(ErrorCode error);
  void begin();
  void make_room();
  ReplyLimits limits(char first) const;
  void read();
  void on_read(ErrorCode error, std::size_t count);
  bool parse();
  bool on_parsed(const Node& node);
  bool pass_on(const Node& node);
  bool on_message(const base::Reply& message, const ReplyLimits& length);
  void write_rest();
  void on_write_failed();

  const Config& config_;
  Link* link_;                    // null: it has ended
  Stage stage_ = Stage::look_up;  // also while it connects: see Dialer::stage()
  const std::shared_ptr<Dialer> dialer_;
  std::optional<Endpoint> endpoint_;
  Socket socket_;
  std::optional<base::NotForChildren> not_for_children_;
  TlsContext& tls_context_;
  std::string tls_refusal_;  // why the certificate was refused; empty: it was not
  std::optional<TlsStream> tls_;

  std::string out_;       // to be sent
  std::string writing_;   // being sent; empty: none
  bool mute_ = false;     // a write has failed: nothing more can be sent
  std::vector<char> in_;  // received
  std::size_t in_end_ = 0;
  std::size_t in_begin_ = 0;  // everything before this has been parsed
  const SentSecrets& secrets_;
  Parser parser_{kLoginLimits, &secrets_};
  const bool arrays_are_messages_;
  bool in_push_ = false;
  ReplyBuilder push_;
  bool answered_ = false;
  bool told_ = false;
};

}  // namespace holdfast::redis
