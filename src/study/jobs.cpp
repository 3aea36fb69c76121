#include "study/jobs.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "study/trials.h"
#include "study/workers.h"
#include "throughtime/error.h"
#include "train/files/run_directory.h"

namespace throughtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int look_pause = 200;  // milliseconds between two looks at the children

enum class News : int { progress, finished, broke, lost, stopped, device_failed };

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

/// Whether the runs of a set must end.
class Stop {
 public:
  explicit Stop(JobObserver& observer) : observer_(observer) {}
  bool wanted() { return device_failed_ || observer_.wants_stop(); }
  /// Runs that share a device, as threads, cannot go on without it.
  void fail_device() { device_failed_ = true; }

 private:
  JobObserver& observer_;
  std::atomic<bool> device_failed_ = false;
};

/// Tells the parent how far a run is.
class Messenger final : public Observer {
 public:
  Messenger(int pipe, std::size_t job, Stop& stop) : pipe_(pipe), stop_(stop) { message_.job = job; }
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
  bool wants_stop() override { return stop_.wanted(); }

 private:
  int pipe_;
  Stop& stop_;
  Message message_;
  Clock::time_point last_;
};

/// A worker's whole life.
void work(const RunConfig& config, std::size_t job, int pipe, const JobOptions& options, Stop& stop) {
  Message end{.news = News::finished, .job = job};
  try {
    Messenger messenger(pipe, job, stop);
    const Outcome outcome = run_trial(config, messenger, true);
    end.news = outcome.interrupted ? News::stopped : outcome.failure.empty() ? News::finished : News::broke;
    std::strncpy(end.text, outcome.failure.c_str(), sizeof end.text - 1);
    if (end.news == News::finished && options.further.left(config) &&
        !options.further.work(config, [&] { return stop.wanted(); }))
      end.news = News::stopped;
    if (end.news == News::finished && !options.keep_checkpoints) RunDirectory(outcome.run).checkpoints().clear();
  } catch (const DeviceFailure& error) {
    stop.fail_device();
    end.news = News::device_failed;
    std::strncpy(end.text, error.what(), sizeof end.text - 1);
  } catch (const std::exception& error) {
    end.news = News::lost;
    std::strncpy(end.text, error.what(), sizeof end.text - 1);
  }
  send(pipe, end);
}

/// Runs on a device share it as threads; all others are apart from one another.
std::unique_ptr<Workers> make_workers(const std::vector<RunConfig>& configs) {
  const auto on_device = [](const RunConfig& config) { return may_use_device(config.run.engine); };
  return std::any_of(configs.begin(), configs.end(), on_device) ? make_threads() : make_processes();
}

/// Workers, and what they said.
class Pool {
 public:
  Pool(const std::vector<RunConfig>& configs, const JobOptions& options, JobObserver& observer)
      : configs_(configs),
        options_(options),
        observer_(observer),
        stop_(observer),
        shares_(configs.size()),
        ends_(configs.size()),
        workers_(make_workers(configs)) {
    if (pipe(pipe_) != 0) fail("jobs", "cannot make a pipe: {}", std::strerror(errno));
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const bool done = RunDirectory(run_directory(configs[i])).is_finished() && !options.further.left(configs[i]);
      shares_[i] = done ? 1 : 0;
      if (!done) waiting_.push_back(i);
    }
  }
  ~Pool() {
    close(pipe_[0]);
    close(pipe_[1]);
  }
  Pool(const Pool&) = delete;

  std::vector<JobEnd> run() {
    for (std::size_t i = 0; i < configs_.size(); ++i)
      if (shares_[i] == 1) require_same_run(configs_[i]);
    observer_.on_start(progress());
    while (workers_->count() > 0 || (!waiting_.empty() && !stop_.wanted())) {
      while (!stop_.wanted() && !waiting_.empty() && static_cast<int>(workers_->count()) < options_.jobs) start_next();
      hand_on_stop();
      listen(look_pause);
      bury();
      observer_.on_progress(progress());
    }
    for (const std::size_t job : waiting_) lose(job, "never begun");
    if (!device_failure_.empty())
      throw DeviceFailure(device_failure_ +
                          "; every run stopped at its last checkpoint, and the same command goes on from there");
    return ends_;
  }

 private:
  void start_next() {
    const std::size_t job = waiting_.front();
    waiting_.erase(waiting_.begin());
    workers_->start(job, [this, job] { work(configs_[job], job, pipe_[1], options_, stop_); });
    lose(job, "ended without a word");  // until it says something
  }

  void hand_on_stop() {
    if (handed_on_ || !stop_.wanted()) return;
    handed_on_ = true;
    workers_->stop();
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
    if (message.news == News::device_failed && device_failure_.empty()) device_failure_ = message.text;
    ends_[message.job] = {.failure = message.text,
                          .interrupted = message.news == News::stopped || message.news == News::lost ||
                                         message.news == News::device_failed};
    const std::string& failure = ends_[message.job].failure;
    if (message.news != News::stopped && message.news != News::device_failed)
      tell_end(message.job, failure.empty() ? "" : fmt::format("failed: {}", failure));
  }

  void tell_end(std::size_t job, const std::string& how) {
    shares_[job] = 1;
    observer_.on_end(progress(), job, how);
  }

  void lose(std::size_t job, const std::string& why) { ends_[job] = {.failure = why, .interrupted = true}; }

  /// Takes leave of workers that ended; what they said is in the pipe already.
  void bury() {
    for (const Workers::Ended& ended : workers_->bury()) {
      listen(0);
      if (ended.how.empty() || stop_.wanted()) continue;
      lose(ended.job, ended.how);
      tell_end(ended.job, ended.how);
    }
  }

  JobsProgress progress() const {
    double sum = 0;
    for (const double share : shares_) sum += share;
    return {.runs = configs_.size(),
            .finished = static_cast<std::size_t>(std::count(shares_.begin(), shares_.end(), 1.0)),
            .working = workers_->count(),
            .share = sum / static_cast<double>(std::max<std::size_t>(shares_.size(), 1))};
  }

  const std::vector<RunConfig>& configs_;
  const JobOptions& options_;
  JobObserver& observer_;
  Stop stop_;
  std::string device_failure_;  // what the first run said that met it
  std::vector<double> shares_;  // done of each run
  std::vector<JobEnd> ends_;
  std::vector<std::size_t> waiting_;
  int pipe_[2] = {-1, -1};
  bool handed_on_ = false;
  std::unique_ptr<Workers> workers_;  // last: gone before what they use
};

}  // namespace

std::vector<JobEnd> run_jobs(const std::vector<RunConfig>& configs, const JobOptions& options, JobObserver& observer) {
  return Pool(configs, options, observer).run();
}

}  // namespace throughtime
