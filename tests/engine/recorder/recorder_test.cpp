#include "engine/recorder/recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "allocations/counted_new.h"

namespace throughtime::testing {
namespace {

/// A device of host memory: what it is told to do it does at once, and writes down.
class FakeDevice final : public Executor {
 public:
  void make_arena(std::size_t bytes, int slots) override {
    events.push_back("arena");
    slots_.assign(static_cast<std::size_t>(slots), std::vector<std::byte>(bytes));
    arena_.assign(bytes, std::byte{0});
  }
  std::byte* slot(int slot) override { return slots_[static_cast<std::size_t>(slot)].data(); }
  std::byte* device_arena() override { return arena_.data(); }
  void upload(int slot, std::size_t bytes) override {
    events.push_back("upload " + std::to_string(slot));
    std::copy_n(slots_[static_cast<std::size_t>(slot)].begin(), bytes, arena_.begin());
  }
  void wait_for(int slot) override { waited.push_back(slot); }
  void run(const OperationList& list) override {
    events.push_back("run " + std::to_string(list.operations.size()));
    list.run(this);
  }
  int capture(const OperationList& list) override {
    if (!captures) return -1;
    graphs.push_back(std::make_unique<OperationList>(list));
    return static_cast<int>(graphs.size()) - 1;
  }
  void launch(int graph) override {
    events.push_back("launch " + std::to_string(graph));
    graphs[static_cast<std::size_t>(graph)]->run(this);
  }
  void drop(int graph) override {
    events.push_back("drop " + std::to_string(graph));
    graphs[static_cast<std::size_t>(graph)].reset();
  }
  void finish() override { ++finishes; }

  bool captures = true;
  std::vector<std::string> events;
  std::vector<int> waited;
  int finishes = 0;
  std::vector<std::unique_ptr<OperationList>> graphs;

 private:
  std::vector<std::vector<std::byte>> slots_;
  std::vector<std::byte> arena_;
};

/// to [count] += the numbers of the call.
struct AddNumbers {
  char odd = 1;  // padding follows it
  int count = 0;
  const double* numbers = nullptr;
  double* to = nullptr;
};
void add_numbers(const FakeDevice&, const AddNumbers& call) {
  for (int i = 0; i < call.count; ++i) call.to[i] += call.numbers[i];
}

class RecorderTest : public ::testing::Test {
 protected:
  void add(CallRecorder& recorder, std::vector<double> numbers, double* to) {
    recorder.begin_call(CallRecorder::bytes_of<double>(numbers.size()));
    const auto room = recorder.numbers<double>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), room.host);
    AddNumbers call;
    call.count = static_cast<int>(numbers.size());
    call.numbers = room.device;
    call.to = to;
    recorder.add<FakeDevice, AddNumbers>(add_numbers, call);
    recorder.end_call();
  }

  FakeDevice device;
  double sums[4] = {};
};

TEST_F(RecorderTest, DoesNothingBeforeAFlushAndEverythingInOrderAtIt) {
  CallRecorder recorder(device, {.arena = 4096});
  add(recorder, {1, 2}, sums);
  add(recorder, {10}, sums);
  EXPECT_EQ(sums[0], 0);
  recorder.flush();
  EXPECT_EQ(sums[0], 11);
  EXPECT_EQ(sums[1], 2);
  EXPECT_EQ(device.events, (std::vector<std::string>{"arena", "upload 0", "run 2"}));
  recorder.flush();
  EXPECT_EQ(device.events.size(), 3u);
}

TEST_F(RecorderTest, LaunchesAListThatItHasSeenAsOneGraphWithItsNewNumbers) {
  CallRecorder recorder(device, {.arena = 4096});
  for (int round = 1; round <= 4; ++round) {
    add(recorder, {1.0 * round}, sums);
    recorder.flush();
  }
  EXPECT_EQ(sums[0], 1 + 2 + 3 + 4);
  EXPECT_EQ(recorder.counts().lists, 4);
  EXPECT_EQ(recorder.counts().graphs_made, 1);
  EXPECT_EQ(recorder.counts().graphs_launched, 3);
}

TEST_F(RecorderTest, TellsListsApartByShapeAndByBuffer) {
  CallRecorder recorder(device, {.arena = 4096});
  for (int round = 0; round < 2; ++round) {
    add(recorder, {1}, sums);
    recorder.flush();
    add(recorder, {1, 1}, sums);
    recorder.flush();
    add(recorder, {1}, sums + 2);
    recorder.flush();
  }
  EXPECT_EQ(recorder.counts().graphs_made, 3);
  EXPECT_EQ(sums[0], 4);
  EXPECT_EQ(sums[1], 2);
  EXPECT_EQ(sums[2], 2);
}

TEST_F(RecorderTest, FlushesAfterSoManyCalls) {
  CallRecorder recorder(device, {.calls = 3, .arena = 4096});
  for (int call = 0; call < 7; ++call) add(recorder, {1}, sums);
  EXPECT_EQ(sums[0], 6);
  EXPECT_EQ(recorder.counts().lists, 2);
}

