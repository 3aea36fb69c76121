#include "job_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>

#include "narrator.h"
#include "train/run/run_directory.h"

namespace throughtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int look_pause = 200;                 // milliseconds between two looks at the children
constexpr std::chrono::seconds line_pause{60};  // between two lines where there is no terminal

enum class News : int { progress, finished, broke, lost, stopped };

/// What a child tells of its run. Smaller than PIPE_BUF: one write is one message, whoever else writes.
struct Message {
  News news = News::progress;
  std::size_t job = 0;
  std::int64_t iteration = 0, iterations = 0;
  char text[400] = {};
};

void send(int pipe, const Message& message) {
  // A parent that is gone is not told; the child hears of that by a signal.
  [[maybe_unused]] const ssize_t written = write(pipe, &message, sizeof message);
}

/// Tells the parent how far a run is.
class Messenger final : public StopWatch {
 public:
  Messenger(int pipe, std::size_t job) : pipe_(pipe) { message_.job = job; }
  void on_start(const RunPlan& plan, std::int64_t iteration) override {
    message_.iteration = iteration;
    message_.iterations = plan.iterations;
    send(pipe_, message_);
  }
  void on_progress(const Progress& progress) override {
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(look_pause)) return;
    last_ = now;
    message_.iteration = progress.iteration;
    send(pipe_, message_);
  }

 private:
  int pipe_;
  Message message_;
  Clock::time_point last_;
};

/// A child's whole life.
[[noreturn]] void work(const RunConfig& config, std::size_t job, int pipe, pid_t parent, bool keep_checkpoints) {
  setpgid(0, 0);                     // Ctrl-C reaches the parent alone, which hands it on once
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // no child outlives it
  if (getppid() != parent) _exit(1);
  Message end{.news = News::finished, .job = job};
  try {
    Messenger messenger(pipe, job);
    const Outcome outcome = run_trial(config, messenger, true);
    end.news = outcome.interrupted ? News::stopped : outcome.failure.empty() ? News::finished : News::broke;
    std::strncpy(end.text, outcome.failure.c_str(), sizeof end.text - 1);
    if (end.news == News::finished && !keep_checkpoints) RunDirectory(outcome.run).checkpoints().clear();
  } catch (const std::exception& error) {
    end.news = News::lost;
    std::strncpy(end.text, error.what(), sizeof end.text - 1);
  }
  send(pipe, end);
  _exit(0);
}

