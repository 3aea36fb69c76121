// The power goes at any call: whatever the disk has kept of what was not synced, the run goes on to the same bits.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <random>
#include <set>

#include "faults/faulty_run.h"
#include "faults/simulated_disk.h"

namespace throughtime {
namespace {

using testing::FaultyOutcome;
using testing::FileCall;
using testing::learned_in;
using testing::read_trace;
using testing::run_faulty;
using testing::ScratchDirectory;
using testing::SimulatedDisk;
using testing::text_of;
using testing::write_text;

const char* const text_training =
    "[task]\nname = \"text\"\n[task.text]\ncorpus = \"files\"\nfiles = [\"words.txt\"]\nunit = \"word\"\nlength = "
    "4\n[model]\nhidden = 4\n"
    "[train]\niterations = 8\nbatch = 2\nevaluate_every = 4\nevaluate_batches = 1\n[run]\nthreads = "
    "1\ncheckpoint_every = 3\n";

std::uint64_t inode_of(const std::filesystem::path& path) {
  struct stat status {};
  stat(path.c_str(), &status);
  return status.st_ino;
}

class PowerCut : public ::testing::Test {
 protected:
  void write_inputs(const ScratchDirectory& room) const {
    room.write("tiny.toml", training_);
    std::string words;
    for (int i = 0; i < 400; ++i) words += "w" + std::to_string(i * i % 11) + (i % 10 == 9 ? "\n" : " ");
    room.write("words.txt", words);
  }

  /// Calls of a whole run, and what it learned.
  void record(const std::string& training) {
    training_ = training;
    write_inputs(whole_);
    const std::string trace = (traces_ / "trace").string();
    const FaultyOutcome outcome =
        run_faulty(whole_.path(), "train --quiet tiny.toml", "THROUGHTIME_FAULT_TRACE=" + trace);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    calls_ = read_trace(trace);
    end_ = learned_in(whole_ / "runs/tiny");
    ASSERT_GT(calls_.size(), 50u);
  }

  /// Cuts the power after `done` calls, and goes on in `room`.
  FaultyOutcome go_on_after(std::size_t done, std::uint32_t seed, const ScratchDirectory& room) const {
    std::mt19937 random(seed);
    SimulatedDisk disk(inode_of(whole_.path()));
    for (std::size_t i = 0; i < done; ++i) disk.apply(calls_[i]);
    disk.leave(room.path(), random);
    write_inputs(room);
    const bool begun = std::filesystem::exists(room / "runs/tiny/config.toml");
    return run_faulty(room.path(), begun ? "train --quiet --resume runs/tiny" : "train --quiet tiny.toml");
  }

  void cut_after(std::size_t done, std::uint32_t seed) const {
    const ScratchDirectory room;
    const FaultyOutcome again = go_on_after(done, seed, room);
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_TRUE(learned_in(room / "runs/tiny") == end_);
    EXPECT_EQ(testing::half_written_in(room.path()), 0);
  }

  void cut_everywhere(const std::string& training, std::size_t most) {
    record(training);
    if (HasFatalFailure()) return;
    const bool full = std::getenv("THROUGHTIME_FULL") != nullptr;
    const std::size_t cuts = full ? calls_.size() + 1 : std::min(calls_.size() + 1, most);
    for (std::size_t i = 0; i < cuts; ++i)
      for (std::uint32_t seed = 0; seed < (full ? 3u : 1u); ++seed) {
        const std::size_t done = i * calls_.size() / (cuts - 1);
        SCOPED_TRACE("after " + std::to_string(done) + " of " + std::to_string(calls_.size()) + " calls, seed " +
                     std::to_string(seed));
        cut_after(done, static_cast<std::uint32_t>(done) * 7 + seed);
        if (HasFailure()) return;
      }
  }

  ScratchDirectory whole_, traces_;
  std::string training_, end_;
  std::vector<FileCall> calls_;
};

TEST_F(PowerCut, LosesNothingThatWasSaved) { cut_everywhere(testing::faulty_training, 60); }

TEST_F(PowerCut, LosesNoVocabulary) { cut_everywhere(text_training, 40); }

TEST_F(PowerCut, WouldBeSeenIfOnlyNamesWereSynced) {
  record(testing::faulty_training);
  if (HasFatalFailure()) return;
  std::set<std::uint64_t> directories = {inode_of(whole_.path())};
  for (const FileCall& call : calls_)
    if (call.what == "mkdir") directories.insert(call.inode);
  std::erase_if(calls_, [&](const FileCall& call) { return call.what == "sync" && !directories.contains(call.inode); });
  int lost = 0;
  for (std::uint32_t seed = 0; seed < 12 && lost == 0; ++seed) {
    const ScratchDirectory room;
    lost += go_on_after(calls_.size() - 1, seed, room).code != 0 || learned_in(room / "runs/tiny") != end_;
  }
  EXPECT_GT(lost, 0);
}

TEST(SimulatedDisk, KeepsWhatWasSyncedAndForgetsTheRest) {
  // The disk is a good witness only if it does lose what was not synced: names, bytes and their order.
  const std::vector<FileCall> calls = {{.what = "create", .inode = 2, .path = "a"},
                                       {.what = "write", .inode = 2, .place = 0, .bytes = "first"},
                                       {.what = "sync", .inode = 2},
                                       {.what = "sync", .inode = 1},
                                       {.what = "write", .inode = 2, .place = 5, .bytes = "second"},
                                       {.what = "create", .inode = 3, .path = "b"},
                                       {.what = "rename", .path = "b", .other = "c"}};
  SimulatedDisk disk(1);
  for (const FileCall& call : calls) disk.apply(call);
  int short_a = 0, zeros = 0, with_b = 0, with_c = 0, with_neither = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const ScratchDirectory room;
    disk.leave(room.path(), random);
    const std::string a = text_of(room / "a");
    ASSERT_TRUE(a.starts_with("first")) << a;
    short_a += a == "first";
    zeros += a.find('\0') != std::string::npos;
    const bool b = std::filesystem::exists(room / "b"), c = std::filesystem::exists(room / "c");
    with_b += b;
    with_c += c && !b;
    with_neither += !b && !c;
  }
  for (const int seen : {short_a, zeros, with_b, with_c, with_neither}) EXPECT_GT(seen, 10);
}

}  // namespace
}  // namespace throughtime
