// SPDX-License-Identifier: Apache-2.0
#include "support/raw.hpp"

#include <charconv>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <tuple>

#include "support/quiet_pipe.hpp"

namespace holdfast::test {
namespace {

Reply convert(const redisReply& from) {
  Reply to;
  switch (from.type) {
    case REDIS_REPLY_NIL:
      break;
    case REDIS_REPLY_INTEGER:
      to.kind = Reply::Kind::integer;
      to.integer = from.integer;
      break;
    case REDIS_REPLY_ERROR:
      to.kind = Reply::Kind::error;
      to.text.assign(from.str, static_cast<std::size_t>(from.len));
      break;
    case REDIS_REPLY_ARRAY:
      to.kind = Reply::Kind::array;
      for (std::size_t i = 0; i < from.elements; ++i) to.elements.push_back(convert(*from.element[i]));
      break;
    default:
      to.kind = Reply::Kind::text;
      to.text.assign(from.str, static_cast<std::size_t>(from.len));
  }
  return to;
}

const Reply& checked(const Reply& reply) {
  if (reply.is_error()) throw std::runtime_error(reply.text);
  return reply;
}

/// The number after `name` and up to `end` in INFO's text, as text.
std::string field_of(const std::string& info, const std::string& name, std::string_view end) {
  const std::string line_start = "\n" + name;
  const std::size_t found = info.find(line_start);
  if (found == std::string::npos) return {};
  const std::size_t start = found + line_start.size();
  return info.substr(start, info.find_first_of(end, start) - start);
}

}  // namespace

Endpoint Endpoint::of(const RedisServer& server) {
  Endpoint endpoint;
  endpoint.socket_path = server.socket_path();
  endpoint.user = server.admin_user();
  endpoint.password = server.admin_password();
  return endpoint;
}

void Raw::Closer::operator()(redisContext* context) const { redisFree(context); }

Raw::Raw(Endpoint endpoint, std::chrono::milliseconds timeout) : endpoint_(std::move(endpoint)), timeout_(timeout) {
  connect();
}
Raw::Raw(Raw&&) noexcept = default;
Raw& Raw::operator=(Raw&&) noexcept = default;
Raw::~Raw() = default;

void Raw::connect() {
  const timeval limit{timeout_.count() / 1000, timeout_.count() % 1000 * 1000};
  context_.reset(endpoint_.socket_path.empty() ? redisConnectWithTimeout(endpoint_.host.c_str(), endpoint_.port, limit)
                                               : redisConnectUnixWithTimeout(endpoint_.socket_path.c_str(), limit));
  if (!context_) throw std::runtime_error("no memory for a connection");
  if (context_->err != 0) {
    const std::string why = context_->errstr;
    context_.reset();
    throw std::runtime_error(why);
  }
  redisSetTimeout(context_.get(), limit);
  if (!endpoint_.user.empty()) {
    checked(command("AUTH", endpoint_.user, endpoint_.password));
  } else if (!endpoint_.password.empty()) {
    checked(command("AUTH", endpoint_.password));
  }
}

bool Raw::dead() const {
  if (!context_) return true;
  pollfd polled{context_->fd, POLLIN, 0};
  // Between commands a server has nothing to say, so readable means closed.
  return poll(&polled, 1, 0) != 0;
}

Reply Raw::send(const std::vector<std::string>& args) {
  if (dead()) connect();
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  for (const std::string& arg : args) {
    texts.push_back(arg.data());
    sizes.push_back(arg.size());
  }
  const QuietPipe quiet;
  return owned(redisCommandArgv(context_.get(), static_cast<int>(args.size()), texts.data(), sizes.data()),
               args.front());
}

Reply Raw::unasked() {
  void* answer = nullptr;
  std::ignore = redisGetReply(context_.get(), &answer);
  return owned(answer, "nothing said");
}

/// Null: the connection is broken.
Reply Raw::owned(void* answer, const std::string& what) {
  if (answer == nullptr) {
    const std::string why = context_->errstr;
    context_.reset();
    throw std::runtime_error(what + ": " + why);
  }
  const std::unique_ptr<redisReply, void (*)(void*)> reply(static_cast<redisReply*>(answer), freeReplyObject);
  return convert(*reply);
}

std::map<std::string, std::string> Raw::hgetall(std::string_view key) {
  const Reply reply = checked(command("HGETALL", key));
  std::map<std::string, std::string> fields;
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    fields[reply.elements[i].text] = reply.elements[i + 1].text;
  }
  return fields;
}

long long Raw::pttl(std::string_view key) { return checked(command("PTTL", key)).integer; }
bool Raw::exists(std::string_view key) { return checked(command("EXISTS", key)).integer == 1; }
std::string Raw::type(std::string_view key) { return checked(command("TYPE", key)).text; }
void Raw::flushall() { checked(command("FLUSHALL")); }

std::string Raw::info(std::string_view section, std::string_view field) {
  return field_of(checked(command("INFO", section)).text, std::string(field) + ":", "\r");
}

bool Raw::replicated(std::size_t replicas) {
  checked(command("SET", "replicated", "yes"));
  return checked(command("WAIT", replicas, 1000)).integer == static_cast<long long>(replicas);
}

long long Raw::calls(std::string_view command_name) {
  const std::string info_text = checked(command("INFO", "commandstats")).text;
  const std::string count = field_of(info_text, "cmdstat_" + std::string(command_name) + ":calls=", ",");
  long long value = 0;
  std::from_chars(count.data(), count.data() + count.size(), value);
  return value;
}

}  // namespace holdfast::test
