#include "redis/connection/session.hpp"

#include <cstring>
#include <memory>
#include <string>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/write.hpp>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <holdfast/error.hpp>

#include "redis/connection/link.hpp"
#include "redis/failures/errors.hpp"

namespace holdfast::redis {

namespace {

namespace ssl = boost::asio::ssl;

/// Leaves the ciphers that the system allows and that have forward secrecy, without which whoever gets the server's key
/// later can read everything that was recorded.
void refuse_static_keys(ssl::context& context) {
  std::string names;
  STACK_OF(SSL_CIPHER)* const ciphers = SSL_CTX_get_ciphers(context.native_handle());
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    const SSL_CIPHER* const cipher = sk_SSL_CIPHER_value(ciphers, i);
    const int exchange = SSL_CIPHER_get_kx_nid(cipher);
    if (exchange != NID_kx_ecdhe && exchange != NID_kx_dhe) continue;
    names.append(names.empty() ? "" : ":").append(SSL_CIPHER_get_name(cipher));
  }
  SSL_CTX_set_cipher_list(context.native_handle(), names.c_str());
}

}  // namespace

std::optional<boost::asio::ssl::context> make_tls_context(const Config& config) {
  if (!config.tls.enabled) return std::nullopt;
  ssl::context context(ssl::context::tls_client);

  const auto check = [&](const boost::system::error_code& error, const std::string& what) {
    if (error) throw Error(Errc::tls, {}, config.node(), what + ": " + error.message());
  };
  boost::system::error_code error;
  context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1, error);
  if (!config.tls.ca_file.empty()) {
    context.load_verify_file(config.tls.ca_file, error);
    check(error, "cannot read the authorities in " + config.tls.ca_file);
  } else {
    context.set_default_verify_paths(error);
    check(error, "cannot read the system's trusted authorities");
  }
  refuse_static_keys(context);
  // Else OpenSSL would ask for a pass phrase on the terminal.
  const auto encrypted = std::make_shared<bool>(false);
  context.set_password_callback(
      [encrypted](std::size_t, ssl::context::password_purpose) {
        *encrypted = true;
        return std::string();
      },
      error);
  if (!config.tls.certificate_file.empty()) {
    context.use_certificate_chain_file(config.tls.certificate_file, error);
    check(error, "cannot read the certificate in " + config.tls.certificate_file);
  }
  if (!config.tls.key_file.empty()) {
    context.use_private_key_file(config.tls.key_file, ssl::context::pem, error);
    const char* const why = *encrypted ? " (it is encrypted, and nobody is asked for a pass phrase)" : "";
    check(error, "cannot read the private key in " + config.tls.key_file + why);
  }
  context.set_verify_mode(config.tls.verify == TlsConfig::Verify::full ? ssl::verify_peer : ssl::verify_none);
  return context;
}

void expect_host(TlsStream& stream, const std::string& host, TlsConfig::Verify verify, std::string& refusal) {
  // For servers with a certificate for each name; addresses are not sent.
  boost::system::error_code not_an_address;
  boost::asio::ip::make_address(host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  if (verify != TlsConfig::Verify::full) return;
  stream.set_verify_callback([&refusal, host](bool trusted, ssl::verify_context& context) {
    const bool accepted = ssl::host_name_verification(host)(trusted, context);
    if (!trusted) {
      refusal = X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.native_handle()));
    } else if (!accepted) {
      refusal = "it is not for the host " + host;
    }
    return accepted;
  });
}

namespace asio = boost::asio;

namespace {

constexpr char kPush = '>';                 // the first byte of a push
constexpr std::size_t kReadAtLeast = 4096;  // room for a read; the buffer grows when a reply needs more
constexpr std::size_t kKept = 1U << 20U;    // empty buffers larger than this are freed

/// An error in words that may be shown. A password that is one of the words by which the error is understood stays:
/// nothing tells that it is one.
std::string without_secrets(const SentSecrets& secrets, std::string_view error) {
  std::string words = secrets.hidden_in(error);
  const bool same = classify(error) == classify(words) && is_demoted(error) == is_demoted(words) &&
                    refuses_command(error) == refuses_command(words);
  return same && !is_redirect(error) ? words : std::string(error);
}

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKept) buffer.shrink_to_fit();
}

}  // namespace

