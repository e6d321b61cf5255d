// SPDX-License-Identifier: Apache-2.0
// Where the server is and how a client behaves. Fixed once the client is made.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

class Observer;

/// What TLS uses in place of files, as PEM texts.
struct TlsCredentials {
  std::string authorities{};  ///< Those that are trusted. Empty: TlsConfig::ca_file, or the system's.
  /// The client's, followed by those between it and its authority. Empty: TlsConfig::certificate_file, if any.
  std::string certificate{};
  std::string key{};  ///< Its private key. Never printed, logged or put in an error.
};

/// Provides certificates that are in no file, or that change: from a vault, a workload identity, a certificate store.
/// Called before the handshake of each connection, on a thread of its own, as a CredentialsProvider is: the same holds
/// if it is slow or does not return. If it throws, or what it gives cannot be used, that of the call before serves; if
/// there was none, that counts as an unreachable server, and it is called again at the next attempt.
using TlsProvider = std::function<TlsCredentials()>;

/// TLS settings, used when `enabled` (a `rediss://` URL).
struct TlsConfig {
  bool enabled = false;
  TlsProvider provider{};  ///< When set, what it gives takes the place of the files.
  // Regular files that have changed are read again before the next connection.
  std::string ca_file;           ///< PEM; empty: the system's trusted authorities.
  std::string certificate_file;  ///< PEM client certificate, when the server asks for one.
  std::string key_file;          ///< PEM private key of the client certificate.
  /// The name that is sent to every server, node and Sentinel, and that its certificate must carry. For those that are
  /// reached by addresses under a certificate for a name. Empty: the host that the connection was made to.
  std::string server_name;
  enum class Verify {
    full,  ///< The certificate must be trusted and carry the server's name (the default).
    ca,    ///< It must be trusted. Any server with a certificate of these authorities passes for ours.
    none,  ///< No check at all. For experiments only.
  };
  Verify verify = Verify::full;
};

/// Where a server is, before its name is resolved.
struct NodeAddress {
  std::string host;  ///< A name or an address.
  std::uint16_t port = 6379;
  friend bool operator==(const NodeAddress&, const NodeAddress&) = default;
};

/// Where to connect in order to reach an address: behind address translation, what a cluster's nodes and Sentinels
/// announce leads nowhere from here. Called once for each connection, with the address as it was configured or
/// announced; what it returns is not mapped again. Addresses are still compared and shown as they were announced, and
/// TLS expects the certificate of the host that it returns.
///
/// It runs on a thread of its own, as a CredentialsProvider does: the same holds if it is slow, throws or does not
/// return.
using AddressMap = std::function<NodeAddress(const NodeAddress& announced)>;

/// What a connection logs in with.
struct Credentials {
  std::string username{};  ///< Empty: the server's default user.
  std::string password{};  ///< Never printed, logged or put in an error.
  /// For how long, counted from the call that returned them. Empty: until the next login, which asks for them again.
  std::optional<std::chrono::milliseconds> valid_for{};
};

/// Provides a user and a password that change: a token from an identity service, a file that is rewritten, a vault.
/// Called for each connection at its login, and again when three quarters of `valid_for` have passed: the open
/// connection then sends AUTH, so that no hold is lost. If the server's passwords have changed since the call, it
/// refuses the old ones: then the provider is called again, and only a client that was never connected gets the error,
/// after a second.
///
/// It may be slow: it is called on a thread of its own and delays only that login. It must allow calls for several
/// connections at a time. After `connect_timeout` the login gives up; a call that does not return is abandoned and may
/// outlive the client, so let it own what it uses (capture by value or by std::shared_ptr). If it throws, or does not
/// return in time, that counts as an unreachable server (Errc::unreachable): a caller waiting for a lock keeps waiting
/// for `patience`, and the provider is called again after a pause, as for reconnects. Errors show the text of its
/// exception, so keep secrets out of it.
using CredentialsProvider = std::function<Credentials()>;

/// Several addresses where the primary may be, tried in turn until one serves as a primary.
struct Servers {
  std::vector<NodeAddress> addresses;
};

/// A server of this machine. TLS is not used there.
struct UnixSocket {
  std::string path;
};

/// `local:`: a private redis-server of this user; joined if it is running, else started. Needs holdfast::testing.
struct LocalServer {};

/// Redis Sentinel: the Sentinels say which server is the primary, and are queried again for each connection.
struct SentinelConfig {
  std::vector<NodeAddress> addresses{};  ///< In the order in which they are first queried. Port 26379 unless given.
  std::string primary{};                 ///< The name by which the Sentinels know it ("mymaster").
  std::string username{};                ///< At the Sentinels; empty: their default user.
  std::string password{};                ///< At the Sentinels. Never printed, logged or put in an error.
  std::string password_file{};           ///< Read for each login, if there is no password.
  CredentialsProvider credentials{};     ///< When set, that username and password are not used.
};

