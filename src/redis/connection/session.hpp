// One connection from its first byte to its last: TCP, a unix socket or TLS; commands out, replies and pushes in.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>

#include <holdfast/config.hpp>

#include "redis/connection/dialer.hpp"
#include "redis/connection/stage.hpp"
#include "redis/connection/tls.hpp"
#include "redis/protocol/parser.hpp"
#include "redis/protocol/reply_builder.hpp"

namespace holdfast::redis {

/// Everything on the loop. Owner and reader live until end(), after which they are told
/// nothing any more but on_end().
class Session : public std::enable_shared_from_this<Session> {
 public:
  using ErrorCode = boost::system::error_code;
  using Node = redis::Node;

  /// A reply before the login is through, and one after it.
  static constexpr ReplyLimits kLoginLimits{.bytes = 256U << 10U, .elements = 4096};
  static constexpr ReplyLimits kLimits{.bytes = 64U << 20U, .elements = 1U << 20U};

  struct Ending {
    Stage stage{};
    ErrorCode error;      ///< `bad_message`: the server does not speak the protocol, or says more than is allowed.
    std::string problem;  ///< In words.
  };

  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_open() = 0;
    /// The connection is gone, or never came about, and why. Never from within a call of the owner's.
    virtual void on_end(const Ending& ending) = 0;
    /// Keeps it alive.
    virtual std::shared_ptr<Owner> keep() = 0;
  };

  /// Who takes what the server says.
  class Reader {
   public:
    virtual ~Reader() = default;
    /// The next node of the next reply, in the order of the commands. False: it makes no sense here.
    virtual bool on_node(const Node& node) = 0;
    virtual void on_reply() = 0;
    virtual void on_push(const base::Reply& message) = 0;
  };

  /// `last`: the address that is tried after all others.
  Session(timing::Schedule& schedule, const Config& config, std::optional<boost::asio::ssl::context>& tls,
          EndpointSource& source, Resolver& resolver, std::optional<Endpoint> last, Owner& owner, Reader& reader);
  ~Session();

  void open();
  /// The login is through: replies may be long from here on.
  void logged_in();
  /// Closes it, and tells the owner soon.
  void end(ErrorCode error);
  void end(ErrorCode error, std::string problem);
  /// Without memory for that it is closed all the same, and the owner is not told: false.
  bool try_to_end(ErrorCode error) noexcept;
  /// What it waits for before the login is through, in words that follow "no".
  std::string missing() const;
  /// Why that may be so, as the end of a sentence.
  const char* suspicion() const {
    return stage_ == Stage::handshake ? " (a port without TLS gives none: then its URL begins with redis://)" : "";
  }
  /// The server's address, once there is a connection.
  const std::optional<Endpoint>& endpoint() const { return endpoint_; }
  /// In words, once it is known; else empty.
  std::string server() const { return dialer_->asked() ? in_words(dialer_->address()) : std::string(); }
  /// Closes it, and tells nobody.
  void abandon() noexcept;
  /// -1 until the login is through, and after the end.
  int socket() { return stage_ == Stage::ready && owner_ != nullptr ? socket_.native_handle() : -1; }
  /// What is appended here is sent by the next flush().
  std::string& out() { return out_; }
  /// How many bytes the system has not taken yet.
  std::size_t unsent() const { return out_.size() + writing_.size(); }
  void flush();
  /// A reply has arrived, or a part of one, since this was last asked. Messages prove that the server lives, and not
  /// that it hears: where it owes an answer, only that counts.
  bool heard(bool owes) {
    const bool told = std::exchange(told_, false);
    return std::exchange(answered_, false) || (told && !owes);
  }

 private:
  using Socket = Dialer::Socket;

  void on_dialled(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem);
  void shake_hands();
  void begin();
  void make_room();
  void read();
  void on_read(ErrorCode error, std::size_t count);
  bool parse();
  bool on_parsed(const Node& node);
  void write_rest();
  void on_write_failed();

  const Config& config_;
  Owner* owner_;  // null: it has ended
  Reader& reader_;
  Stage stage_ = Stage::look_up;  // also while it connects: the dialer knows which it is
  const std::shared_ptr<Dialer> dialer_;
  std::optional<Endpoint> endpoint_;
  Socket socket_;
  std::optional<boost::asio::ssl::context>& tls_context_;
  std::string tls_refusal_;  // why the certificate was refused; empty: it was not
  std::optional<TlsStream> tls_;

  std::string out_;       // to be sent
  std::string writing_;   // being sent; empty: nothing is
  bool mute_ = false;     // nothing can be sent any more
  std::vector<char> in_;  // received
  std::size_t in_end_ = 0;
  std::size_t in_begin_ = 0;  // what comes before has been parsed
  Parser parser_{kLoginLimits};
  bool in_push_ = false;
  ReplyBuilder push_;
  bool answered_ = false;
  bool told_ = false;
};

}  // namespace holdfast::redis