TEST_F(RecorderTest, FlushesAfterACallThatLeavesManyNumbers) {
  CallRecorder recorder(device, {.bytes = 64, .arena = 4096});
  add(recorder, {1}, sums);
  EXPECT_EQ(sums[0], 0);
  std::vector<double> many(8);
  add(recorder, std::vector<double>(8, 1.0), many.data());
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(many[7], 1);
  EXPECT_EQ(recorder.counts().lists, 1);
}

TEST_F(RecorderTest, FlushesWhereTheArenaIsFullAndGrowsForACallThatIsTooLarge) {
  CallRecorder recorder(device, {.arena = 64});
  add(recorder, {1, 1, 1, 1}, sums);
  add(recorder, {1, 1, 1, 1}, sums);
  EXPECT_EQ(sums[0], 0);
  add(recorder, {1}, sums);
  EXPECT_EQ(sums[0], 2);
  add(recorder, std::vector<double>(4, 1.0), sums);
  EXPECT_EQ(recorder.counts().arenas, 1);
  std::vector<double> many(100);
  add(recorder, std::vector<double>(100, 1.0), many.data());
  EXPECT_EQ(sums[0], 4);  // what was collected before is done before the arena moves
  recorder.flush();
  EXPECT_EQ(recorder.counts().arenas, 2);
  EXPECT_EQ(many[99], 1);
}

TEST_F(RecorderTest, ForgetsGraphsOfAnOldArena) {
  CallRecorder recorder(device, {.arena = 64});
  for (int round = 0; round < 2; ++round) {
    add(recorder, {1}, sums);
    recorder.flush();
  }
  EXPECT_EQ(recorder.counts().graphs_launched, 1);
  recorder.reserve(1000);
  add(recorder, {1}, sums);
  recorder.flush();
  EXPECT_EQ(recorder.counts().graphs_launched, 1);
  EXPECT_EQ(sums[0], 3);
}

TEST_F(RecorderTest, KeepsABoundedNumberOfListsAndDropsTheOldest) {
  CallRecorder recorder(device, {.lists = 2, .arena = 4096});
  const auto twice = [&](double* to) {
    for (int round = 0; round < 2; ++round) {
      add(recorder, {1}, to);
      recorder.flush();
    }
  };
  twice(sums);
  twice(sums + 1);
  twice(sums + 2);  // in the place of the first
  EXPECT_EQ(recorder.counts().graphs_dropped, 1);
  EXPECT_NE(std::find(device.events.begin(), device.events.end(), "drop 0"), device.events.end());
  twice(sums + 1);
  EXPECT_EQ(recorder.counts().graphs_made, 3);
}

TEST_F(RecorderTest, WaitsForASlotBeforeItsNumbersAreWrittenAgain) {
  CallRecorder recorder(device, {.slots = 2, .arena = 4096});
  for (int round = 0; round < 4; ++round) {
    add(recorder, {1}, sums);
    recorder.flush();
  }
  EXPECT_EQ(device.waited, (std::vector<int>{1, 0, 1, 0}));
}

TEST_F(RecorderTest, RunsListByListWithoutGraphsOrWhereNoneCanBeMade) {
  CallRecorder without(device, {.graphs = false, .arena = 4096});
  for (int round = 0; round < 3; ++round) {
    add(without, {1}, sums);
    without.flush();
  }
  EXPECT_EQ(without.counts().graphs_launched, 0);
  device.captures = false;
  CallRecorder unable(device, {.arena = 4096});
  for (int round = 0; round < 3; ++round) {
    add(unable, {1}, sums);
    unable.flush();
  }
  EXPECT_EQ(unable.counts().graphs_made, 0);
  EXPECT_EQ(sums[0], 6);
}

/// What a training step does once its lists have come before: the counted part of that rule which needs no GPU.
TEST_F(RecorderTest, AListThatCameBeforeTakesNoMemoryAndWaitsForUploadsAlone) {
  CallRecorder recorder(device, {.calls = 3, .arena = 4096});
  device.events.reserve(1000);
  device.waited.reserve(1000);
  const auto step = [&](double number) {
    for (int call = 0; call < 5; ++call) {  // more than a list holds
      recorder.begin_call(CallRecorder::bytes_of<double>(1));
      AddNumbers add;
      add.count = 1;
      add.numbers = recorder.number(number);
      add.to = sums;
      recorder.add<FakeDevice, AddNumbers>(add_numbers, add);
      recorder.end_call();
    }
    recorder.flush();
  };
  for (int i = 0; i < 4; ++i) step(1);
  const RecorderCounts before = recorder.counts();
  const int finishes = device.finishes;
  const std::size_t waits = device.waited.size();
  const std::int64_t made = allocations();
  for (int i = 0; i < 50; ++i) step(1);
  EXPECT_EQ(allocations() - made, 0);
  EXPECT_EQ(device.finishes, finishes);
  EXPECT_EQ(device.waited.size() - waits, 100u) << "one for each upload: the slot of the one four lists ago";
  EXPECT_EQ(recorder.counts().arenas, before.arenas);
  EXPECT_EQ(recorder.counts().graphs_made, before.graphs_made);
  EXPECT_EQ(recorder.counts().graphs_launched - before.graphs_launched, 100);
  EXPECT_EQ(sums[0], 5 * 54);
}

}  // namespace
}  // namespace throughtime::testing
