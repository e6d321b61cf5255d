// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>

int main() {
  holdfast::TestKit kit;
  const holdfast::Client client{kit.config()};
  const holdfast::Hold hold = client.lock("report").acquire();
  if (hold.is_lost()) return 1;

  kit.take_elsewhere("report");  // somebody else has it now
  while (!hold.is_lost()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return hold.loss_reason() == holdfast::LossReason::taken ? 0 : 1;
}
