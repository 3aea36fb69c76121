#include "study/workers.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <thread>

#include "throughtime/error.h"

namespace throughtime {
namespace {

class Processes final : public Workers {
 public:
  void start(std::size_t job, std::function<void()> life) override {
    std::fflush(nullptr);  // or the child would write it again
    const pid_t parent = getpid(), child = fork();
    if (child < 0) fail("jobs", "cannot start a process: {}", std::strerror(errno));
    if (child == 0) be_child(parent, life);
    children_[child] = job;
  }

  void stop() override {
    for (const auto& [child, job] : children_) kill(child, SIGTERM);
  }

  std::vector<Ended> bury() override {
    std::vector<Ended> ended;
    for (auto child = children_.begin(); child != children_.end();) {
      int status = 0;
      if (waitpid(child->first, &status, WNOHANG) != child->first) {
        ++child;
        continue;
      }
      ended.push_back({child->second, ""});
      if (WIFSIGNALED(status))
        ended.back().how = fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
      child = children_.erase(child);
    }
    return ended;
  }

  std::size_t count() const override { return children_.size(); }

 private:
  [[noreturn]] static void be_child(pid_t parent, const std::function<void()>& life) {
    setpgid(0, 0);                     // Ctrl-C reaches the parent alone, which hands it on once
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // no child outlives it
    if (getppid() != parent) _exit(1);
    life();
    _exit(0);
  }

  std::map<pid_t, std::size_t> children_;  // the job of each
};

class Threads final : public Workers {
 public:
  void start(std::size_t job, std::function<void()> life) override {
    auto worker = std::make_unique<Worker>();
    worker->job = job;
    worker->thread = std::jthread([&done = worker->done, life = std::move(life)] {
      life();
      done = true;
    });
    workers_.push_back(std::move(worker));
  }

  void stop() override {}

  std::vector<Ended> bury() override {
    std::vector<Ended> ended;
    std::erase_if(workers_, [&](const std::unique_ptr<Worker>& worker) {
      if (!worker->done) return false;
      ended.push_back({worker->job, ""});
      return true;
    });
    return ended;
  }

  std::size_t count() const override { return workers_.size(); }

 private:
  struct Worker {
    std::size_t job = 0;
    std::atomic<bool> done = false;
    std::jthread thread;  // last: joined before the flag goes
  };
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace

std::unique_ptr<Workers> make_processes() { return std::make_unique<Processes>(); }
std::unique_ptr<Workers> make_threads() { return std::make_unique<Threads>(); }

}  // namespace throughtime
