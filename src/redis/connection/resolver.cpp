#include "redis/connection/resolver.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <netdb.h>
#include <optional>
#include <system_error>
#include <thread>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "base/fork_guard.hpp"
#include "base/guarded.hpp"

namespace holdfast::redis {

namespace asio = boost::asio;

namespace {

/// Look-ups under way in this process. Those of the parent of a fork are not here.
class Count {
 public:
  bool enter() {
    if (const std::uint32_t now = base::fork_generation(); generation_.exchange(now) != now) under_way_.store(0);
    if (under_way_.fetch_add(1) < Resolver::kMostInProcess) return true;
    leave();
    return false;
  }
  void leave() { under_way_.fetch_sub(1); }

 private:
  std::atomic<int> under_way_{0};
  std::atomic<std::uint32_t> generation_{0};
};
constinit Count in_process;

/// A thread takes over the signal mask of its maker: the user's handlers are not to run on this one.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct Resolver::Shared : std::enable_shared_from_this<Shared> {
  base::Mutex mutex;
  std::optional<asio::any_io_executor> executor;  // empty once the resolver has left
  Found found;                                    // who waits, if anybody does
  std::uint64_t question = 0;                     // whose
  int under_way = 0;

  /// Returns who has waited so far.
  Found wait(Found next) {
    const base::Guard guard(mutex);
    ++question;
    return std::exchange(found, std::move(next));
  }

  /// A look-up has ended. Who waits stays here until the loop takes it: dropped for want of memory under the mutex, it
  /// might end all that it keeps alive, this resolver as well.
  void tell(std::vector<Endpoint> endpoints, std::string problem) {
    const base::Guard guard(mutex);
    --under_way;
    if (!executor || !found || (!problem.empty() && under_way > 0)) return;
    asio::post(*executor,
               [self = shared_from_this(), of = question, endpoints = std::move(endpoints),
                problem = std::move(problem)]() mutable { self->answer(of, std::move(endpoints), problem); });
  }

  void answer(std::uint64_t its_question, std::vector<Endpoint> endpoints, const std::string& problem) {
    Found told;
    {
      const base::Guard guard(mutex);
      if (question != its_question) return;
      told.swap(found);
    }
    if (told) told(std::move(endpoints), problem);
  }
};

std::string to_string(const Endpoint& endpoint) {
  const auto copy_to = [&](auto other) {
    std::copy_n(reinterpret_cast<const char*>(endpoint.data()), endpoint.size(), reinterpret_cast<char*>(other.data()));
    other.resize(endpoint.size());  // behind the copy: of a path it takes away a zero at the end, if it sees one
    return other;
  };
  if (endpoint.protocol().family() == AF_UNIX) return copy_to(asio::local::stream_protocol::endpoint()).path();
  const auto tcp = copy_to(asio::ip::tcp::endpoint());
  const std::string address = tcp.address().to_string();
  return (tcp.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(tcp.port());
}

Resolver::Resolver(const asio::any_io_executor& executor) : shared_(std::make_shared<Shared>()) {
  shared_->executor = executor;
}

Resolver::~Resolver() { leave(); }

void Resolver::ask(Shared& shared, const std::string& host, const std::string& port) noexcept {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &list);
  try {
    std::string problem;
    if (error != 0) problem = error == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(error);
    std::vector<Endpoint> endpoints;
    for (const addrinfo* each = list; each != nullptr && endpoints.size() < kMostAddresses; each = each->ai_next) {
      endpoints.emplace_back(each->ai_addr, each->ai_addrlen);
    }
    if (problem.empty() && endpoints.empty()) problem = "it has no addresses";
    shared.tell(std::move(endpoints), std::move(problem));
  } catch (const std::exception&) {
    // Out of memory: the connection ends with its time limit.
  }
  if (list != nullptr) freeaddrinfo(list);
}

void Resolver::look_up(const std::string& host, std::uint16_t port, Found found) {
  const Found before = shared_->wait(std::move(found));  // goes without the mutex: it may keep much alive
  std::string problem;
  {
    const base::Guard guard(shared_->mutex);
    if (shared_->under_way >= kMost) return;
    problem = start(host, port);
    if (problem.empty()) ++shared_->under_way;
    if (shared_->under_way > 0) return;
    ++shared_->under_way;  // as if it had been, and had failed
  }
  shared_->tell({}, std::move(problem));
}

/// Returns why it cannot.
std::string Resolver::start(const std::string& host, std::uint16_t port) {
  if (!in_process.enter()) return "too many name look-ups are under way in this process";
  try {
    const SignalsBlocked blocked;
    std::thread([shared = shared_, host, port = std::to_string(port)] {
      ask(*shared, host, port);
      in_process.leave();
    }).detach();
    return {};
  } catch (const std::exception& error) {
    in_process.leave();
    return std::string("no thread for a name look-up: ") + error.what();
  }
}

void Resolver::forget() { shared_->wait({}); }

void Resolver::leave() {
  const Found before = shared_->wait({});
  const base::Guard guard(shared_->mutex);
  shared_->executor.reset();
}

}  // namespace holdfast::redis
