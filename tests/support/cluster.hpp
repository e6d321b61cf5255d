// SPDX-License-Identifier: Apache-2.0
// A real cluster on loopback: primaries that share the slots, and their replicas.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/cluster_node.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

struct ClusterOptions {
  std::size_t primaries = 3;
  std::size_t replicas = 1;  ///< Of each primary.
  bool tls = false;          ///< Everywhere: for clients, on the bus, and for replication.
  std::string password{};    ///< Of the default user. Needs no escaping in a URL.
  /// As ServerOptions::users. Nodes log in to each other as a user of their own.
  std::vector<std::string> users{};
  bool persistent = false;  ///< As ServerOptions::persistent, for each node.
  /// A node that is silent for so long is suspected; when most primaries do, it has failed. What a machine under load
  /// takes for a failure should not be one, so tests that wait for none have more.
  std::chrono::milliseconds node_timeout{2000};
  std::vector<std::string> config{};  ///< Further lines for each node: `cluster-announce-hostname ...` and the like.
};

enum class Failover {
  plain,     ///< The replica first has all that the primary has, and gets the votes of the others.
  force,     ///< CLUSTER FAILOVER FORCE: without a word to the primary, but with the votes of the others.
  takeover,  ///< CLUSTER FAILOVER TAKEOVER: asks nobody.
};
const char* to_string(Failover how);

/// Starts at construction. When the constructor returns, all nodes agree on who serves which slot, and the replicas are
/// linked. Slots are shared evenly, in order. Nodes do not change their primaries by themselves, except that on
/// Redis 6.0 a primary whose last slot is taken follows the taker. Calls throw std::runtime_error when
/// something does not happen within generous limits. Not thread-safe, but for url().
class Cluster {
 public:
  static constexpr int kSlots = 16384;

  explicit Cluster(ClusterOptions options = {});
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// `redis+cluster://127.0.0.1:port,...`, with all nodes of the beginning, the password if there is one, and the CA's
  /// file. Never one of `users`.
  const std::string& url() const { return url_; }
  /// The same with these nodes, in this order: `"127.0.0.1:1,127.0.0.1:7000"`.
  std::string url_at(const std::string& addresses) const;
  /// `host:port` of a node, as in the URL.
  static std::string address(const RedisServer& node) { return "127.0.0.1:" + std::to_string(node.port()); }
  const Certificates& certificates() const { return certificates_; }

  /// Those of the beginning come first: the primaries, then the replicas of the first primary, and so on; then what was
  /// added. Each can be killed, frozen and restarted, and remembers who it is.
  RedisServer& node(std::size_t index) { return *members_.at(index)->server; }
  std::size_t nodes() const { return members_.size(); }
  std::string id_of(const RedisServer& node) const { return member(node).id; }

  /// Who serves a slot, a replica, and so on, is as the nodes that are up say of themselves, at this moment. Of two
  /// that both say that they serve a slot the one of the higher epoch does.
  RedisServer& primary_of(int slot);
  RedisServer& primary_of(std::string_view key) { return primary_of(slot_of(key)); }
  /// That serve a slot, by the first of their slots.
  std::vector<RedisServer*> primaries();
  std::vector<RedisServer*> replicas_of(const RedisServer& primary);
  static bool is_primary(const RedisServer& node);
  /// CLUSTER KEYSLOT of a node that is up.
  int slot_of(std::string_view key);
  /// A name, `what:…`, whose slot this primary serves; another one for each number.
  std::string name_on(const RedisServer& primary, int number = 0, const std::string& what = "orders");
  /// One on each primary.
  std::vector<std::string> names_on_each(const std::string& what = "orders");

  /// All nodes that are up say the same of all slots and of each other, and each replica is linked to a primary.
  void wait_until_settled();

  /// A replica of this primary takes its place. Returns when it serves and all nodes that are up know. The old primary,
  /// if it is up, is its replica then.
  void failover(RedisServer& primary, Failover how = Failover::plain);
  /// After this primary was killed or frozen: until others serve all its slots, and all nodes that are up know.
  void wait_for_failover_from(const RedisServer& old_primary);
  /// What comes back takes writes for the slot until it has heard who else serves it.
  void wait_for_one_primary(int slot);

  /// The old way in three steps, between which a test can stop. From begin_move() on, the source asks clients to ask
  /// the target (ASK) for keys that it does not have. A slot that is served by `to` already is left alone.
  void begin_move(int slot, RedisServer& to);
  /// Up to `most` keys go to the target (MIGRATE). Returns how many have gone.
  std::size_t move_keys(int slot, RedisServer& to, std::size_t most = kAllKeys);
  /// This one; false if it is not there.
  bool move_key(const std::string& key, RedisServer& to);
  /// With the keys that are still there. When it returns, all nodes that are up know the new primary of the slot.
  void end_move(int slot, RedisServer& to);
  /// All three, slot by slot, of `first` to `last`.
  void move_slots(int first, int last, RedisServer& to);
  /// Whether the server can move slots with all their keys at once (Valkey 9.0).
  static bool moves_atomically();
  /// CLUSTER MIGRATESLOTS. `first` to `last` have one primary. Returns as end_move().
  void move_slots_atomically(int first, int last, RedisServer& to);

  /// A primary without slots, or a replica. When it returns, all nodes know it.
  RedisServer& add_node(const RedisServer* primary = nullptr);
  /// Ends it for good; the others forget it. A primary must have no slots. The object stays.
  void remove_node(RedisServer& node);

 private:
  static constexpr std::size_t kAllKeys = static_cast<std::size_t>(-1);
  static constexpr const char* kUser = "node";
  struct Member {
    std::unique_ptr<RedisServer> server;
    std::string id;
  };

  class Move;

  Member& start_member();
  ServerOptions member_options() const;
  static void meet(const RedisServer& one, const RedisServer& other);
  void follow(const RedisServer& node, const RedisServer& primary);
  const Member& member(const RedisServer& node) const;
  std::vector<const Member*> up() const;
  /// Each node that is up, as it says of itself.
  std::vector<std::pair<const Member*, ClusterNode>> selves() const;
  RedisServer* server_of(int slot);
  /// What keeps it from being settled; empty: it is.
  std::string unrest() const;
  /// A handshake that takes longer than the time-out of nodes is dropped and not repeated, and who was forgotten comes
  /// back by hearsay after a minute: on a machine under load both happen.
  void introduce_again() const;
  /// That it serves these, and the epoch of its claim: a next owner that has not heard of the epoch claims with none
  /// that is greater, and a late message of this one's would win the slots back.
  bool all_know(int first, int last, const RedisServer& primary) const;
  void wait_until_all_know(int first, int last, const RedisServer& primary) const;

  const ClusterOptions options_;
  const std::string secret_;  // of the user by which nodes log in to each other
  TempDir folder_;
  Certificates certificates_;
  std::vector<std::unique_ptr<Member>> members_, removed_;
  std::string url_;
};

}  // namespace holdfast::test
