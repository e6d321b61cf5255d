// SPDX-License-Identifier: Apache-2.0
// Random callers on a real server whose answers are lost and late, for as long as is wanted: see tests/README.md.
//   answers [--operations N] [--seed S] [--lost PERMILLE] [--kind KIND] [--control]
// With --control the server forgets everything meanwhile, and it succeeds if a disagreement is found.
#include <chrono>
#include <iostream>
#include <string>

#include "answers/real.hpp"

int main(int count, char** words) {
  using namespace holdfast::test;
  using namespace std::chrono_literals;
  answers::Orders orders{.operations = 1'000'000};
  Proxy::Weather weather{.lost = 100, .late = 20, .late_by = 20ms, .delay = 3ms};
  bool control = false;
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    if (option == "--control") {
      control = true;
      continue;
    }
    if (i + 1 == count) break;
    const std::string value = words[++i];
    if (option == "--operations") orders.operations = std::stoull(value);
    if (option == "--seed") orders.seed = weather.seed = std::stoull(value);
    if (option == "--lost") weather.lost = std::stoi(value);
    if (option == "--kind") {
      for (std::size_t kind = 0; kind < answers::kKinds; ++kind) {
        if (value == to_string(static_cast<answers::Kind>(kind))) orders.only = static_cast<answers::Kind>(kind);
      }
    }
  }
  const auto began = std::chrono::steady_clock::now();
  answers::RealGround ground(8, weather);
  answers::Driver driver(ground, orders);
  int seconds = 0;
  ground.run(driver, 60s, [&] {
    ++seconds;
    if (control && seconds % 3 == 0) ground.forget_all();
    if (seconds % 30 == 0) std::cout << driver.operations() << " operations" << std::endl;
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  for (const auto& [outcome, times] : driver.outcomes()) std::cout << outcome << ": " << times << "\n";
  std::cout << "seed " << orders.seed << ": " << driver.operations() << " operations in " << took.count() << " s, "
            << ground.lost() << " connections ended under them; ";
  for (std::size_t kind = 0; kind < answers::kKinds; ++kind) {
    std::cout << to_string(static_cast<answers::Kind>(kind)) << " "
              << driver.operations(static_cast<answers::Kind>(kind)) << (kind + 1 < answers::kKinds ? ", " : "\n");
  }
  std::cout << driver.disagreement().value_or("no disagreement") << std::endl;
  return driver.disagreement().has_value() == control ? 0 : 1;
}
