// SPDX-License-Identifier: Apache-2.0
// The model server against a real one, step by step, on random histories; and models with an error each, that are
// found.
#include <algorithm>
#include <cstdlib>
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "kinds/scripts.hpp"
#include "oracle/comparison.hpp"
#include "oracle/record.hpp"
#include "scripts/script_call.hpp"
#include "support/raw.hpp"
#include "support/wait.hpp"

namespace holdfast::test::oracle::oracle_test {
namespace {

namespace scripts = wire::scripts;

constexpr std::size_t kSteps = 200;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string in_words(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& step : steps) out += "  " + to_string(step) + "\n";
  return out;
}

TEST(Oracle, TheModelDoesWhatTheServerDoes) {
  const RedisServer server;
  const Likeness like = likeness_of_server();
  const std::uint64_t first = number_from("HOLDFAST_ORACLE_FIRST", 1);
  const std::uint64_t histories = number_from("HOLDFAST_ORACLE_HISTORIES", 60);
  Record record;
  for (std::uint64_t seed = first; seed < first + histories; ++seed) {
    const std::vector<Step> history = make_history(seed, kSteps, like);
    const auto parted = compare(server, like, history);
    record.add(history, parted.has_value());
    if (!parted) continue;
    const std::vector<Step> least = shortest(server, like, history);
    ADD_FAILURE() << "seed " << seed << ": they part at step " << parted->step << ", "
                  << to_string(history[parted->step]) << ", " << parted->what << "\nthe shortest that was found:\n"
                  << in_words(least) << "again: HOLDFAST_ORACLE_FIRST=" << seed
                  << " HOLDFAST_ORACLE_HISTORIES=1 build/tests/oracle_tests --gtest_filter=Oracle.*";
    break;
  }
  record.write(first);
}

/// To who has not asked for RESP3, byte for byte.
TEST(Oracle, TheModelSaysTheSameInResp2) {
  namespace asio = boost::asio;
  const RedisServer server;
  PassingTime time;
  ModelServer model(time, {});
  std::string from_model, from_server;
  const auto session = model.connect([&](const std::string& bytes) { from_model += bytes; });
  asio::io_context context;
  asio::local::stream_protocol::socket socket(context);
  socket.connect(server.socket_path());
  const auto say = [&](const std::vector<std::string>& words) {
    model.receive(session, encoded(words));
    asio::write(socket, asio::buffer(encoded(words)));
  };
  for (const std::vector<std::string>& words : {std::vector<std::string>{"PING"},
                                                {"GET", "none"},
                                                {"HSET", "all", "one", "_\r\n%1"},
                                                {"HGETALL", "all"},
                                                {"GET", "all"},
                                                {"HGETALL", "none"},
                                                {"SUBSCRIBE", "news"},
                                                {"PING"}}) {
    say(words);
  }
  Raw raw(server);
  ASSERT_TRUE(eventually([&] { return raw.command("PUBLISH", "news", "_\r\n>3").integer == 1; }));
  model.receive(model.connect([](const std::string&) {}), encoded({"PUBLISH", "news", "_\r\n>3"}));
  for (const std::vector<std::string>& words : {std::vector<std::string>{"UNSUBSCRIBE", "news"}, {"PING"}}) say(words);
  asio::write(socket, asio::buffer(encoded({"QUIT"})));
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(from_server), end);
  EXPECT_EQ(end, asio::error::eof);
  EXPECT_EQ(from_model + "+OK\r\n", from_server);
}

TEST(Oracle, EveryScriptHasItsTransitionAndIsCompared) {
  std::set<std::string> called;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (const Step& step : make_history(seed, kSteps, Likeness{})) {
      if (step.words.size() > 1 && step.words.front() == "EVALSHA") called.insert(step.words[1]);
      if (step.words.size() > 1 && step.words.front() == "EVAL") {
        if (const auto known = script_of_text(step.words[1])) called.emplace(known->script->sha1);
      }
    }
  }
  for (const base::Script* script : all_scripts()) {
    const auto known = script_of_sha1(script->sha1);
    EXPECT_TRUE(known && known->run != nullptr) << script->name << " has no transition in the model";
    EXPECT_TRUE(called.contains(std::string(script->sha1))) << script->name << " is in no history";
  }
}

// ---- errors that are to be found ----

struct Planted {
  const char* name;
  const base::Script& script;
  Transition wrong;
};
void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

void right(const base::Script& script, ScriptHost& host, Args keys, Args args, std::string& reply) {
  script_of_sha1(script.sha1)->run(host, keys, args, reply);
}

