#include "engine/cpu/threads/crew.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "throughtime/error.h"

namespace throughtime::cpu {
namespace {

TEST(Part, CoversEverythingOnceInWholeUnits) {
  for (const int total : {0, 1, 2, 7, 16, 33, 130, 512})
    for (const int unit : {1, 2, 16, 64})
      for (int count = 1; count <= 17; ++count) {
        int at = 0;
        for (int index = 0; index < count; ++index) {
          const auto [begin, end] = Part{index, count}.of(total, unit);
          ASSERT_EQ(begin, at);
          ASSERT_LE(begin, end);
          ASSERT_TRUE(end % unit == 0 || end == total);
          at = end;
        }
        ASSERT_EQ(at, total);
      }
}

/// Every number of `size` is counted once in each of `pieces` pieces of work, whoever does it.
void count_pieces(Crew& crew, int pieces, std::vector<int>& counts) {
  for (int piece = 0; piece < pieces; ++piece)
    crew.share(static_cast<int>(counts.size()), [&](Part part) {
      const auto [begin, end] = part.of(static_cast<int>(counts.size()));
      for (int i = begin; i < end; ++i) ++counts[static_cast<std::size_t>(i)];
    });
}

TEST(Crew, AloneDoesEverythingItself) {
  Crew crew(1);
  std::vector<int> counts(5);
  count_pieces(crew, 3, counts);
  EXPECT_EQ(counts, std::vector<int>(5, 3));
  EXPECT_EQ(crew.size(), 1);
}

TEST(Crew, DoesNotWaitForHelpersThatNeverCome) {
  for (const Crowd crowd : {Crowd::at_hand, Crowd::every_seat}) {
    Crew crew(8);
    crew.open(8, crowd);
    EXPECT_EQ(crew.size(), crowd == Crowd::every_seat ? 8 : 1);
    std::vector<int> counts(5);
    count_pieces(crew, 100, counts);
    crew.close();
    EXPECT_EQ(counts, std::vector<int>(5, 100));
  }
}

TEST(Crew, SharesEveryPieceOnceForAnyNumberOfHelpers) {
  for (const int seats : {2, 3, 4, 8, 16}) {
    Crew crew(seats);
    for (int round = 0; round < 5; ++round) {
      crew.open(seats);
      std::vector<std::thread> helpers;
      for (int i = 1; i < seats; ++i) helpers.emplace_back([&] { crew.help(); });
      std::vector<int> counts(37);
      count_pieces(crew, 300, counts);
      crew.close();
      for (std::thread& helper : helpers) helper.join();
      ASSERT_EQ(counts, std::vector<int>(37, 300)) << seats << " seats";
    }
  }
}

TEST(Crew, WakesHelpersThatSleep) {
  Crew crew(3);
  crew.open(3);
  std::vector<std::thread> helpers;
  for (int i = 0; i < 2; ++i) helpers.emplace_back([&] { crew.help(); });
  std::vector<int> counts(9);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    count_pieces(crew, 20, counts);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  crew.close();
  for (std::thread& helper : helpers) helper.join();
  EXPECT_EQ(counts, std::vector<int>(9, 100));
}

TEST(Crew, LetsHelpersGoThatComeTooLate) {
  Crew crew(3);
  crew.open(2);
  crew.close();
  crew.help();
  crew.help();
  crew.help();
  SUCCEED();
}

TEST(Crew, RethrowsTheErrorOfTheLowestPart) {
  for (const int seats : {1, 2, 4}) {
    Crew crew(seats);
    crew.open(seats);
    std::vector<std::thread> helpers;
    for (int i = 1; i < seats; ++i) helpers.emplace_back([&] { crew.help(); });
    for (int round = 0; round < 20; ++round) {
      try {
        crew.share(seats, [](Part part) { throw RunFailure(std::to_string(part.index)); });
        ADD_FAILURE() << "nothing was thrown";
      } catch (const RunFailure& error) {
        EXPECT_STREQ(error.what(), "0");
      }
      std::vector<int> counts(4);
      count_pieces(crew, 1, counts);
      EXPECT_EQ(counts, std::vector<int>(4, 1)) << "the crew is of no use after an error";
    }
    crew.close();
    for (std::thread& helper : helpers) helper.join();
  }
}

TEST(Staff, RunsEverySliceOnceWithACrewOrWithout) {
  for (const int threads : {1, 2, 3, 4, 8, 16})
    for (const Crowd crowd : {Crowd::nobody, Crowd::at_hand, Crowd::every_seat}) {
      Staff staff(threads, 16);
      ThreadPool pool(threads, [&] { staff.help(); });
      for (int slices = 1; slices <= 9; ++slices) {
        std::vector<std::vector<int>> counts(static_cast<std::size_t>(slices), std::vector<int>(11));
        staff.run(pool, slices, crowd,
                  [&](int i, Crew& crew) { count_pieces(crew, 10, counts[static_cast<std::size_t>(i)]); });
        for (const std::vector<int>& slice : counts) ASSERT_EQ(slice, std::vector<int>(11, 10));
      }
    }
}

TEST(Staff, GivesEveryCoreSomethingToDo) {
  EXPECT_EQ(Staff(1, 16).crews_for(4), 0) << "one thread needs no crew";
  EXPECT_EQ(Staff(2, 16).crews_for(4), 0) << "two slices for each";
  EXPECT_EQ(Staff(4, 16).crews_for(4), 0);
  EXPECT_EQ(Staff(8, 16).crews_for(4), 4);
  EXPECT_EQ(Staff(16, 16).crews_for(4), 4);
  EXPECT_EQ(Staff(16, 16).crews_for(16), 0);
  EXPECT_EQ(Staff(2, 16).crews_for(1), 1);
  EXPECT_EQ(Staff(3, 16).crews_for(4), 1) << "four slices by three threads side by side would take two rounds";
  EXPECT_EQ(Staff(16, 2).crews_for(4), 0) << "threads beyond the cores help nobody";
}

}  // namespace
}  // namespace throughtime::cpu