Session::Session(timing::Schedule& schedule, Link& link, std::optional<asio::ssl::context>& tls, EndpointSource& source,
                 Resolver& resolver, std::optional<Endpoint> last, const SentSecrets& secrets)
    : config_(link.config),
      link_(&link),
      dialer_(std::make_shared<Dialer>(schedule, config_.connect_timeout, source, resolver, std::move(last),
                                       [this](auto socket, const auto& endpoint, const auto& problem) {
                                         on_dialled(std::move(socket), endpoint, problem);
                                       })),
      socket_(schedule.executor()),
      tls_context_(tls),
      secrets_(secrets) {}

Session::~Session() { dialer_->stop(); }

void Session::open() { dialer_->start(); }

std::string Session::missing() const {
  const std::string from = endpoint_ && dialer_->named() ? " from " + to_string(*endpoint_) : "";
  if (stage_ == Stage::look_up) return dialer_->missing();
  return (stage_ == Stage::handshake ? "answer to the TLS handshake" : "answer to the login") + from;
}

void Session::on_dialled(std::optional<Socket> socket, const Endpoint& endpoint, const std::string& problem) {
  if (!socket) return end(asio::error::host_unreachable, problem);
  socket_ = std::move(*socket);
  not_for_children_.emplace(socket_.native_handle());
  endpoint_ = endpoint;
  ErrorCode error;
  const bool remote = dialer_->address().unix_socket.empty();
  if (remote) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  socket_.non_blocking(true, error);
  if (config_.tls.enabled && remote) {
    shake_hands();
  } else {
    begin();
  }
}

void Session::shake_hands() {
  stage_ = Stage::handshake;
  tls_.emplace(socket_, *tls_context_);
  expect_host(*tls_, dialer_->address().host, config_.tls.verify, tls_refusal_);
  tls_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](ErrorCode error) {
    if (error) return self->end(error);
    self->begin();
  });
}

void Session::begin() {
  if (link_ == nullptr) return;
  stage_ = Stage::login;
  read();
  link_->connection.on_open();
}

void Session::logged_in() { stage_ = Stage::ready; }

/// For the message that begins like this.
ReplyLimits Session::limits(char first) const {
  if (stage_ != Stage::ready) return kLoginLimits;
  return first == kPush ? kPushLimits : link_->pipeline.room();
}

void Session::make_room() {
  if (in_begin_ == in_end_) {
    in_begin_ = in_end_ = 0;
    if (in_.size() > kKept) std::vector<char>().swap(in_);
  }
  if (in_.size() - in_end_ >= kReadAtLeast) return;
  if (in_begin_ < in_end_) std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
  in_end_ -= in_begin_;
  in_begin_ = 0;
  if (in_.size() - in_end_ >= kReadAtLeast) return;
  // Not beyond what the message may come to.
  const std::size_t most = in_end_ == 0 ? 0 : limits(in_.front()).bytes;
  in_.resize(std::max(in_end_ + 4 * kReadAtLeast, std::min(in_.size() * 2, most)));
}

void Session::read() {
  make_room();
  const auto room = asio::buffer(in_.data() + in_end_, in_.size() - in_end_);
  auto done = [self = shared_from_this()](ErrorCode error, std::size_t count) { self->on_read(error, count); };
  if (tls_) {
    tls_->async_read_some(room, std::move(done));
  } else {
    socket_.async_read_some(room, std::move(done));
  }
}

void Session::on_read(ErrorCode error, std::size_t count) {
  if (link_ == nullptr) return;
  if (error) return end(error);
  in_end_ += count;
  if (parse()) return read();
  const std::string& problem = parser_.problem();
  const ErrorCode nonsense = make_error_code(boost::system::errc::bad_message);
  end(nonsense, problem.empty() ? "the server sent a reply that nobody asked for" : problem);
}