const std::vector<Planted>& planted() {
  static const std::vector<Planted> all{
      {"release_by_anybody", scripts::lock_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         if (!host.keyspace().erase(keys[0])) return put_null(reply);
         put_number(reply, host.publish(Channel::plain, args[1], "0"));
       }},
      {"release_that_wakes_nobody", scripts::lock_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         if (!host.keyspace().erase_field(keys[0], args[0])) return put_null(reply);
         put_number(reply, host.listeners(Channel::plain, args[1]));
       }},
      {"release_of_several_that_needs_one", scripts::lock_release_all,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::lock_release_all, host, keys, args, reply);
         if (reply == "_\r\n") reply = ":0\r\n";
       }},
      {"acquire_that_keeps_the_lease", scripts::lock_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         const Keyspace::Value* const before = host.keyspace().find(keys[0]);
         const Keyspace::Millis end = before == nullptr ? Keyspace::kNever : before->expires;
         right(scripts::lock_acquire, host, keys, args, reply);
         if (reply != "_\r\n" || end == Keyspace::kNever) return;
         host.keyspace().expire(keys[0], std::to_string(end - host.keyspace().now()));
       }},
      {"acquire_that_takes", scripts::lock_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         host.keyspace().set_field(keys[0], args[1], "1");
         host.keyspace().expire(keys[0], args[0]);
         put_null(reply);
       }},
      {"renewal_that_takes", scripts::lock_renew,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         for (std::size_t i = 0; i < keys.size(); ++i) {
           if (host.keyspace().find(keys[i]) == nullptr) host.keyspace().set_field(keys[i], args[i + 1], "1");
         }
         right(scripts::lock_renew, host, keys, args, reply);
       }},
      {"acquire_of_several_that_names_the_first", scripts::lock_acquire_all,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         for (std::size_t i = 0; i < keys.size(); ++i) {
           const Keyspace::Millis remaining = host.keyspace().remaining(keys[i]);
           if (remaining == -2 || host.keyspace().has_field(keys[i], args[1])) continue;
           put_head(reply, '*', 2);
           put_number(reply, static_cast<std::int64_t>(i + 1));
           return put_number(reply, remaining);
         }
         right(scripts::lock_acquire_all, host, keys, args, reply);
       }},
      {"forced_release_without_a_message", scripts::lock_force_release,
       [](ScriptHost& host, Args keys, Args, std::string& reply) {
         const bool held = host.keyspace().count_fields(keys[0]) > 0;
         if (held) host.keyspace().erase(keys[0]);
         put_number(reply, held ? 1 : 0);
       }},
      {"forced_release_of_anything", scripts::lock_force_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         if (host.keyspace().count_fields(keys[0]) == 0 || args.size() > 2) {
           return right(scripts::lock_force_release, host, keys, args, reply);
         }
         host.keyspace().erase(keys[0]);
         host.publish(Channel::plain, args[0], "0");
         put_number(reply, 1);
       }},
      {"spin_release_by_anybody", scripts::spin_release,
       [](ScriptHost& host, Args keys, Args, std::string& reply) {
         if (!host.keyspace().erase(keys[0])) return put_null(reply);
         put_number(reply, 0);
       }},
      {"forced_spin_release_of_anything", scripts::spin_force_release,
       [](ScriptHost& host, Args keys, Args, std::string& reply) {
         put_number(reply, host.keyspace().erase(keys[0]) ? 1 : 0);
       }},
      {"simple_acquire_without_an_end", scripts::simple_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::simple_acquire, host, keys, args, reply);
         if (reply == "_\r\n") host.keyspace().set(keys[0], args[1]);
       }},
      {"simple_release_by_anybody", scripts::simple_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         host.keyspace().text(keys[0]);
         if (!host.keyspace().erase(keys[0])) return put_null(reply);
         put_number(reply, host.publish(Channel::plain, args[1], "0"));
       }},
      {"reader_beside_a_writer", scripts::read_write_acquire_read,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         if (host.keyspace().field(keys[0], "mode") != nullptr) host.keyspace().set_field(keys[0], "mode", "read");
         right(scripts::read_write_acquire_read, host, keys, args, reply);
       }},
      {"last_reader_for_all", scripts::read_write_release_read,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::read_write_release_read, host, keys, args, reply);
         if (reply == ":0\r\n") host.keyspace().erase(keys[0]);
       }},
      {"writer_that_cuts_its_readers", scripts::read_write_release_write,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::read_write_release_write, host, keys, args, reply);
         if (reply != "_\r\n") host.keyspace().erase(keys[0]);
       }},
      {"read_renewal_that_forgets_the_hold", scripts::read_write_renew,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::read_write_renew, host, keys, args, reply);
         for (std::size_t i = keys.size() / 2; i < keys.size(); ++i) host.keyspace().erase(keys[i]);
       }},
      {"fair_acquire_that_overtakes", scripts::fair_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         const bool is_free = host.keyspace().find(keys[0]) == nullptr;
         if (!is_free) return right(scripts::fair_acquire, host, keys, args, reply);
         right(scripts::lock_acquire, host, keys.first(1), args.first(2), reply);
       }},
      {"fair_waiter_at_the_wrong_end", scripts::fair_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::fair_acquire, host, keys, args, reply);
         const std::vector<std::string> queue = host.keyspace().elements(keys[1]);
         if (queue.size() < 2 || queue.back() != args[1]) return;
         host.keyspace().erase_elements(keys[1], queue.front());
         host.keyspace().push(keys[1], queue.front());
       }},
      {"fair_release_that_tells_nobody", scripts::fair_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         std::vector<std::string_view> nowhere(args.begin(), args.end());
         nowhere[1] = "nowhere";
         right(scripts::fair_release, host, keys, nowhere, reply);
       }},
      {"fair_leave_that_keeps_the_deadline", scripts::fair_leave,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         const auto deadline = host.keyspace().score(keys[2], args[0]);
         right(scripts::fair_leave, host, keys, args, reply);
         if (deadline) host.keyspace().set_score(keys[2], args[0], *deadline);
       }},
      {"any_that_takes_a_second", scripts::lock_acquire_any,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         for (std::size_t i = 0; i < keys.size(); ++i) {
           if (host.keyspace().find(keys[i]) != nullptr) continue;
           host.keyspace().set_field(keys[i], args[1], "1");
           host.keyspace().expire(keys[i], args[0]);
           put_head(reply, '*', 2);
           put_number(reply, -1);
           return put_number(reply, static_cast<std::int64_t>(i + 1));
         }
         right(scripts::lock_acquire_any, host, keys, args, reply);
       }},
      {"permits_out_of_nothing", scripts::semaphore_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::semaphore_acquire, host, keys, args, reply);
         const std::string* const count = host.keyspace().text(keys[0]);
         if (reply == "_\r\n" && count != nullptr) host.keyspace().increment(keys[0], 1);
       }},
      {"acquire_that_counts_again", scripts::semaphore_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::semaphore_acquire, host, keys.first(1), args, reply);
       }},
      {"release_that_counts_again", scripts::semaphore_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::semaphore_release, host, keys.size() == 2 ? keys.first(1) : keys, args, reply);
       }},
      {"undo_of_what_was_not_granted", scripts::semaphore_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::semaphore_release, host, keys.first(std::min<std::size_t>(keys.size(), 2)), args, reply);
       }},
      {"permit_taken_again", scripts::permits_acquire,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         const std::size_t held = host.keyspace().scores(keys[1]).size();
         right(scripts::permits_acquire, host, keys, args, reply);
         const bool granted = reply.find(":-1\r\n$") != reply.npos;
         if (granted && held > 0 && held == host.keyspace().scores(keys[1]).size()) {
           host.keyspace().increment(keys[0], -1);
         }
       }},
      {"permit_given_back_twice", scripts::permits_release,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_release, host, keys, args, reply);
         const std::string* const count = host.keyspace().text(keys[0]);
         if (reply == "_\r\n" && count != nullptr) host.keyspace().increment(keys[0]);
       }},
      {"renewal_of_some_permits", scripts::permits_renew,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_renew, host, keys, args, reply);
         for (std::size_t i = 0; i < keys.size(); ++i) {
           if (host.keyspace().scores(keys[i]).empty()) continue;
           host.keyspace().set_score(keys[i], args[i + 1].substr(0, 16), host.keyspace().now() + 100'000);
           return;
         }
       }},
      {"total_of_what_is_free", scripts::permits_set_total,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_set_total, host, keys, args, reply);
         host.keyspace().set(keys[0], args[0]);
       }},
      {"total_that_forgets_what_is_held_of_a_removed_one", scripts::permits_set_total,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         const bool is_there = host.keyspace().text(keys[0]) != nullptr;
         right(scripts::permits_set_total, host, keys, args, reply);
         if (!is_there && host.keyspace().text(keys[0]) != nullptr) host.keyspace().set(keys[0], args[0]);
       }},
      {"total_that_counts_again", scripts::permits_set_total,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_set_total, host, keys.first(2), args, reply);
       }},
      {"addition_that_counts_again", scripts::permits_add,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_add, host, keys.first(2), args, reply);
       }},
      {"removal_that_forgets_what_is_held", scripts::permits_remove,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::permits_remove, host, keys, args, reply);
         host.keyspace().erase(keys[1]);
       }},
      {"step_that_counts_again", scripts::latch_count_down,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         right(scripts::latch_count_down, host, keys.first(1), args, reply);
       }},
      {"latch_that_opens_for_nobody", scripts::latch_count_down,
       [](ScriptHost& host, Args keys, Args args, std::string& reply) {
         std::vector<std::string_view> nowhere(args.begin(), args.end());
         nowhere[2] = "nowhere";
         right(scripts::latch_count_down, host, keys, nowhere, reply);
       }},
  };
  return all;
}

constexpr std::uint64_t kHistories = 160;

class Wrong : public testing::TestWithParam<Planted> {};

TEST_P(Wrong, is_found) {
  const RedisServer server;
  const Likeness like = likeness_of_server();
  const auto plant = [](ModelServer& model) { model.plant(GetParam().script, GetParam().wrong); };
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    const std::vector<Step> history = make_history(seed, kSteps, like);
    if (!compare(server, like, history, plant)) continue;
    const std::vector<Step> least = shortest(server, like, history, plant);
    EXPECT_LE(least.size(), 8U) << in_words(least);
    EXPECT_FALSE(compare(server, like, least)) << "of the model as it is:\n" << in_words(least);
    return;
  }
  ADD_FAILURE() << "not within " << kHistories * kSteps << " steps";
}

INSTANTIATE_TEST_SUITE_P(Model, Wrong, testing::ValuesIn(planted()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace holdfast::test::oracle::oracle_test
