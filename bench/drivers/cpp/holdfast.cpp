// The driver of Holdfast itself. Usage: holdfast lock|pipelined|simple|async|async-pipelined URL [lease_ms=30000]
// [clients=1]   Defaults throughout; `pipelined` switches the pipelined release on, `async` is the face for Boost.Asio.
#include <chrono>
#include <exception>
#include <iostream>
#include <optional>
#include <vector>

#include <holdfast/holdfast.hpp>

#include "coroutines.hpp"
#include "threads.hpp"

namespace {

template <class Kind>
class KindLocker final : public bench::Locker {
 public:
  explicit KindLocker(Kind lock) : lock_(std::move(lock)) {}
  void take() override { hold_ = lock_.acquire(); }
  bool take_until(bench::Clock::time_point end) override {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - bench::Clock::now());
    if (left.count() <= 0) return false;
    hold_ = lock_.try_acquire({.wait = left});
    return hold_.has_value();
  }
  void release() override { hold_.reset(); }

 private:
  Kind lock_;
  std::optional<holdfast::Hold> hold_;
};

class Holdfast final : public bench::Contestant {
 public:
  Holdfast(const holdfast::Config& config, bool simple, int clients) : simple_(simple) {
    for (int i = 0; i < clients; ++i) clients_.emplace_back(config);
  }
  std::unique_ptr<bench::Locker> locker(int caller, const std::string& key) override {
    holdfast::Client& client = clients_[static_cast<std::size_t>(caller) % clients_.size()];
    if (simple_) return std::make_unique<KindLocker<holdfast::SimpleLock>>(client.simple_lock(key));
    return std::make_unique<KindLocker<holdfast::Lock>>(client.lock(key));
  }

  void reserve(std::size_t count) override {
    held_.clear();
    held_.resize(count);
  }
  void hold(int caller, std::size_t place, const std::string& key) override {
    holdfast::Client& client = clients_[static_cast<std::size_t>(caller) % clients_.size()];
    held_[place] = simple_ ? client.simple_lock(key).acquire() : client.lock(key).acquire();
  }

 private:
  const bool simple_;
  std::vector<holdfast::Client> clients_;
  std::vector<holdfast::Hold> held_;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) throw std::invalid_argument("usage: holdfast KIND URL [lease_ms=..] [clients=..]");
  const std::string kind = argv[1];
  std::string words = "start";
  for (int i = 3; i < argc; ++i) words += std::string(" ") + argv[i];
  const bench::Arguments settings(words);
  holdfast::Config config = holdfast::Config::from_url(argv[2]);
  config.lease = std::chrono::milliseconds(settings.number("lease_ms", 30000));
  config.pipelined_release = kind.ends_with("pipelined");
  const int clients = static_cast<int>(settings.number("clients", 1));
  if (kind.starts_with("async")) bench::serve(*bench::as_coroutines(config, clients));
  Holdfast contestant(config, kind == "simple", clients);
  bench::serve(*bench::on_threads(contestant));
} catch (const std::exception& error) {
  std::cerr << "driver: " << error.what() << '\n';
  return 1;
}
