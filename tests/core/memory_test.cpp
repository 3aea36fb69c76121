#include "core/memory.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/errors.h"
#include "support/scratch.h"
#include "throughtime/engine.h"

namespace throughtime {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// Files as a kernel writes them.
class Memory : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { directory_.write(name, text); }
  void write(const std::string& name, std::uint64_t number) const { write(name, std::to_string(number) + "\n"); }
  std::uint64_t left() const { return available_memory({directory_ / "proc", directory_ / "cgroup"}); }

 private:
  testing::ScratchDirectory directory_;
};

TEST_F(Memory, IsUnknownWhereNobodyTells) { EXPECT_EQ(left(), unknown_memory); }

TEST_F(Memory, OfTheMachineIsWhatItCallsAvailable) {
  write("proc/meminfo", "MemTotal:  8000000 kB\nMemFree:  1000 kB\nMemAvailable:  2048 kB\n");
  EXPECT_EQ(left(), 2 * mebibyte);
}

TEST_F(Memory, OfAGroupIsItsLimitLessWhatCannotBeTakenBack) {
  write("proc/meminfo", "MemAvailable:  8000000 kB\n");
  write("proc/self/cgroup", "0::/jobs/mine\n");
  write("cgroup/jobs/mine/memory.max", 100 * mebibyte);
  write("cgroup/jobs/mine/memory.current", 60 * mebibyte);
  write("cgroup/jobs/mine/memory.stat", "anon 5\ninactive_file 20971520\nactive_file 10485760\n");
  EXPECT_EQ(left(), 70 * mebibyte);
  write("cgroup/jobs/memory.max", 50 * mebibyte);  // a level above it is tighter
  write("cgroup/jobs/memory.current", 60 * mebibyte);
  EXPECT_EQ(left(), 0u);
  write("cgroup/jobs/memory.max", "max\n");
  write("cgroup/jobs/mine/memory.max", "max\n");
  EXPECT_EQ(left(), std::uint64_t{8000000} * 1024);
}

TEST_F(Memory, OfAGroupOfVersionOneLikewise) {
  write("proc/self/cgroup", "12:cpu,cpuacct:/x\n3:memory:/docker/7\n0::/\n");
  write("cgroup/memory/docker/7/memory.limit_in_bytes", 40 * mebibyte);
  write("cgroup/memory/docker/7/memory.usage_in_bytes", 10 * mebibyte);
  EXPECT_EQ(left(), 30 * mebibyte);
  write("cgroup/memory/memory.limit_in_bytes", 9 * mebibyte);  // the root, as seen from inside a container
  write("cgroup/memory/memory.usage_in_bytes", 4 * mebibyte);
  EXPECT_EQ(left(), 5 * mebibyte);
}

/// Bounds what this process may take.
class BoundedMemory : public ::testing::Test {
 protected:
  BoundedMemory() { setenv("THROUGHTIME_MEMORY", "1", 1); }
  ~BoundedMemory() override { unsetenv("THROUGHTIME_MEMORY"); }
};

TEST_F(BoundedMemory, IsComparedBeforeItIsTaken) {
  EXPECT_EQ(available_memory(), 0u);
  EXPECT_EQ(testing::refusal_of([] { require_memory("tape", "a tape", 1000); }), "");  // not worth a look
  EXPECT_EQ(testing::refusal_of([] { require_memory("tape", "a tape", 3.0 * (1 << 30)); }),
            "[tape] a tape needs 3.0 GiB of memory, 0.0 MiB are left; try a smaller train.batch, length of the task or "
            "model.hidden");
}

TEST_F(BoundedMemory, StopsTapesBuffersAndModels) {
  ModelConfig config;
  config.input.reals = 2;
  config.layers.push_back({.cell = "lstm", .hidden = 64});
  config.head = {.name = "regression", .outputs = 1};
  const Model model(config);
  for (const char* name : {"cpu", "reference"}) {
    const std::unique_ptr<Engine> engine = make_engine(model, {.name = name, .threads = 1});
    EXPECT_EQ(engine->memory_bytes(), 0u);
    EXPECT_REFUSED(engine->make_tape({.steps = 1000, .batch = 64, .keep = Keep::gradient}),
                   "[tape] a tape of 1000 steps and 64 rows needs");
    EXPECT_REFUSED(engine->make_tape({.steps = 2147483647, .batch = 65536, .keep = Keep::gradient}), "GiB of memory");
    EXPECT_REFUSED(engine->allocate(std::size_t{1} << 40), "[engine] a buffer of 1099511627776 numbers needs");
  }
  config.layers[0].hidden = 1024;
  EXPECT_REFUSED(initialise(Model(config), {}, 1), "[model] a model of");
}

}  // namespace
}  // namespace throughtime