/// Redis Cluster or Valkey Cluster.
struct ClusterConfig {
  /// Some of its nodes, which are queried for all others at the start, and again when no other can be reached.
  std::vector<NodeAddress> addresses;
};

/// Where the server is.
using ServerLocation = std::variant<NodeAddress, Servers, UnixSocket, SentinelConfig, ClusterConfig, LocalServer>;

/// How releases are published and waiters subscribe. All clients that share a lock must use the same.
enum class Publish : std::uint8_t {
  automatic,  ///< As Redisson from 3.22 on decides: SPUBLISH in a cluster that has it (Redis 7), else PUBLISH.
  publish,    ///< PUBLISH: as Redisson before 3.22, or with shardedSubscriptionMode OFF.
  spublish,   ///< SPUBLISH, in a cluster only: as Redisson with shardedSubscriptionMode ON.
  both,       ///< Both; waiters listen to both: for clusters that Redisson clients older and newer than 3.22 share.
};

/// What happens to open holds when a client is closed.
enum class OnClose {
  release,          ///< Release them, within `release_timeout`.
  leave_to_expire,  ///< Leave them; they end with their lease.
};

/// How long things may take, and how often they happen.
struct Timing {
  std::chrono::milliseconds connect_timeout{5000};  ///< One attempt to connect, TLS and login included.
  std::chrono::milliseconds command_timeout{3000};  ///< One command, from the call to its reply, any wait for a
                                                    ///< connection included. A renewal: a sixth of its lease if less.
  std::chrono::milliseconds release_timeout{3000};  ///< The longest a release or a Hold's destructor may block.
  std::chrono::milliseconds acks_timeout{1000};     ///< How long to wait for acks; within command_timeout all the same.
  /// RedLock, and MultiLock and AnyLock over several servers: how long to wait for one server's answer. Empty: a
  /// twentieth of the lease, 50 to 500 ms. Never more than a fifth of the lease.
  std::optional<std::chrono::milliseconds> node_timeout{};
  std::chrono::milliseconds reconnect_min{20};    ///< First pause before reconnecting; doubles, with jitter, ...
  std::chrono::milliseconds reconnect_max{2000};  ///< ... up to this.
  std::chrono::milliseconds patience{15000};      ///< How long a waiting acquire tolerates server trouble, from its
                                                  ///< first failed attempt, once there has been a connection.
  std::chrono::milliseconds safety_poll{2000};    ///< The longest a waiter goes without asking; jittered, 50-100 % of
                                                  ///< it.
  std::chrono::milliseconds subscription_linger{10000};  ///< A channel that nobody waits on is unsubscribed after 1 to
                                                         ///< 1.5 times this.
};

/// Times that only one kind of lock has.
struct KindTiming {
  /// How long the callers of one client may pass a `Lock` on among themselves without the server, or retake it at once
  /// after a release, before other clients get their chance. It is passed on only while another caller of this client
  /// waits. After that time, when other clients receive a release, this client may pause for some milliseconds before
  /// it asks again. 0 ms: every release goes to the server, without that pause.
  std::chrono::milliseconds handoff{2};
  /// How long a FairLock may stay free while the waiter whose turn it is does not take it; then the turn passes to the
  /// next. At least 100 ms, since even a live waiter needs a round trip. All clients of a lock should use the same
  /// value.
  std::chrono::milliseconds fair_turn{1000};
  std::chrono::milliseconds poll_min{10};   ///< First pause of a SimpleLock's waiter between two attempts; doubles, ...
  std::chrono::milliseconds poll_max{200};  ///< ... up to this; each jittered, 50-100 % of it.
  /// As Redisson's ExponentialBackOff, with its values. If both are equal, the pause is constant, as its
  /// ConstantBackOff.
  std::chrono::milliseconds spin_min{1};    ///< First pause of a SpinLock's waiter between two attempts; ...
  int spin_multiplier = 2;                  ///< ... each is this many times the one before, plus a little jitter,
  std::chrono::milliseconds spin_max{128};  ///< ... up to this. The multiplier: from 1 to 1000.
};

/// A client's settings. Every default is written here and nowhere else. A plain value: copy freely; not shared with a
/// client made from it.
struct HOLDFAST_EXPORT Config {
  ServerLocation server = NodeAddress{"127.0.0.1", 6379};
  std::string username;  ///< Empty: the server's default user.
  std::string password;  ///< Never printed, logged or put in an error.
  /// When set, username and password are not used: it is called at each login of each connection to a server or cluster
  /// node. Sentinels have their own.
  CredentialsProvider credentials{};
  unsigned database = 0;
  TlsConfig tls;
  AddressMap map_address{};  ///< Empty: addresses are used as they are.
  /// The version of RESP. 3: RESP3, or RESP2 on a connection whose server refuses HELLO 3, as some proxies do. 2: RESP2
  /// at once, for proxies that hang up at HELLO. Over RESP2 a waiter is notified on a second connection, and there is
  /// no loss_notice; locks are as safe.
  int protocol = 3;
  /// The first part of the name that CLIENT LIST shows: `client_name:id:host:process:label`. The id is also in every
  /// owner, so that others can see who holds a lock (LockInfo::holder). Host and label take up to 64 bytes each. Empty:
  /// the connection has no name; then others cannot see that, and after a reconnect the previous connection is not
  /// ended.
  std::string client_name = "holdfast";
  std::string label;  ///< For people, in that name: what the client is for. Any bytes. Empty: the program's name.

