// SPDX-License-Identifier: Apache-2.0
#include "hot_standby/service.hpp"

#include <condition_variable>
#include <exception>
#include <iostream>
#include <mutex>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include <holdfast/holdfast.hpp>

namespace hot_standby {
namespace {

using namespace std::chrono_literals;

/// What only one instance may do. Whatever it changes elsewhere carries the token: a store that has seen a larger one
/// refuses it.
void work(const holdfast::Term& term) {
  std::cout << "active " << term.token() << std::endl;
  std::mutex mutex;
  std::condition_variable_any told;
  std::unique_lock guard(mutex);
  while (term.leads()) {
    // ... a step that takes less than term.valid_for() ...
    told.wait_for(guard, term.stop_token(), 20ms, [] { return false; });  // ends at once when it is told to
  }
  std::cout << "idle" << std::endl;
}

/// From now on a thread waits for these signals; nobody is interrupted by them.
sigset_t hold_back_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

}  // namespace

void serve(const std::string& url) {
  const sigset_t ending = hold_back_signals();  // before the client starts its threads
  holdfast::Client client(url);
  holdfast::Leader leader(client.fenced_lock("example:service", {.lease = holdfast::renewed(kLease)}));
  std::exception_ptr failure;
  std::jthread campaign([&](const std::stop_token& stop) {
    try {
      leader.campaign(work, {.stop = stop, .on_trouble = [](const holdfast::Error& error) {
                               std::cerr << error.what() << ", trying again\n";
                             }});
    } catch (...) {
      failure = std::current_exception();
      kill(getpid(), SIGTERM);
    }
  });
  int signal = 0;
  sigwait(&ending, &signal);
  campaign.request_stop();  // an active instance ends its work, and only then gives the lead away, at once
  campaign.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hot_standby
