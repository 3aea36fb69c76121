#include "job_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "interrupt.h"
#include "terminal.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds line_pause{60};  // between two lines where there is no terminal

/// Tells how far all runs are, and of each that ended.
class JobLine final : public JobObserver {
 public:
  JobLine(const std::vector<RunConfig>& configs, std::string title, bool quiet)
      : configs_(configs), title_(std::move(title)), quiet_(quiet), style_(style_of(STDERR_FILENO)) {}

  void on_start(const JobsProgress& progress) override {
    begin_ = progress.share;
    if (!quiet_ && progress.finished > 0)
      tell(fmt::format("{}: {} of {} runs were finished before\n", title_, progress.finished, progress.runs));
  }

  void on_end(const JobsProgress& progress, std::size_t job, const std::string& how) override {
    if (quiet_) return;
    clear();
    tell(fmt::format("{} of {}  {}{}{}\n", progress.finished, progress.runs, configs_[job].run.name,
                     how.empty() ? "" : " ", how));
  }

  void on_progress(const JobsProgress& progress) override {
    const Clock::time_point now = Clock::now();
    if (quiet_ || (!style_.terminal && now - shown_ < line_pause)) return;
    shown_ = now;
    const double gained = progress.share - begin_;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const std::string left = gained > 0 ? duration_text(seconds * (1 - progress.share) / gained) : "--:--";
    const std::string text =
        fmt::format("{}  {:3.0f}%  {} of {} runs, {} at work  ETA {}", title_, 100 * progress.share, progress.finished,
                    progress.runs, progress.working, left);
    const auto width = elements(std::max(1, style_of(STDERR_FILENO).width - 1));
    tell(style_.terminal ? fmt::format("\r{}\x1b[K", cut_to(text, width)) : text + "\n");
    std::fflush(stderr);
    drawn_ = style_.terminal;
  }

  bool wants_stop() override { return InterruptWatch::signal() != 0; }

  void clear() {
    if (drawn_) tell("\r\x1b[K");
    drawn_ = false;
  }

 private:
  const std::vector<RunConfig>& configs_;
  std::string title_;
  bool quiet_;
  double begin_ = 0;  // done before this command
  Style style_;
  Clock::time_point start_ = Clock::now(), shown_ = start_;
  bool drawn_ = false;
  InterruptWatch watch_;
};

}  // namespace

std::vector<JobEnd> run_shown_jobs(const std::vector<RunConfig>& configs, const JobOptions& options,
                                   const std::string& title, bool quiet) {
  JobLine line(configs, title, quiet);
  std::vector<JobEnd> ends = run_jobs(configs, options, line);
  line.clear();
  if (line.wants_stop())
    throw Interrupted(fmt::format("stopped {}; the same command goes on from there", title), InterruptWatch::signal());
  return ends;
}

}  // namespace throughtime
