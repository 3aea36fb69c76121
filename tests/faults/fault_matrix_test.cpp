// The n-th call of a kind fails: the command must end with one line, and what it was doing must go on to the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "faults/faulty_run.h"

namespace throughtime {
namespace {

using testing::calls_of;
using testing::FaultyOutcome;
using testing::half_written_in;
using testing::learned_in;
using testing::run_faulty;
using testing::ScratchDirectory;
using testing::text_of;

namespace fs = std::filesystem;

/// Something the command does, how it is taken up again after a failure, and what must be there in the end.
struct Scenario {
  std::string name;
  std::vector<std::string> before;  // commands that prepare the directory
  std::string command;
  std::string again;        // where `run` is a run already; empty: the same command
  std::string run;          // the directory whose learning is compared
  std::string file;         // or the file that is there whole, or not at all
  bool names_gaps = false;  // it says what it cannot read, a line each, and goes on without
};

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {.name = "train",
       .command = "train --quiet tiny.toml",
       .again = "train --quiet --resume runs/tiny",
       .run = "runs/tiny"},
      {.name = "resume",
       .before = {"train --quiet tiny.toml --set train.iterations=7"},
       .command = "train --quiet --resume runs/tiny --set train.iterations=12",
       .run = "runs/tiny"},
      {.name = "stream",
       .command = "stream --quiet rows.toml --input rows.csv --set run.directory=runs/rows",
       .again = "stream --quiet --resume runs/rows --input rows.csv",
       .run = "runs/rows"},
      {.name = "import",
       .before = {"train --quiet tiny.toml --set run.name=source", "export runs/source -o weights"},
       .command = "import tiny.toml weights",
       .again = "inspect runs/tiny",
       .run = "runs/tiny"},
      {.name = "export",
       .before = {"train --quiet tiny.toml"},
       .command = "export runs/tiny -o weights",
       .file = "weights"},
      {.name = "report",
       .before = {"train --quiet tiny.toml"},
       .command = "report runs/tiny -o page.csv",
       .file = "page.csv",
       .names_gaps = true},
  };
  return all;
}

/// What a kind of call says when it fails.
struct Kind {
  const char* name;
  std::vector<int> errors;
  bool may_stay = true;  // all calls after the first one may fail too

  /// ERRNO and ERRNO+ for each of them.
  std::vector<std::string> ways() const {
    std::vector<std::string> all;
    for (const int error : errors)
      for (const char* stays : {"", "+"})
        if (may_stay || stays[0] == '\0') all.push_back(std::to_string(error) + stays);
    return all;
  }
};

const std::vector<Kind>& kinds() {
  // Without any memory nothing can be said about it: there, single calls fail.
  static const std::vector<Kind> all = {{"open", {EMFILE, EACCES}}, {"write", {ENOSPC, EIO}},  {"short", {0}},
                                        {"fsync", {EIO}},           {"rename", {EIO, ENOSPC}}, {"link", {EPERM, EIO}},
                                        {"mkdir", {ENOSPC}},        {"truncate", {EIO}},       {"mmap", {ENOMEM}},
                                        {"malloc", {ENOMEM}, false}};
  return all;
}

void write_inputs(const ScratchDirectory& directory) {
  directory.write("tiny.toml", testing::faulty_training);
  directory.write(
      "rows.toml",
      "[task]\nname = \"series\"\nseries.inputs = [\"y\"]\n[model]\nhidden = 4\n[learner]\nname = \"tbptt\"\n"
      "[learner.tbptt]\npreset = \"original\"\ntruncation = 3\n[stream]\nmetrics_every = 10\n[run]\nthreads = 1\n");
  std::string rows = "y\n";
  for (int t = 0; t < 40; ++t) rows += std::to_string(std::sin(0.4 * t)) + "\n";
  directory.write("rows.csv", rows);
}

/// Which calls fail: all of them in a full test, else some that are spread over the command's life.
std::vector<long> chosen(long calls, long most) {
  std::vector<long> numbers;
  const long count = std::min(calls, most);
  for (long i = 0; i < count; ++i) numbers.push_back(count == 1 ? 1 : 1 + i * (calls - 1) / (count - 1));
  return numbers;
}

