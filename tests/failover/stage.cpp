// SPDX-License-Identifier: Apache-2.0
#include "failover/stage.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "support/taker_rounds.hpp"

namespace holdfast::test {

Taker& Stage::add(const std::string& client, std::unique_ptr<Taker> taker, std::vector<std::string> settings) {
  settings.push_back("events=" + file(client + ".events.record"));
  taker->connect(url_, settings);
  return *(takers_[client] = std::move(taker));
}

Stage::Running Stage::start(const std::string& client, int thread, const std::string& name, const std::string& file,
                            Milliseconds rounds, Milliseconds pause) {
  const std::string number = std::to_string(thread);
  return {client, takers_.at(client)->start({"hold_for", number, name, this->file(file), std::to_string(rounds.count()),
                                             this->file(client + "." + number + ".record"),
                                             std::to_string(pause.count()), std::to_string(kWait.count())})};
}

void Stage::begin(const std::string& client, int thread, const std::string& name, const std::string& file,
                  Milliseconds pause) {
  rounds_.push_back(start(client, thread, name, file, std::chrono::hours(10), pause));
}

void Stage::keep(const std::string& client, int thread, const std::string& name) {
  kept_.push_back(start(client, thread, name, client + ".kept", Milliseconds(50), std::chrono::hours(10)));
}

bool Stage::all_kept_ended(Milliseconds limit) {
  const bool all = eventually(
      [&] { return std::ranges::all_of(kept_, [](const Running& each) { return each.pending.answered(); }); }, limit);
  end(kept_);
  return all;
}

long long Stage::number(const std::string& file) const { return NumberFile(this->file(file)).read(); }

bool Stage::grows(const std::string& file, long long by, Milliseconds limit) const {
  const long long from = number(file);
  return eventually([&] { return number(file) >= from + by; }, limit);
}

std::uint64_t Stage::counter(const std::string& name, const std::string& clients) const {
  std::uint64_t sum = 0;
  for (const auto& [client, taker] : takers_) {
    if (client.starts_with(clients)) sum += taker->counter(name);
  }
  return sum;
}

void Stage::end(std::vector<Running>& running) {
  for (const Running& each : running) takers_.at(each.client)->start({"cancel", each.pending.tag()});
  for (const Running& each : running) {
    const Answer answer = each.pending.get(kWait + std::chrono::seconds(60));
    if (!answer.ok) throw std::runtime_error(each.client + ": " + answer.error + ": " + answer.text);
  }
  running.clear();
}

History Stage::finish() {
  end(kept_);
  end(rounds_);
  for (const auto& [client, taker] : takers_) {
    if (const ExitStatus status = taker->finish(); status != ExitStatus{}) {
      throw std::runtime_error(client + " ended badly: " + taker->errors());
    }
  }
  return History::read(folder_.path().string());
}

}  // namespace holdfast::test
