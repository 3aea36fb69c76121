#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "data/arrays/cifar.h"
#include "data/arrays/idx.h"
#include "data/files.h"
#include "data/sets.h"
#include "data/tables/csv.h"
#include "data/text/text.h"

namespace throughtime {
namespace {

/// Skips unless $THROUGHTIME_DATA holds the set.
class RealData : public ::testing::Test {
 protected:
  bool absent(const std::string& name) {
    const char* directory = std::getenv("THROUGHTIME_DATA");
    if (directory == nullptr) return true;
    directory_ = directory;
    const auto named = [&](const DataSet& set) { return set.name == name; };
    const std::vector<DataFile>& files = std::ranges::find_if(all_data_sets(), named)->files;
    return std::any_of(files.begin(), files.end(),
                       [this](const DataFile& file) { return find_data_file(directory_, file.path).empty(); });
  }
  std::string path(const std::string& file) const { return require_data_file(directory_, file); }

  void expect_texts(const std::string& start, const std::string& end, std::vector<std::size_t> tokens,
                    std::size_t types) {
    const TextOptions options{.end_of_line = "<eos>"};
    Vocabulary vocabulary;
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < 3; ++i) {
      paths.push_back(path(start + std::array{"train", "valid", "test"}[i] + end));
      EXPECT_EQ(encode_text(paths.back(), options, vocabulary).size(), tokens[i]);
    }
    EXPECT_EQ(vocabulary.size(), types);
    const TokenCounts counts = count_tokens(paths, options);
    EXPECT_EQ(counts.total(), tokens[0] + tokens[1] + tokens[2]);
    EXPECT_TRUE(build_vocabulary(counts, options) == vocabulary);
  }

 private:
  std::string directory_;
};

#define SKIP_IF_ABSENT(set) \
  if (absent(set)) GTEST_SKIP() << "no " << (set) << " under $THROUGHTIME_DATA"

TEST_F(RealData, MnistHasItsShapes) {
  SKIP_IF_ABSENT("mnist");
  const IdxArray images = read_idx(path("mnist/train-images-idx3-ubyte"));
  EXPECT_EQ(images.shape, (std::vector<int>{60000, 28, 28}));
  EXPECT_EQ(images.values.size(), 60000u * 784);
  EXPECT_EQ(read_idx(path("mnist/t10k-images-idx3-ubyte")).shape, (std::vector<int>{10000, 28, 28}));
  const IdxArray labels = read_idx(path("mnist/train-labels-idx1-ubyte"));
  EXPECT_EQ(labels.shape, (std::vector<int>{60000}));
  EXPECT_EQ(std::count(labels.values.begin(), labels.values.end(), 1), 6742);
}

TEST_F(RealData, CifarHasAsManyImagesOfEachClass) {
  SKIP_IF_ABSENT("cifar10");
  const CifarImages images = read_cifar(path("cifar10/test_batch.bin"));
  EXPECT_EQ(images.labels.size(), 10000u);
  EXPECT_EQ(images.pixels.size(), 10000u * 3072);
  for (int label = 0; label < 10; ++label)
    EXPECT_EQ(std::count(images.labels.begin(), images.labels.end(), label), 1000);
}

TEST_F(RealData, PennTreebankHasItsTokens) {
  SKIP_IF_ABSENT("ptb");
  expect_texts("ptb/ptb.", ".txt", {929589, 73760, 82430}, 10000);
}

TEST_F(RealData, PennTreebankHasItsCharacters) {
  SKIP_IF_ABSENT("ptb-characters");
  expect_texts("ptb/ptb.char.", ".txt", {5017483, 393043, 442424}, 50);
}

TEST_F(RealData, WikiTextHasItsTokens) {
  SKIP_IF_ABSENT("wikitext-2");
  expect_texts("wikitext-2/wiki.", ".tokens", {2088628, 217646, 245569}, 33278);
}

TEST_F(RealData, Text8IsOneLineOfLettersAndSpaces) {
  SKIP_IF_ABSENT("text8-prefix");
  const std::string file = path("text8-prefix/text8.first12500000");
  const TextOptions options{.unit = TokenUnit::characters, .end_of_line = "<eos>"};
  Vocabulary vocabulary;
  EXPECT_EQ(encode_text(file, options, vocabulary).size(), 12500000u);
  EXPECT_EQ(vocabulary.size(), 27u);
}

TEST_F(RealData, SeriesHaveTheirRows) {
  SKIP_IF_ABSENT("ett");
  const CsvTable table = read_csv(path("series/ETTh1.csv"));
  EXPECT_EQ(table.rows, 17420u);
  EXPECT_EQ(table.columns, (std::vector<std::string>{"HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"}));
  EXPECT_FLOAT_EQ(table.values[6], 30.5310001373291f);
  EXPECT_EQ(read_csv(path("series/ETTh2.csv"), {.columns = {"OT"}}).values.size(), 17420u);
}

TEST_F(RealData, ExchangeRatesHaveNoHeader) {
  SKIP_IF_ABSENT("exchange_rate");
  const CsvTable table = read_csv(path("series/exchange_rate.txt"));
  EXPECT_EQ(table.rows, 7588u);
  EXPECT_EQ(table.columns.size(), 8u);
}

TEST_F(RealData, ChecksumsAreThoseOfTheRegistry) {
  bool any = false;
  for (const DataSet& set : all_data_sets()) {
    if (absent(set.name)) continue;
    any = true;
    for (const DataFile& file : set.files) {
      std::string reason;
      EXPECT_EQ(check_data_file(std::getenv("THROUGHTIME_DATA"), file, reason), FileState::good)
          << file.path << ": " << reason;
    }
  }
  if (!any) GTEST_SKIP() << "no data set under $THROUGHTIME_DATA";
}

}  // namespace
}  // namespace throughtime
