#include "bench/host_case.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bench/idle_engine.h"
#include "support/engine_run.h"
#include "support/errors.h"

namespace throughtime::bench {
namespace {

TEST(HostCase, IsMeasuredAndReported) {
  const HostResult result =
      run_host_case("host-fptt-lstm-b2-h3-t5-k2", {.repeats = 2, .least = 2, .sample_seconds = 1e-4});
  EXPECT_GT(result.host_ms, 0);
  const nlohmann::json line = nlohmann::json::parse(json_line(result));
  EXPECT_EQ(line["case"], "host-fptt-lstm-b2-h3-t5-k2");
  EXPECT_GT(line["host_ms"], 0);
}

TEST(HostCase, SmallestOnesWork) {
  for (const char* name : {"host-fptt-gru-b1-h1-t1-k1", "host-fptt-rnn-b3-h1-t2-k2"})
    EXPECT_NO_THROW(run_host_case(name, {.repeats = 1, .least = 1, .sample_seconds = 0})) << name;
}

TEST(HostCase, OtherMethodsAreRefused) {
  EXPECT_REFUSED(parse_host_case("host-bptt-gru-b64-h96-t100"), "expected host-fptt-CELL-bB-hH-tT-kK");
}

TEST(IdleEngine, RefusesWhatEveryEngineRefuses) {
  const Model model(testing::stack_of("lstm", {2}));
  IdleEngine engine(make_engine(model, {}));
  const auto tape = engine.make_tape({.steps = 2, .batch = 1});
  const Buffer parameters = engine.allocate(model.parameters().size());
  Window window;
  EXPECT_REFUSED(engine.unroll({.window = window, .parameters = parameters, .tape = *tape}),
                 "steps must be at least 1");
  EXPECT_REFUSED(engine.pull_back({.tape = *tape, .window = window, .parameters = parameters}),
                 "nothing has been unrolled");
}

}  // namespace
}  // namespace throughtime::bench
