// SPDX-License-Identifier: Apache-2.0
#include "redis/connection/session.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include "redis/connection/link.hpp"
#include "redis/decide/errors.hpp"

namespace holdfast::redis {

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

Session::Session(timing::Schedule& schedule, Link& link, TlsContext& tls, EndpointSource& source, Resolver& resolver,
                 std::optional<Endpoint> last, const SentSecrets& secrets)
    : config_(link.config),
      link_(&link),
      dialer_(std::make_shared<Dialer>(schedule, config_, source, resolver, std::move(last),
                                       [this](auto socket, const auto& endpoint, const auto& problem) {
                                         on_dialled(std::move(socket), endpoint, problem);
                                       })),
      socket_(schedule.executor()),
      tls_context_(tls),
      secrets_(secrets),
      arrays_are_messages_(link.for_messages()) {}

Session::~Session() { dialer_->stop(); }

void Session::open() { dialer_->start(); }

std::string Session::missing() const {
  const std::string from = endpoint_ && dialer_->named() ? " from " + to_string(*endpoint_) : "";
  if (stage_ == Stage::look_up) return dialer_->missing();
  if (std::string missing = tls_context_.missing(); !missing.empty()) return missing;
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
  tls_context_.refresh([self = shared_from_this()](const std::string& problem) {
    if (self->link_ == nullptr) return;
    if (!problem.empty()) return self->end(asio::error::host_unreachable, problem);
    const TlsConfig& tls = self->config_.tls;
    self->tls_.emplace(self->socket_, self->tls_context_.context());
    expect_host(*self->tls_, tls.server_name.empty() ? self->dialer_->host() : tls.server_name, tls.verify,
                self->tls_refusal_);
    self->tls_->async_handshake(asio::ssl::stream_base::client, [self](ErrorCode error) { self->on_shaken(error); });
  });
}

void Session::on_shaken(ErrorCode error) {
  if (link_ == nullptr) return;
  if (!error) return begin();
  tls_context_.doubt();
  end(error);
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
      if (!on_message(messages.front(), length)) return false;
    } else {
      answered_ = true;
      link_->pipeline.on_reply(length);
    }
    if (link_ == nullptr) return false;
  }
  return true;
}

/// False: it is a reply that nobody asked for. In RESP2 a subscribed connection answers PING with an array, too.
bool Session::on_message(const base::Reply& message, const ReplyLimits& length) {
  if (!arrays_are_messages_ || message.elements.empty() || message.elements.front().text != "pong") {
    link_->pipeline.on_push(message);
    return true;
  }
  answered_ = true;
  if (!link_->pipeline.on_node({Node::Type::text, 0, "PONG"})) return false;
  link_->pipeline.on_reply(length);
  return true;
}

bool Session::on_parsed(const Node& node) {
  if (node.type != Node::Type::error) return pass_on(node);
  const std::string words = without_secrets(secrets_, node.value);
  return pass_on({node.type, node.depth, words});
}

bool Session::pass_on(const Node& node) {
  const bool message = node.type == Node::Type::push ||
                       (arrays_are_messages_ && stage_ == Stage::ready && node.type == Node::Type::array);
  if (node.depth == 0 && message) in_push_ = true;
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
  tls_context_.forget();
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
