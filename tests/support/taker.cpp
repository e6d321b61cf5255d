// SPDX-License-Identifier: Apache-2.0
// The driver's side of a taker: tags, answers, and the two places where a taker can run.
#include "support/taker.hpp"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "support/paths.hpp"
#include "support/raw.hpp"
#include "support/taker_session.hpp"
#include "support/taker_text.hpp"

namespace holdfast::test {
namespace {

std::string value_of(const Answer& answer, const std::vector<std::string>& command) {
  if (!answer.ok) throw std::runtime_error(join_fields(command) + ": " + answer.error + ": " + answer.text);
  return answer.value;
}

}  // namespace

struct Pending::Inbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Answer> answers;
  bool closed = false;  // no more answers will come
  std::atomic<long long> tags{0};

  void deliver(const std::string& line) {
    const std::vector<std::string> fields = split_fields(line);
    if (fields.size() < 4) return;
    const auto time = [](const std::string& text) { return Answer::Time(std::chrono::microseconds(std::stoll(text))); };
    const auto field = [&](std::size_t i) { return i < fields.size() ? fields[i] : std::string(); };
    Answer answer;
    answer.began = time(fields[1]);
    answer.ended = time(fields[2]);
    answer.ok = fields[3] == "ok";
    (answer.ok ? answer.value : answer.error) = field(4);
    answer.text = answer.ok ? "" : field(5);
    const std::lock_guard guard(mutex);
    answers[fields[0]] = std::move(answer);
    changed.notify_all();
  }
  void close() {
    const std::lock_guard guard(mutex);
    closed = true;
    changed.notify_all();
  }
};

bool Pending::answered(std::chrono::milliseconds limit) const {
  std::unique_lock guard(inbox_->mutex);
  inbox_->changed.wait_for(guard, limit, [this] { return inbox_->closed || inbox_->answers.contains(tag_); });
  return inbox_->answers.contains(tag_);
}

Answer Pending::get(std::chrono::milliseconds limit) const {
  std::unique_lock guard(inbox_->mutex);
  inbox_->changed.wait_for(guard, limit, [this] { return inbox_->closed || inbox_->answers.contains(tag_); });
  const auto found = inbox_->answers.find(tag_);
  if (found != inbox_->answers.end()) return found->second;
  throw std::runtime_error("taker: " + std::string(inbox_->closed ? "it ended before" : "no") +
                           " answer to: " + command_);
}

/// Where command lines go to.
class Taker::Session {
 public:
  virtual ~Session() = default;
  virtual void submit(const std::string& line) = 0;
  virtual ExitStatus finish() { return {}; }
  virtual std::string errors() { return {}; }
  virtual Process& process() { throw std::logic_error("this taker has no process of its own"); }
};

class Taker::Local : public Session {
 public:
  explicit Local(std::shared_ptr<Pending::Inbox> inbox)
      : session_([inbox = std::move(inbox)](const std::string& line) { inbox->deliver(line); }) {}
  void submit(const std::string& line) override { session_.submit(line); }

 private:
  TakerSession session_;
};

class Taker::Remote : public Session {
 public:
  Remote(std::shared_ptr<Pending::Inbox> inbox, std::string program, std::vector<std::string> args)
      : process_(std::move(program), std::move(args)), reader_([this, inbox = std::move(inbox)] { read(*inbox); }) {}
  ~Remote() override {
    finish();
    reader_.join();
  }
  ExitStatus finish() override {
    process_.signal(SIGCONT);
    process_.write_line("0 exit");
    process_.close_stdin();
    if (!process_.wait()) process_.signal(SIGKILL);
    return process_.wait().value_or(ExitStatus{.signal = SIGKILL});
  }
  void submit(const std::string& line) override { process_.write_line(line); }
  std::string errors() override { return process_.errors(); }
  Process& process() override { return process_; }

 private:
  void read(Pending::Inbox& inbox) {
    while (true) {
      const bool runs = process_.running();
      const auto line = process_.read_line(std::chrono::seconds(1));
      if (line) {
        inbox.deliver(*line);
      } else if (!runs) {
        return inbox.close();
      }
    }
  }

  Process process_;
  std::thread reader_;
};