  std::string name_prefix;  ///< Put before every lock name on the wire (Redisson: NameMapper).
  /// Says that no Redisson before 3.52 takes part in fair locks under `name_prefix`. Those keep a fair lock's queue
  /// under the name without the prefix: they would share the lock, but neither its order nor its wakes. Without this,
  /// `Client::fair_lock` of a client with a `name_prefix` throws Error(invalid_argument).
  bool fair_with_prefix = false;

  Timing timing;
  KindTiming kinds;
  /// Whether an acquire that may wait also waits for a server that this client has never reached: for
  /// `Timing::patience` from its first failed attempt, and never beyond its own limit, as after a lost connection. For
  /// services that start before their server. False: it fails with `unreachable` at the first connection that is
  /// refused or times out, since an address is more often wrong than early. A Leader waits in any case.
  bool wait_for_server = false;

  std::chrono::milliseconds lease{30000};  ///< Length of a renewed lease (Redisson: lockWatchdogTimeout).
  std::size_t renewal_batch = 100;         ///< Holds per renewal command, 1 to 1000.
  /// The end of a `Lock`'s guard (`unlock()`, a Hold's destructor) does not wait for the server's answer: the release
  /// leaves with the client's next command, within about 2 ms at most, and its outcome goes only to
  /// `Observer::on_released`. Saves a round trip; the lock is held that little longer. `release()` still waits and
  /// returns the outcome. A caller that relocks immediately leaves no window for other clients that only try
  /// occasionally; those that wait are notified. A `SimpleLock`, whose other clients poll, always waits for the answer.
  bool pipelined_release = false;
  /// What a grant or a renewal needs besides the primary's reply, unless AcquireOptions::acks says otherwise.
  Acks acks{};
  /// If the server can report changes of a lock's key (CLIENT TRACKING), a lasting hold is checked again after each
  /// report, so that a loss is noticed within milliseconds. This starts when the hold is 1 s old (or a sixth of the
  /// lease, if that is less; never for leases below 300 ms). It costs a second connection, on which the hold is renewed
  /// as well, and for each key one read at the start and one after each change by others. If the server refuses, it is
  /// not asked again on that connection (Counters::watch_refusals).
  bool loss_notice = true;
  Publish publish = Publish::automatic;  ///< Without a cluster `automatic` or `publish`, which are the same there.
  OnClose on_close = OnClose::release;
  /// How many calls of this client may wait at a time, for all locks together. When that many wait, a call that would
  /// have to wait too fails at once with `Errc::crowded`. Empty: no limit. AcquireOptions::max_waiters is the same for
  /// one lock.
  std::optional<std::size_t> max_waiters{};
  /// Maps a lock's name to the class that it is counted in: the label `lock` of Client::metrics(). Up to 50 classes are
  /// kept apart; locks of any further class are counted as `other`, and so are those for which the function throws or
  /// returns nothing. Called when a lock's handle is made, on the thread that makes it, possibly on several at a time.
  /// See holdfast::lock_class() in metrics.hpp. Empty: all locks are counted together, without that label.
  std::function<std::string(std::string_view name)> lock_class{};
  std::shared_ptr<Observer> observer;

  /// Reads a URL, as docs/cli.md section URLs has them:
  ///   redis://[user[:password]@]host[:port][/database], rediss:// over TLS; with several hosts: `Servers`
  ///   redis+sentinel://…host[:port],…/name[/database]       redis+cluster://…host[:port],…[/database]
  ///   unix://[user[:password]@]/path/to/socket              local:  (needs holdfast::testing)
  /// Each may end in `?parameter=value&…`, by which most members can be set. Throws Error(invalid_argument), which says
  /// what is wrong and where, without repeating a password.
  static Config from_url(std::string_view url);

  /// Throws Error(invalid_argument) if a value is out of range (zero timeouts, lease out of 10 ms .. 10 years, ...).
  void validate() const;

  /// The server as text: `host:port`, the socket's path, `local:`; several as `host:port,host:port`; behind Sentinels
  /// `host:port,host:port/name`, with the Sentinels' addresses; a cluster as `cluster host:port,host:port`, with the
  /// nodes that are named here. Never a user or password.
  std::string node() const;
};

}  // namespace holdfast
