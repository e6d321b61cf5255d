// SPDX-License-Identifier: Apache-2.0
// What a server does with single keys.
#include <fnmatch.h>
#include <unordered_map>

#include "sim/model/verb.hpp"

namespace holdfast::test {

const std::unordered_map<std::string_view, ModelServer::Verb>& ModelServer::verbs() {
  using Self = ModelServer;
  constexpr Verb::Keys kOne = Verb::Keys::one;
  constexpr Verb::Keys kAll = Verb::Keys::all;
  static const std::unordered_map<std::string_view, Verb> all{
      {"EVALSHA", {.run = &Self::evalsha, .least = 3, .scripted = true}},
      {"EVAL", {.run = &Self::eval, .least = 3, .scripted = true}},
      {"SCRIPT", {.run = &Self::script, .least = 2}},
      {"GET", {.run = &Self::get, .least = 2, .keys = kOne, .reads = true}},
      {"STRLEN", {.run = &Self::strlen, .least = 2, .keys = kOne, .reads = true}},
      {"SET", {.run = &Self::set, .least = 3, .keys = kOne}},
      {"DEL", {.run = &Self::del, .least = 2, .keys = kAll}},
      {"EXISTS", {.run = &Self::exists, .least = 2, .keys = kAll, .reads = true}},
      {"TYPE", {.run = &Self::type, .least = 2, .keys = kOne, .reads = true}},
      {"PTTL", {.run = &Self::pttl, .least = 2, .keys = kOne, .reads = true}},
      {"PEXPIRE", {.run = &Self::pexpire, .least = 3, .keys = kOne}},
      {"HSET", {.run = &Self::hset, .least = 4, .keys = kOne}},
      {"HDEL", {.run = &Self::hdel, .least = 3, .keys = kOne}},
      {"HGET", {.run = &Self::hget, .least = 3, .keys = kOne, .reads = true}},
      {"HLEN", {.run = &Self::hlen, .least = 2, .keys = kOne, .reads = true}},
      {"HEXISTS", {.run = &Self::hexists, .least = 3, .keys = kOne, .reads = true}},
      {"HGETALL", {.run = &Self::hgetall, .least = 2, .keys = kOne, .reads = true}},
      {"RPUSH", {.run = &Self::rpush, .least = 3, .keys = kOne}},
      {"LRANGE", {.run = &Self::lrange, .least = 4, .keys = kOne, .reads = true}},
      {"ZRANGE", {.run = &Self::zrange, .least = 4, .keys = kOne, .reads = true}},
      {"ZSCORE", {.run = &Self::zscore, .least = 3, .keys = kOne, .reads = true}},
      {"ZADD", {.run = &Self::zadd, .least = 4, .keys = kOne}},
      {"SCAN", {.run = &Self::scan, .least = 2}},
      {"DBSIZE", {.run = &Self::dbsize}},
      {"FLUSHALL", {.run = &Self::flushall}},
      {"SELECT", {.run = &Self::select, .least = 2}},
      {"INFO", {.run = &Self::info}},
      {"ROLE", {.run = &Self::role_of}},
      {"TIME", {.run = &Self::clock_of}},
      {"WAIT", {.run = &Self::wait, .least = 3}},
      {"WAITAOF", {.run = &Self::wait_aof, .least = 4}},
      {"PUBLISH", {.run = &Self::publish_plain, .least = 3}},
      {"SPUBLISH", {.run = &Self::publish_sharded, .least = 3, .keys = kOne, .sharded = true}},
      {"ASKING", {.run = &Self::asking}},
      {"CLUSTER", {.run = &Self::cluster, .least = 2}},
  };
  return all;
}

void ModelServer::get(Session&, Args command, std::string& out) {
  const std::string* const text = keyspace_.text(command[1]);
  text == nullptr ? put_null(out) : put_text(out, *text);
}

void ModelServer::strlen(Session&, Args command, std::string& out) {
  const std::string* const text = keyspace_.text(command[1]);
  put_number(out, text == nullptr ? 0 : static_cast<std::int64_t>(text->size()));
}

void ModelServer::set(Session&, Args command, std::string& out) {
  if (command.size() == 5 && command[3] == "PX") {
    keyspace_.set(command[1], command[2], command[4]);
  } else if (command.size() == 3) {
    keyspace_.set(command[1], command[2]);
  } else {
    throw Refused("ERR syntax error");
  }
  put_word(out, "OK");
}

void ModelServer::del(Session&, Args command, std::string& out) {
  std::int64_t count = 0;
  for (const std::string_view key : command.subspan(1)) count += keyspace_.erase(key) ? 1 : 0;
  put_number(out, count);
}

void ModelServer::exists(Session&, Args command, std::string& out) {
  std::int64_t count = 0;
  for (const std::string_view key : command.subspan(1)) count += keyspace_.find(key) != nullptr ? 1 : 0;
  put_number(out, count);
}

void ModelServer::type(Session&, Args command, std::string& out) {
  const Keyspace::Value* const value = keyspace_.find(command[1]);
  put_word(out, value == nullptr                        ? "none"
                : value->type == Keyspace::Type::string ? "string"
                : value->type == Keyspace::Type::hash   ? "hash"
                : value->type == Keyspace::Type::list   ? "list"
                                                        : "zset");
}

void ModelServer::pttl(Session&, Args command, std::string& out) { put_number(out, keyspace_.remaining(command[1])); }

void ModelServer::pexpire(Session&, Args command, std::string& out) {
  put_number(out, keyspace_.expire(command[1], command[2]) ? 1 : 0);
}

void ModelServer::hset(Session&, Args command, std::string& out) {
  put_number(out, keyspace_.set_field(command[1], command[2], command[3]) ? 1 : 0);
}

void ModelServer::hdel(Session&, Args command, std::string& out) {
  put_number(out, keyspace_.erase_field(command[1], command[2]) ? 1 : 0);
}

void ModelServer::hget(Session&, Args command, std::string& out) {
  const std::string* const text = keyspace_.field(command[1], command[2]);
  text == nullptr ? put_null(out) : put_text(out, *text);
}

void ModelServer::hlen(Session&, Args command, std::string& out) {
  put_number(out, static_cast<std::int64_t>(keyspace_.count_fields(command[1])));
}

void ModelServer::hexists(Session&, Args command, std::string& out) {
  put_number(out, keyspace_.has_field(command[1], command[2]) ? 1 : 0);
}

void ModelServer::hgetall(Session&, Args command, std::string& out) {
  put_head(out, '%', keyspace_.count_fields(command[1]));
  const Keyspace::Value* const value = keyspace_.find(command[1]);
  if (value == nullptr) return;
  for (const auto& [field, text] : value->fields) {
    put_text(out, field);
    put_text(out, text);
  }
}

void ModelServer::rpush(Session&, Args command, std::string& out) {
  std::size_t length = 0;
  for (const std::string_view element : command.subspan(2)) length = keyspace_.push(command[1], element);
  put_number(out, static_cast<std::int64_t>(length));
}

/// All of it, whatever part is asked for.
void ModelServer::lrange(Session&, Args command, std::string& out) {
  const std::vector<std::string>& elements = keyspace_.elements(command[1]);
  put_head(out, '*', elements.size());
  for (const std::string& element : elements) put_text(out, element);
}

void ModelServer::zadd(Session&, Args command, std::string& out) {
  std::int64_t added = 0;
  for (std::size_t i = 2; i + 1 < command.size(); i += 2) {
    if (keyspace_.set_score(command[1], command[i + 1], to_number(command[i]).value())) ++added;
  }
  put_number(out, added);
}

/// All of it, whatever part is asked for.
void ModelServer::zrange(Session&, Args command, std::string& out) {
  const auto& scores = keyspace_.scores(command[1]);
  const bool with_scores = command.back() == "WITHSCORES";
  put_head(out, '*', (with_scores ? 2 : 1) * scores.size());
  for (const auto& [score, member] : scores) {
    put_text(out, member);
    if (with_scores) put_text(out, std::to_string(score));
  }
}

void ModelServer::zscore(Session&, Args command, std::string& out) {
  const std::optional<Keyspace::Score> score = keyspace_.score(command[1], command[2]);
  score ? put_text(out, std::to_string(*score)) : put_null(out);
}

/// All at once, as a server may.
void ModelServer::scan(Session&, Args command, std::string& out) {
  std::string pattern = "*";
  bool hashes_only = false;
  for (std::size_t i = 2; i + 1 < command.size(); i += 2) {
    if (command[i] == "MATCH") pattern = command[i + 1];
    if (command[i] == "TYPE") hashes_only = command[i + 1] == "hash";
  }
  std::vector<std::string_view> found;
  for (const auto& [key, value] : keyspace_.all()) {
    const bool ended = value.expires != Keyspace::kNever && value.expires < keyspace_.now();
    if (ended || (hashes_only && value.type != Keyspace::Type::hash)) continue;
    if (fnmatch(pattern.c_str(), key.c_str(), 0) == 0) found.push_back(key);
  }
  put_head(out, '*', 2);
  put_text(out, "0");
  put_head(out, '*', found.size());
  for (const std::string_view key : found) put_text(out, key);
}

void ModelServer::dbsize(Session&, Args, std::string& out) {
  put_number(out, static_cast<std::int64_t>(keyspace_.all().size()));
}

void ModelServer::flushall(Session&, Args, std::string& out) {
  keyspace_.flush();
  all_changed_ = all_gone_ = true;
  put_word(out, "OK");
}

}  // namespace holdfast::test