class Faults : public ::testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {
 protected:
  const Scenario& scenario() const { return scenarios()[std::get<0>(GetParam())]; }
  const Kind& kind() const { return kinds()[std::get<1>(GetParam())]; }

  /// The directory as it is before the command, and after it where nothing fails.
  void prepare() {
    write_inputs(before_);
    for (const std::string& command : scenario().before) {
      const FaultyOutcome outcome = run_faulty(before_.path(), command);
      ASSERT_EQ(outcome.code, 0) << outcome.err;
    }
    fs::copy(before_.path(), whole_.path(), fs::copy_options::recursive);
    const std::string counts = (whole_ / "counts").string();
    const FaultyOutcome outcome = run_faulty(whole_.path(), scenario().command, "THROUGHTIME_FAULT_COUNTS=" + counts);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    calls_ = calls_of(counts)[kind().name];
    end_ = end_in(whole_.path());
  }

  std::string end_in(const fs::path& directory) const {
    return scenario().run.empty() ? text_of(directory / scenario().file) : learned_in(directory / scenario().run);
  }

  void expect_same_end(const std::string& fault) {
    const ScratchDirectory room;
    fs::copy(before_.path(), room.path(), fs::copy_options::recursive);
    const FaultyOutcome outcome = run_faulty(room.path(), scenario().command, "THROUGHTIME_FAULT=" + fault);
    ASSERT_FALSE(outcome.crashed()) << outcome.code << " " << outcome.err;
    const bool gaps = scenario().names_gaps && outcome.err.find("runs/tiny: ") != std::string::npos;
    ASSERT_TRUE(outcome.code == 0 || outcome.refused() || gaps) << outcome.code << " '" << outcome.err << "'";
    if (outcome.code != 0) {
      if (!scenario().file.empty() && fs::exists(room / scenario().file)) {
        EXPECT_TRUE(end_in(room.path()) == end_) << outcome.err;  // only its name is not safe yet
      }
      const bool begun = !scenario().again.empty() && fs::exists(room / (scenario().run + "/config.toml"));
      const FaultyOutcome again = run_faulty(room.path(), begun ? scenario().again : scenario().command);
      ASSERT_EQ(again.code, 0) << "after " << outcome.err << again.err;
    }
    if (!gaps) {
      EXPECT_TRUE(end_in(room.path()) == end_) << outcome.err;
    }
    const bool at_once = outcome.err.find("not even to end in good order") != std::string::npos;
    if (!at_once || !scenario().run.empty()) {
      EXPECT_EQ(half_written_in(room.path()), 0) << outcome.err;
    }
  }

  ScratchDirectory before_, whole_;
  long calls_ = 0;
  std::string end_;
};

TEST_P(Faults, EndWithALineAndGoOnToTheSameBits) {
  prepare();
  if (HasFatalFailure()) return;
  const bool full = std::getenv("THROUGHTIME_FULL") != nullptr;
  const std::vector<std::string> ways = kind().ways();
  const long most = full ? (ways.size() == 1 ? 300 : 1000) : 8;
  std::size_t turn = 0;
  for (const long number : chosen(calls_, most)) {
    // A short test takes one way after the other, a full one all of them.
    for (std::size_t way = 0; way < (full ? ways.size() : 1); ++way) {
      const std::string& how = ways[(turn + way) % ways.size()];
      const std::string fault = kind().name + (":" + std::to_string(number)) + ":" + how;
      SCOPED_TRACE(fault);
      expect_same_end(fault);
      if (HasFatalFailure()) return;
    }
    ++turn;
  }
}

INSTANTIATE_TEST_SUITE_P(Matrix, Faults,
                         ::testing::Combine(::testing::Range<std::size_t>(0, scenarios().size()),
                                            ::testing::Range<std::size_t>(0, kinds().size())),
                         [](const auto& info) {
                           return scenarios()[std::get<0>(info.param)].name + "_" +
                                  kinds()[std::get<1>(info.param)].name;
                         });

}  // namespace
}  // namespace throughtime