/// False if the bytes are invalid, or if the link has closed the session.
bool Session::parse() {
  while (in_begin_ < in_end_) {
    const std::string_view message(in_.data() + in_begin_, in_end_ - in_begin_);
    parser_.set(limits(message.front()));
    while (!parser_.done()) {
      const std::optional<Node> node = parser_.next(message);
      if (!node) {  // the rest is still to come
        (message.front() == kPush ? told_ : answered_) = true;
        return parser_.problem().empty();
      }
      if (!on_parsed(*node)) return false;
    }
    const ReplyLimits length{.bytes = parser_.parsed(), .elements = parser_.elements()};
    in_begin_ += length.bytes;
    parser_.reset();
    if (in_push_) {
      in_push_ = false;
      told_ = true;
      const std::vector<base::Reply> messages = std::exchange(push_, {}).replies;
      link_->pipeline.on_push(messages.front());
    } else {
      answered_ = true;
      link_->pipeline.on_reply(length);
    }
    if (link_ == nullptr) return false;
  }
  return true;
}

bool Session::on_parsed(const Node& node) {
  if (node.type != Node::Type::error) return pass_on(node);
  const std::string words = without_secrets(secrets_, node.value);
  return pass_on({node.type, node.depth, words});
}

bool Session::pass_on(const Node& node) {
  if (node.depth == 0 && node.type == Node::Type::push) in_push_ = true;
  if (in_push_) {
    push_.add(node);
    return true;
  }
  return link_->pipeline.on_node(node);
}

void Session::flush() {
  if (stage_ < Stage::login || link_ == nullptr || out_.empty() || !writing_.empty() || mute_) return;
  if (!tls_) {
    ErrorCode error;
    const std::size_t sent = socket_.write_some(asio::buffer(out_), error);
    if (error && error != asio::error::would_block) return on_write_failed();
    if (sent == out_.size()) return empty(out_);
    out_.erase(0, sent);
  }
  write_rest();
}

void Session::write_rest() {
  writing_.swap(out_);
  auto done = [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (error) return self->on_write_failed();
    empty(self->writing_);
    self->flush();
  };
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(writing_), std::move(done));
  } else {
    asio::async_write(socket_, asio::buffer(writing_), std::move(done));
  }
}

/// A server that refuses a client sends the reason and closes, perhaps before the login was sent. So the pending read
/// ends the session: with that reason, or else with the end of the stream.
void Session::on_write_failed() {
  mute_ = true;
  ErrorCode ignored;
  socket_.shutdown(Socket::shutdown_both, ignored);
}

void Session::abandon() noexcept {
  link_ = nullptr;
  dialer_->stop();
  not_for_children_.reset();
  ErrorCode ignored;
  socket_.close(ignored);
}

void Session::end(ErrorCode error) {
  const bool closed = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  std::string problem = closed ? "the server closed the connection" : error.message();
  if (stage_ == Stage::handshake && closed) problem += " during the TLS handshake";
  const bool remote = dialer_->address().unix_socket.empty();
  const std::string_view hint = redis::hint(stage_, error, config_.tls.enabled || !remote);
  if (!hint.empty()) problem.append(" (").append(hint).append(")");
  end(error, std::move(problem));
}

bool Session::try_to_end(ErrorCode error) noexcept {
  try {
    end(error);
    return true;
  } catch (...) {
    abandon();
    return false;
  }
}

void Session::end(ErrorCode error, std::string problem) {
  if (link_ == nullptr) return;
  Link& link = *link_;
  const Stage stage = stage_ == Stage::look_up ? dialer_->stage() : stage_;
  if (!tls_refusal_.empty()) problem += ": " + tls_refusal_;
  abandon();
  asio::post(socket_.get_executor(),
             [self = shared_from_this(), keep = link.keep(), ending = Ending{stage, error, std::move(problem)}] {
               keep->connection.on_end(ending);
             });
}

}  // namespace holdfast::redis