/// Children, what they said, and the line that tells how far all of them are.
class Pool {
 public:
  Pool(const std::vector<RunConfig>& configs, const JobOptions& options)
      : configs_(configs),
        options_(options),
        shares_(configs.size()),
        outcomes_(configs.size()),
        style_(style_of(STDERR_FILENO)) {
    if (pipe(pipe_) != 0) fail("reproduce", "cannot make a pipe: {}", std::strerror(errno));
    for (std::size_t i = 0; i < configs.size(); ++i) {
      outcomes_[i].run = run_directory(configs[i]);
      const bool done = RunDirectory(outcomes_[i].run).is_finished();
      shares_[i] = done ? 1 : 0;
      if (!done) waiting_.push_back(i);
    }
    begin_ = done_share();
  }
  ~Pool() {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  Pool(const Pool&) = delete;

  std::vector<Outcome> run() {
    const InterruptWatch watch;
    if (!options_.quiet && waiting_.size() < configs_.size())
      fmt::print(stderr, "{}: {} of {} runs were finished before\n", options_.title, configs_.size() - waiting_.size(),
                 configs_.size());
    while (!children_.empty() || (!waiting_.empty() && InterruptWatch::signal() == 0)) {
      while (InterruptWatch::signal() == 0 && !waiting_.empty() && static_cast<int>(children_.size()) < options_.jobs)
        start_next();
      hand_on_signal();
      listen(look_pause);
      bury();
      show();
    }
    clear_line();
    if (InterruptWatch::signal() != 0)
      throw Interrupted(fmt::format("stopped {}; the same command goes on from there", options_.title),
                        InterruptWatch::signal());
    for (std::size_t i = 0; i < configs_.size(); ++i) {
      Observer silent;
      if (outcomes_[i].failure.empty()) outcomes_[i] = run_trial(configs_[i], silent, true);  // reads what is done
    }
    return outcomes_;
  }

 private:
  void start_next() {
    const std::size_t job = waiting_.front();
    waiting_.erase(waiting_.begin());
    std::fflush(nullptr);  // or the child would write it again
    const pid_t parent = getpid(), child = fork();
    if (child < 0) fail("reproduce", "cannot start a process: {}", std::strerror(errno));
    if (child == 0) work(configs_[job], job, pipe_[1], parent, options_.keep_checkpoints);
    children_[child] = job;
    lose(job, "ended without a word");  // until it says something
  }

  void hand_on_signal() {
    if (InterruptWatch::signal() == 0 || handed_on_) return;
    handed_on_ = true;
    for (const auto& [child, job] : children_) kill(child, SIGTERM);
  }

  void listen(int pause) {
    pollfd descriptor{.fd = pipe_[0], .events = POLLIN, .revents = 0};
    Message message;
    for (; poll(&descriptor, 1, pause) > 0 && read(pipe_[0], &message, sizeof message) == sizeof message; pause = 0)
      hear(message);
  }

  void hear(const Message& message) {
    if (message.news == News::progress) {
      const auto all = static_cast<double>(std::max<std::int64_t>(message.iterations, 1));
      shares_[message.job] = std::min(0.999, static_cast<double>(message.iteration) / all);
      return;
    }
    Outcome& outcome = outcomes_[message.job];
    outcome.failure = message.text;
    outcome.interrupted = message.news == News::stopped || message.news == News::lost;
    if (message.news != News::stopped)
      tell_end(message.job, outcome.failure.empty() ? "" : fmt::format(" failed: {}", outcome.failure));
  }

  void tell_end(std::size_t job, const std::string& how) {
    shares_[job] = 1;
    if (options_.quiet) return;
    clear_line();
    fmt::print(stderr, "{} of {}  {}{}\n", finished(), configs_.size(), configs_[job].run.name, how);
  }

  void lose(std::size_t job, const std::string& why) {
    outcomes_[job].failure = why;
    outcomes_[job].interrupted = true;
  }

  /// Takes leave of children that ended; what they said is in the pipe already.
  void bury() {
    for (auto child = children_.begin(); child != children_.end();) {
      int status = 0;
      if (waitpid(child->first, &status, WNOHANG) != child->first) {
        ++child;
        continue;
      }
      listen(0);
      if (WIFSIGNALED(status) && InterruptWatch::signal() == 0) {
        lose(child->second, fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))));
        tell_end(child->second, " " + outcomes_[child->second].failure);
      }
      child = children_.erase(child);
    }
  }

  double done_share() const {
    double sum = 0;
    for (const double share : shares_) sum += share;
    return sum / static_cast<double>(std::max<std::size_t>(shares_.size(), 1));
  }
  std::size_t finished() const { return static_cast<std::size_t>(std::count(shares_.begin(), shares_.end(), 1.0)); }

  void show() {
    const Clock::time_point now = Clock::now();
    if (options_.quiet || (!style_.terminal && now - shown_ < line_pause)) return;
    shown_ = now;
    const double share = done_share(), gained = share - begin_;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const std::string left = gained > 0 ? duration_text(seconds * (1 - share) / gained) : "--:--";
    const std::string text = fmt::format("{}  {:3.0f}%  {} of {} runs, {} at work  ETA {}", options_.title, 100 * share,
                                         finished(), configs_.size(), children_.size(), left);
    const auto width = static_cast<std::size_t>(std::max(1, style_of(STDERR_FILENO).width - 1));
    if (style_.terminal) fmt::print(stderr, "\r{}\x1b[K", cut_to(text, width));
    if (!style_.terminal) fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
    drawn_ = style_.terminal;
  }

  void clear_line() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
  }

  const std::vector<RunConfig>& configs_;
  const JobOptions& options_;
  std::vector<double> shares_;  // done of each run
  std::vector<Outcome> outcomes_;
  std::vector<std::size_t> waiting_;
  std::map<pid_t, std::size_t> children_;  // the job of each
  int pipe_[2] = {-1, -1};
  bool handed_on_ = false;
  double begin_ = 0;  // done before this command
  Style style_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  bool drawn_ = false;
};

}  // namespace

std::vector<Outcome> run_jobs(const std::vector<RunConfig>& configs, const JobOptions& options) {
  return Pool(configs, options).run();
}

}  // namespace throughtime
