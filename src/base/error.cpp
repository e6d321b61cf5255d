#include <holdfast/error.hpp>
#include <holdfast/failure.hpp>

#include "base/text.hpp"

namespace holdfast {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }

  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::busy:
        return "somebody else holds it";
      case Errc::timed_out:
        return "somebody else held it until the limit on waiting was over";
      case Errc::cancelled:
        return "the wait was cancelled";
      case Errc::lost:
        return "the lock was lost";
      case Errc::not_owner:
        return "not held by the caller";
      case Errc::unreachable:
        return "cannot reach the server";
      case Errc::unknown_outcome:
        return "no reply in time, the outcome is unknown";
      case Errc::denied:
        return "the server refuses access";
      case Errc::tls:
        return "the TLS connection could not be set up";
      case Errc::wrong_type:
        return "a key of another type has this name";
      case Errc::read_only:
        return "the server is a read-only replica";
      case Errc::out_of_memory:
        return "the server is out of memory";
      case Errc::unsupported_by_server:
        return "the server does not support what Holdfast needs";
      case Errc::server_error:
        return "the server reported an error";
      case Errc::invalid_argument:
        return "invalid argument";
      case Errc::forked:
        return "a client cannot be used after fork(); make a new one in the child process";
      case Errc::closed:
        return "the client is closed";
      case Errc::would_deadlock:
        return "the calling thread would wait for itself";
      case Errc::no_quorum:
        return "too few servers answered";
      case Errc::exhausted:
        return "this process is out of threads or memory";
      case Errc::durability_not_met:
        return "too few replicas have confirmed it";
      case Errc::crowded:
        return "too many calls wait for it already";
    }
    return "unknown error";
  }

  std::error_condition default_error_condition(int value) const noexcept override {
    switch (static_cast<Errc>(value)) {
      case Errc::busy:
      case Errc::exhausted:
      case Errc::crowded:
        return std::errc::resource_unavailable_try_again;
      case Errc::timed_out:
        return std::errc::timed_out;
      case Errc::cancelled:
        return std::errc::operation_canceled;
      case Errc::not_owner:
        return std::errc::operation_not_permitted;
      case Errc::unreachable:
      case Errc::no_quorum:
        return std::errc::not_connected;
      case Errc::would_deadlock:
        return std::errc::resource_deadlock_would_occur;
      case Errc::denied:
        return std::errc::permission_denied;
      case Errc::invalid_argument:
        return std::errc::invalid_argument;
      case Errc::read_only:
        return std::errc::read_only_file_system;
      case Errc::out_of_memory:
        return std::errc::not_enough_memory;
      default:
        return {value, *this};
    }
  }
};

}  // namespace

const char* to_string(Errc code) noexcept {
  switch (code) {
    case Errc::busy:
      return "busy";
    case Errc::timed_out:
      return "timed_out";
    case Errc::cancelled:
      return "cancelled";
    case Errc::lost:
      return "lost";
    case Errc::not_owner:
      return "not_owner";
    case Errc::unreachable:
      return "unreachable";
    case Errc::unknown_outcome:
      return "unknown_outcome";
    case Errc::denied:
      return "denied";
    case Errc::tls:
      return "tls";
    case Errc::wrong_type:
      return "wrong_type";
    case Errc::read_only:
      return "read_only";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::unsupported_by_server:
      return "unsupported_by_server";
    case Errc::server_error:
      return "server_error";
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::forked:
      return "forked";
    case Errc::closed:
      return "closed";
    case Errc::would_deadlock:
      return "would_deadlock";
    case Errc::no_quorum:
      return "no_quorum";
    case Errc::exhausted:
      return "exhausted";
    case Errc::durability_not_met:
      return "durability_not_met";
    case Errc::crowded:
      return "crowded";
  }
  return "?";
}

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }

struct Error::Parts {
  std::string key, node, cause, what;
};

Error::Error(Errc code, std::string key, std::string node, std::string cause)
    : std::system_error(make_error_code(code)) {
  std::string what;
  if (!key.empty()) what += "lock " + base::quote(key);
  if (!node.empty()) what += (what.empty() ? "" : " on ") + node;
  if (!what.empty()) what += ": ";
  what += make_error_code(code).message();
  if (!cause.empty()) what += ": " + cause;
  parts_ = std::make_shared<const Parts>(Parts{std::move(key), std::move(node), std::move(cause), std::move(what)});
}

const char* Error::what() const noexcept { return parts_->what.c_str(); }
const std::string& Error::key() const noexcept { return parts_->key; }
const std::string& Error::node() const noexcept { return parts_->node; }
const std::string& Error::cause() const noexcept { return parts_->cause; }

Failure::Failure(Error error) : error_(std::make_shared<const Error>(std::move(error))) {}

std::error_code Failure::code() const noexcept { return error_ ? error_->code() : std::error_code(); }
const char* Failure::what() const noexcept { return error_ ? error_->what() : ""; }

}  // namespace holdfast
