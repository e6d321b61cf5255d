// SPDX-License-Identifier: Apache-2.0
#include <holdfast/error.hpp>

#include "base/text.hpp"

namespace holdfast {
namespace {

struct Words {
  const char* name;
  const char* message;
};

constexpr Words words_of(Errc code) {
  switch (code) {
    case Errc::busy:
      return {"busy", "somebody else holds it"};
    case Errc::timed_out:
      return {"timed_out", "the limit on waiting was over before it was free"};
    case Errc::cancelled:
      return {"cancelled", "the wait was cancelled"};
    case Errc::lost:
      return {"lost", "the lock was lost"};
    case Errc::not_owner:
      return {"not_owner", "not held by the caller"};
    case Errc::unreachable:
      return {"unreachable", "cannot reach the server"};
    case Errc::unknown_outcome:
      return {"unknown_outcome", "no reply in time, the outcome is unknown"};
    case Errc::denied:
      return {"denied", "the server refuses access"};
    case Errc::tls:
      return {"tls", "the TLS connection could not be set up"};
    case Errc::wrong_type:
      return {"wrong_type", "a key of another type has this name"};
    case Errc::read_only:
      return {"read_only", "the server is a read-only replica"};
    case Errc::out_of_memory:
      return {"out_of_memory", "the server is out of memory"};
    case Errc::unsupported_by_server:
      return {"unsupported_by_server", "the server does not support what Holdfast needs"};
    case Errc::server_error:
      return {"server_error", "the server reported an error"};
    case Errc::invalid_argument:
      return {"invalid_argument", "invalid argument"};
    case Errc::forked:
      return {"forked", "a client cannot be used after fork(); make a new one in the child process"};
    case Errc::closed:
      return {"closed", "the client is closed"};
    case Errc::would_deadlock:
      return {"would_deadlock", "the calling thread would wait for itself"};
    case Errc::no_quorum:
      return {"no_quorum", "too few servers answered"};
    case Errc::exhausted:
      return {"exhausted", "this process is out of threads or memory"};
    case Errc::durability_not_met:
      return {"durability_not_met", "too few replicas have confirmed it"};
    case Errc::crowded:
      return {"crowded", "too many calls wait for it already"};
    case Errc::not_set:
      return {"not_set", "nobody has set how many permits there are"};
    case Errc::too_few:
      return {"too_few", "there are fewer permits in all than asked for"};
  }
  return {"?", "unknown error"};
}

/// What is usual for the code, where nothing more is known.
constexpr bool usually_passes(Errc code) {
  switch (code) {
    case Errc::busy:
    case Errc::timed_out:
    case Errc::unreachable:
    case Errc::unknown_outcome:
    case Errc::read_only:
    case Errc::out_of_memory:
    case Errc::no_quorum:
    case Errc::exhausted:
    case Errc::durability_not_met:
    case Errc::crowded:
    case Errc::not_set:
    case Errc::too_few:
      return true;
    default:
      return false;
  }
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }

  std::string message(int value) const override { return words_of(static_cast<Errc>(value)).message; }

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

const char* to_string(Errc code) noexcept { return words_of(code).name; }

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }

struct Error::Parts {
  std::string key, node, cause, what;
  bool may_pass;
};

Error::Error(Errc code, std::string key, std::string node, std::string cause, std::optional<bool> may_pass)
    : std::system_error(make_error_code(code)) {
  std::string what;
  if (!key.empty()) what += "lock " + base::quote(key);
  if (!node.empty()) what += (what.empty() ? "" : " on ") + node;
  if (!what.empty()) what += ": ";
  what += make_error_code(code).message();
  // It may be in a server's words, and goes to logs and terminals.
  cause = base::for_log(cause);
  if (!cause.empty()) what += ": " + cause;
  what = base::for_log(what);
  parts_ = std::make_shared<const Parts>(Parts{std::move(key), std::move(node), std::move(cause), std::move(what),
                                               may_pass.value_or(usually_passes(code))});
}

const char* Error::what() const noexcept { return parts_->what.c_str(); }
const std::string& Error::key() const noexcept { return parts_->key; }
const std::string& Error::node() const noexcept { return parts_->node; }
const std::string& Error::cause() const noexcept { return parts_->cause; }
bool Error::may_pass() const noexcept { return parts_->may_pass; }

Failure::Failure(Error error) : error_(std::make_shared<const Error>(std::move(error))) {}

std::error_code Failure::code() const noexcept { return error_ ? error_->code() : std::error_code(); }
const char* Failure::what() const noexcept { return error_ ? error_->what() : ""; }

}  // namespace holdfast