std::string next_taker_program() {
  static std::atomic<unsigned> turn{0};
  const char* const yesterday = std::getenv("HOLDFAST_YESTERDAY");
  if (yesterday != nullptr && turn++ % 2 == 1) return yesterday;
  return build_path("tests/support/holdfast_taker");
}

Taker::Taker(Place place) : inbox_(std::make_shared<Pending::Inbox>()) {
  if (place == Place::this_process) {
    session_ = std::make_unique<Local>(inbox_);
  } else {
    session_ = std::make_unique<Remote>(inbox_, next_taker_program(), std::vector<std::string>{});
  }
}

Taker::Taker(std::string program, std::vector<std::string> args)
    : inbox_(std::make_shared<Pending::Inbox>()),
      session_(std::make_unique<Remote>(inbox_, std::move(program), std::move(args))) {}

Taker::~Taker() = default;

Pending Taker::start(const std::vector<std::string>& command) {
  std::string tag = std::to_string(++inbox_->tags);
  const std::string text = join_fields(command);
  session_->submit(tag + ' ' + text);
  return Pending(inbox_, std::move(tag), text);
}

std::string Taker::ask(const std::vector<std::string>& command) { return value_of(start(command).get(), command); }

std::string Taker::connect(const std::string& url, const std::vector<std::string>& settings) {
  std::vector<std::string> command{"connect", url};
  command.insert(command.end(), settings.begin(), settings.end());
  // The process starts first, and that of a peer may need very long on a busy machine.
  return value_of(start(command).get(kBusyMachine), command);
}

std::uint64_t Taker::counter(const std::string& name) {
  for (const std::string& field : split_fields(ask({"counters"}))) {
    if (field.starts_with(name + "=")) return std::stoull(field.substr(name.size() + 1));
  }
  throw std::invalid_argument("no such counter: " + name);
}

ExitStatus Taker::finish() { return session_->finish(); }
std::string Taker::errors() const { return session_->errors(); }
void Taker::signal(int number) { session_->process().signal(number); }
pid_t Taker::pid() const { return session_->process().pid(); }

Pending Party::start(std::string verb, const std::string& name, std::initializer_list<std::string> more) {
  std::vector<std::string> command{std::move(verb), thread_, name};
  command.insert(command.end(), more);
  return taker_->start(command);
}

std::string Party::ask(std::string verb, const std::string& name) {
  return taker_->ask({std::move(verb), thread_, name});
}

Pending Party::start_lock(const std::string& name, Milliseconds lease) {
  return start("lock", name, {std::to_string(lease.count())});
}

Pending Party::start_try(const std::string& name, Milliseconds wait, Milliseconds lease) {
  return start("try", name, {std::to_string(wait.count()), std::to_string(lease.count())});
}

Pending Party::start_unlock(const std::string& name) { return start("unlock", name); }

Answer Party::lock(const std::string& name, Milliseconds lease) {
  const Answer answer = start_lock(name, lease).get();
  if (!answer.ok) throw std::runtime_error("lock: " + answer.error + ": " + answer.text);
  return answer;
}

bool Party::try_lock(const std::string& name, Milliseconds wait, Milliseconds lease) {
  const Answer answer = start_try(name, wait, lease).get(wait + kPatience);
  if (!answer.ok) throw std::runtime_error("try: " + answer.error + ": " + answer.text);
  return answer.value == "yes";
}

std::string Party::unlock(const std::string& name) { return start_unlock(name).get().word(); }
bool Party::cancel(const Pending& pending) { return taker_->ask({"cancel", pending.tag()}) == "yes"; }

bool Party::is_mine(const std::string& name) { return ask("mine", name) == "yes"; }
int Party::count(const std::string& name) { return std::stoi(ask("count", name)); }
bool Party::lost(const std::string& name) { return ask("lost", name) == "yes"; }
Party::Milliseconds Party::valid_for(const std::string& name) { return Milliseconds(std::stoll(ask("valid", name))); }

bool Party::is_locked(const std::string& name) { return taker_->ask({"locked", name}) == "yes"; }
bool Party::force_release(const std::string& name) { return taker_->ask({"force", name}) == "yes"; }

std::optional<Party::Milliseconds> Party::remaining(const std::string& name) {
  const std::string value = taker_->ask({"ttl", name});
  if (value == "none") return std::nullopt;
  return Milliseconds(std::stoll(value));
}

}  // namespace holdfast::test
