#include "redis/session.hpp"

#include <cstring>

#include <boost/asio/error.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/redis/error.hpp>

namespace holdfast::redis {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kReadAtLeast = 4096;  // room for a read; the buffer grows when a reply needs more

}  // namespace

Session::Session(const asio::any_io_executor& executor, const Config& config, asio::ssl::context& tls, Owner& owner)
    : config_(config), owner_(&owner), resolver_(executor), socket_(executor), tls_context_(tls) {}

void Session::open() {
  if (!config_.unix_socket.empty()) {
    endpoints_.emplace_back(asio::local::stream_protocol::endpoint(config_.unix_socket));
    connect(0, {});
    return;
  }
  // An address needs no name server, and no thread of the resolver's.
  ErrorCode not_an_address;
  const auto address = asio::ip::make_address(config_.host, not_an_address);
  if (!not_an_address) {
    endpoints_.emplace_back(asio::ip::tcp::endpoint(address, config_.port));
    connect(0, {});
    return;
  }
  resolver_.async_resolve(config_.host, std::to_string(config_.port),
                          [self = shared_from_this()](ErrorCode error, const auto& found) {
                            if (error) return self->end(error);
                            for (const auto& entry : found) self->endpoints_.emplace_back(entry.endpoint());
                            self->connect(0, asio::error::host_not_found);
                          });
}

void Session::connect(std::size_t next, ErrorCode why) {
  if (owner_ == nullptr) return;
  if (next >= endpoints_.size()) return end(why);
  phase_ = Phase::connecting;
  ErrorCode ignored;
  socket_.close(ignored);
  socket_.async_connect(endpoints_[next], [self = shared_from_this(), next](ErrorCode error) {
    if (error) return self->connect(next + 1, error);
    self->on_connected();
  });
}

void Session::on_connected() {
  ErrorCode error;
  if (config_.unix_socket.empty()) socket_.set_option(asio::ip::tcp::no_delay(true), error);
  socket_.non_blocking(true, error);
  if (config_.tls.enabled && config_.unix_socket.empty()) {
    shake_hands();
  } else {
    begin();
  }
}

void Session::shake_hands() {
  phase_ = Phase::shaking_hands;
  tls_.emplace(socket_, tls_context_);
  // The name, for servers that have a certificate for each; addresses are not sent as names.
  ErrorCode not_an_address;
  asio::ip::make_address(config_.host, not_an_address);
  if (not_an_address) SSL_set_tlsext_host_name(tls_->native_handle(), config_.host.c_str());
  tls_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](ErrorCode error) {
    if (error) return self->end(error);
    self->begin();
  });
}

void Session::begin() {
  if (owner_ == nullptr) return;
  phase_ = Phase::open;
  read();
  owner_->on_open();
}

void Session::read() {
  if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
  if (in_.size() - in_end_ < kReadAtLeast) {
    if (in_begin_ < in_end_) std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
    if (in_.size() - in_end_ < kReadAtLeast) in_.resize(std::max(in_.size() * 2, 4 * kReadAtLeast));
  }
  const auto room = asio::buffer(in_.data() + in_end_, in_.size() - in_end_);
  auto done = [self = shared_from_this()](ErrorCode error, std::size_t count) { self->on_read(error, count); };
  if (tls_) {
    tls_->async_read_some(room, std::move(done));
  } else {
    socket_.async_read_some(room, std::move(done));
  }
}

void Session::on_read(ErrorCode error, std::size_t count) {
  if (owner_ == nullptr) return;
  if (error) return end(error);
  heard_ = true;
  in_end_ += count;
  if (!parse()) {
    if (owner_ != nullptr) end(boost::redis::error::invalid_data_type);
    return;
  }
  read();
}

/// False if the bytes make no sense, or if the owner has closed the session.
bool Session::parse() {
  while (in_begin_ < in_end_) {
    const std::string_view message(in_.data() + in_begin_, in_end_ - in_begin_);
    while (!parser_.done()) {
      ErrorCode error;
      const auto node = parser_.consume(message, error);
      if (error) return false;
      if (!node) return true;  // the rest is still to come
      if (!on_parsed(*node)) return false;
    }
    in_begin_ += parser_.get_consumed();
    parser_.reset();
    if (in_push_) {
      in_push_ = false;
      const std::vector<base::Reply> messages = std::exchange(push_, {}).replies;
      owner_->on_push(messages.front());
    } else {
      owner_->on_reply();
    }
    if (owner_ == nullptr) return false;
  }
  return true;
}

bool Session::on_parsed(const Node& node) {
  if (node.depth == 0 && node.data_type == boost::redis::resp3::type::push) in_push_ = true;
  if (in_push_) {
    push_.add(node);
    return true;
  }
  return owner_->on_node(node);
}

void Session::flush() {
  if (phase_ != Phase::open || owner_ == nullptr || out_.empty() || !writing_.empty()) return;
  if (!tls_) {
    ErrorCode error;
    const std::size_t sent = socket_.write_some(asio::buffer(out_), error);
    if (error && error != asio::error::would_block) return end(error);
    if (sent == out_.size()) {
      out_.clear();
      return;
    }
    out_.erase(0, sent);
  }
  write_rest();
}

void Session::write_rest() {
  writing_.swap(out_);
  auto done = [self = shared_from_this()](ErrorCode error, std::size_t) {
    if (error) return self->end(error);
    self->writing_.clear();
    self->flush();
  };
  if (tls_) {
    asio::async_write(*tls_, asio::buffer(writing_), std::move(done));
  } else {
    asio::async_write(socket_, asio::buffer(writing_), std::move(done));
  }
}

void Session::end(ErrorCode error) {
  if (owner_ == nullptr) return;
  Owner& owner = *std::exchange(owner_, nullptr);
  resolver_.cancel();
  ErrorCode ignored;
  socket_.close(ignored);
  asio::post(socket_.get_executor(),
             [self = shared_from_this(), owner = owner.keep(), error] { owner->on_end(error); });
}

}  // namespace holdfast::redis
