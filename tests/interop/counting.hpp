// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion, counted: updates of an unprotected file that would be lost if two parties were ever inside at once.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "interop.hpp"

namespace holdfast::test {

class Counting : public Interop {
 protected:
  /// A thread of a taker, and the lock that it counts under.
  struct Worker {
    Side side;
    Party party;
    std::string name;
  };
  /// How often each side has counted the file up.
  struct Counts {
    long long of_peer = 0, of_holdfast = 0;
    long long sum() const { return of_peer + of_holdfast; }
  };

  /// Two processes of each side, with so many threads each, all under one name.
  std::vector<Worker> two_processes_each(int threads, const std::string& name) {
    std::vector<Worker> workers;
    const Side sides[] = {Side::peer, Side::peer, Side::holdfast, Side::holdfast};
    std::size_t i = 0;
    for (Taker* taker : start({sides[0], sides[1], sides[2], sides[3]})) {
      for (int thread = 1; thread <= threads; ++thread) {
        workers.push_back({sides[i], Party(*taker, thread), name});
        workers.back().party.lock("warm");
        workers.back().party.unlock("warm");
      }
      ++i;
    }
    return workers;
  }

  /// All of them at the same time, for so long.
  Counts count_up(std::vector<Worker>& workers, milliseconds time) {
    std::vector<Pending> work;
    for (Worker& worker : workers) {
      work.push_back(worker.party.start("increment_for", worker.name, {file_, std::to_string(time.count()), "1"}));
    }
    Counts counts;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      // A peer may miss a message, and wait until a lease ends.
      EXPECT_TRUE(workers[i].side == Side::peer || work[i].answered(time + kPrompt));
      const Answer answer = work[i].get();
      EXPECT_TRUE(answer.ok) << answer.text;
      (workers[i].side == Side::peer ? counts.of_peer : counts.of_holdfast) += answer.ok ? std::stoll(answer.value) : 0;
    }
    return counts;
  }

  /// Expects that no update gets lost and that both sides get in. Their shares are those of the first two seconds; a
  /// side that was not inside in these has 24 more.
  void expect_exclusion_and_progress(std::vector<Worker> workers) {
    Counts all = count_up(workers, 2s);
    figure_shares(all.of_peer, all.of_holdfast);
    for (int i = 0; i < 12 && (all.of_peer == 0 || all.of_holdfast == 0); ++i) {
      const Counts more = count_up(workers, 2s);
      all = {all.of_peer + more.of_peer, all.of_holdfast + more.of_holdfast};
    }
    EXPECT_EQ(counted(), all.sum());
    EXPECT_GT(all.of_peer, 0);
    EXPECT_GT(all.of_holdfast, 0);
  }

  /// The file that is counted up.
  const std::string& file() const { return file_; }
  /// What it says.
  long long counted() const {
    long long number = 0;
    std::ifstream(file_) >> number;
    return number;
  }

 private:
  TempDir folder_;
  std::string file_ = folder_.file("counter");
};

}  // namespace holdfast::test
