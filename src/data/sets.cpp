#include "data/sets.h"

#include <md5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "core/names.h"

namespace throughtime {
namespace {

constexpr std::string_view speaker = "data";

std::vector<DataSet> image_sets() {
  return {{.name = "mnist",
           .holds = "60,000 + 10,000 handwritten digits of 28x28",
           .source = "github.com/pmallari/MNIST (the four .gz files as they are)",
           .licence = "not stated (LeCun, Cortes, Burges)",
           .files = {{"mnist/train-images-idx3-ubyte", 47040016, "6bbc9ace898e44ae57da46a324031adb"},
                     {"mnist/train-labels-idx1-ubyte", 60008, "a25bea736e30d166cdddb491f175f624"},
                     {"mnist/t10k-images-idx3-ubyte", 7840016, "2646ac647ad5339dbf082846283269ea"},
                     {"mnist/t10k-labels-idx1-ubyte", 10008, "27ae3e4e09519cfbb04c329615203637"}}},
          {.name = "cifar10",
           .holds = "50,000 + 10,000 colour images of 32x32 in 10 classes",
           .source = "www.cs.toronto.edu/~kriz/cifar.html (binary version)",
           .licence = "not stated (Krizhevsky)",
           .files = {{"cifar10/data_batch_1.bin", 30730000, "5dd7e06a14cb22eb9f671a540d1b7c25"},
                     {"cifar10/data_batch_2.bin", 30730000, "5ea93a67294ea407fff1d09f752e9692"},
                     {"cifar10/data_batch_3.bin", 30730000, "942cd6a4bcdd0dd3c604fbe906cb4421"},
                     {"cifar10/data_batch_4.bin", 30730000, "ae636b3ba5c66a11e91e8cb52e771fcb"},
                     {"cifar10/data_batch_5.bin", 30730000, "53f37980c15c3d472c316c40844f3f0d"},
                     {"cifar10/test_batch.bin", 30730000, "803d5f7f4d78ea53de84dbe85f74fb6d"}}}};
}

std::vector<DataSet> text_sets() {
  const std::string ptb_source = "github.com/MorganECNUGroup/Tensorflow-Part (ptb.zip)";
  const std::string ptb_licence = "not stated; the archive says free for research, the text is LDC's";
  return {{.name = "ptb",
           .holds = "Penn Treebank, words: 929,589 / 73,760 / 82,430 tokens, 10,000 types",
           .source = ptb_source,
           .licence = ptb_licence,
           .files = {{"ptb/ptb.train.txt", 5101618, "f26c4b92c5fdc7b3f8c7cdcb991d8420"},
                     {"ptb/ptb.valid.txt", 399782, "aa0affc06ff7c36e977d7cd49e3839bf"},
                     {"ptb/ptb.test.txt", 449945, "8b80168b89c18661a38ef683c0dc3721"}}},
          {.name = "ptb-characters",
           .holds = "Penn Treebank, characters: 5,017,483 / 393,043 / 442,424 symbols, 50 types",
           .source = ptb_source,
           .licence = ptb_licence,
           .files = {{"ptb/ptb.char.train.txt", 10034964, "874909f99060142f6b88cc74c34baaa2"},
                     {"ptb/ptb.char.valid.txt", 786084, "9e0fe5bec2a8bf43fd686dc23d5ab8bb"},
                     {"ptb/ptb.char.test.txt", 884846, "1f9a2d1afe00f76e8bfbe09a65439681"}}},
          {.name = "wikitext-2",
           .holds = "Wikipedia articles, words: 2,088,628 / 217,646 / 245,569 tokens, 33,278 types",
           .source = "github.com/pimondontknow/Privacy_FL_IoT (training), github.com/sourcepirate/my-gpt (the others)",
           .licence = "not stated (Wikipedia text, CC BY-SA)",
           .files = {{"wikitext-2/wiki.train.tokens", 10797148, "34a77ebe59551b3a3b3d8c0a2797c976"},
                     {"wikitext-2/wiki.valid.tokens", 1121681, "d756d22ab2310e7e60c094bea5c5a8eb"},
                     {"wikitext-2/wiki.test.tokens", 1256449, "781c9418ab9414bd09e4aad825aae752"}}},
          {.name = "text8-prefix",
           .holds = "first 12,500,000 characters of text8 (not comparable with results on all of it)",
           .source = "github.com/Sam-Jain/Training-domain-specific-word-embeddings (text8.zip)",
           .licence = "not stated (Wikipedia text)",
           .files = {{"text8-prefix/text8.first12500000", 12500000, "8b6c1a05202f8d530f10d24b74d9deaa"}}}};
}

std::vector<DataSet> sequence_sets() {
  const auto copy_source = [](std::string_view kind) {
    return fmt::format("github.com/aicherc/adaptive_tbptt (data/copy_{}/copy_10_6.p.gz, converted to text)", kind);
  };
  return {{.name = "book_order",
           .holds = "100 sequences of orders at a stock exchange, types and times: 3,319 + 829 events each, 5 folds",
           .source = "github.com/dunan/NeuralPointProcess (data/real/book_order)",
           .licence = "not stated",
           .files = {{"book_order/event-1-train.txt", 663900, "213119f8e55c61f45bb203f9a05b7148"},
                     {"book_order/event-1-test.txt", 165900, "315facf28d866005e4ec059664b6155a"},
                     {"book_order/time-1-train.txt", 4036747, "cdf2ca7947b219cf236a4a8a042190d6"},
                     {"book_order/time-1-test.txt", 1050200, "ddfb7a8ce7a5433bafbb6db11de12c2f"},
                     {"book_order/event-2-train.txt", 663900, "1c8d2c74c63ee16bcf5ffdbce937f443"},
                     {"book_order/event-2-test.txt", 165900, "489f816e8c6cc1f6551307ce7cae291c"},
                     {"book_order/time-2-train.txt", 4035710, "36026e75dd41debe3d945d8a78b7a535"},
                     {"book_order/time-2-test.txt", 1051753, "93a546c57d81c88d5975dfdcebf20ac8"},
                     {"book_order/event-3-train.txt", 663900, "1eb1e6d11a660274f6e0168d609a216f"},
                     {"book_order/event-3-test.txt", 165900, "266e563c9b410b52007b4f45a21d8105"},
                     {"book_order/time-3-train.txt", 4033556, "d641f5c45035a74975062b203b85b1a4"},
                     {"book_order/time-3-test.txt", 1053312, "e525a4f42d3cee46866ed2bf74548443"},
                     {"book_order/event-4-train.txt", 663900, "774a79b2a4628220c14fc0572d27abf4"},
                     {"book_order/event-4-test.txt", 165900, "ac3f22ddf4885f52f435540197610510"},
                     {"book_order/time-4-train.txt", 4034203, "afd9478776e4f223a2b4bbb2dff2aaff"},
                     {"book_order/time-4-test.txt", 1051175, "cc674023f15ed41612e7de7ad6997020"},
                     {"book_order/event-5-train.txt", 663900, "10d73af26687138d3462fce7601e9fbf"},
                     {"book_order/event-5-test.txt", 165900, "fb61422d870182f40afc10ce783fa0ff"},
                     {"book_order/time-5-train.txt", 4036655, "b7ffab8b164960dcd58d30f4cb135401"},
                     {"book_order/time-5-test.txt", 1048747, "396d2dfcf475d88aec16ff040f500cab"}}},
          {.name = "copy_fixed",
           .holds = "copy task of adaptive TBPTT, blocks of 10: 64 streams, 4,000 / 1,000 / 1,000 steps",
           .source = copy_source("fixed"),
           .licence = "MIT",
           .files = {{"copy_fixed/train.txt", 512128, "c51521669947d30c88c655d7f2c1a89b"},
                     {"copy_fixed/valid.txt", 128128, "fbfad3e3568fcc474963a3daca088d96"},
                     {"copy_fixed/test.txt", 128128, "e95f66e411bfcf7ff314fabdd6e04387"}}},
          {.name = "copy_variable",
           .holds = "the same with blocks of 5 to 10",
           .source = copy_source("variable"),
           .licence = "MIT",
           .files = {{"copy_variable/train.txt", 512128, "a0947efedacc2023261637b386cd9919"},
                     {"copy_variable/valid.txt", 128128, "3854ae9a485e3915e1154ed75c526a7d"},
                     {"copy_variable/test.txt", 128128, "0678c7991f7e29cf8abeaf533fdc688c"}}},
          {.name = "ett",
           .holds = "electricity transformers, hourly: 17,420 rows of 7 values each",
           .source = "github.com/zhouhaoyi/ETDataset",
           .licence = "CC BY-ND 4.0",
           .files = {{"series/ETTh1.csv", 2589657, "8381763947c85f4be6ac456c508460d6"},
                     {"series/ETTh2.csv", 2417960, "51a229a3fc13579dd939364fefe9c7ab"}}},
          {.name = "exchange_rate",
           .holds = "8 currencies, daily: 7,588 rows",
           .source = "github.com/laiguokun/multivariate-time-series-data",
           .licence = "not stated",
           .files = {{"series/exchange_rate.txt", 546336, "b90abc8b54bc847dac36f8d37c11c009"}}}};
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

const std::vector<DataSet>& all_data_sets() {
  static const std::vector<DataSet> sets = [] {
    std::vector<DataSet> all;
    for (std::vector<DataSet>& some : std::array{image_sets(), text_sets(), sequence_sets()})
      std::move(some.begin(), some.end(), std::back_inserter(all));
    return all;
  }();
  return sets;
}

std::string data_directory(const std::string& option) {
  if (!option.empty()) return option;
  const char* variable = std::getenv("THROUGHTIME_DATA");
  return variable != nullptr && *variable != '\0' ? variable : "data";
}

std::string find_data_file(const std::string& directory, const std::string& path) {
  const std::string plain = (std::filesystem::path(directory) / path).string();
  for (const char* ending : {"", ".gz", ".xz"})
    if (is_file(plain + ending)) return plain + ending;
  return "";
}

std::string require_data_file(const std::string& directory, const std::string& path) {
  std::string found = find_data_file(directory, path);
  if (!found.empty()) return found;
  for (const DataSet& set : all_data_sets())
    for (const DataFile& file : set.files)
      if (file.path == path)
        refuse(speaker, "{}: no {} (nor .gz, .xz) under {}; get it from {}, or set --data or THROUGHTIME_DATA",
               set.name, path, directory, set.source);
  refuse(speaker, "no {} (nor .gz, .xz) under {}", path, directory);
}

FileState check_data_file(const std::string& directory, const DataFile& file, std::string& reason) {
  const std::string path = find_data_file(directory, file.path);
  if (path.empty()) return FileState::missing;
  try {
    const std::unique_ptr<ByteStream> stream = ByteStream::open(path);
    const std::string md5 = md5_of(*stream);
    if (stream->offset() != file.bytes)
      reason = fmt::format("{} bytes instead of {}", stream->offset(), file.bytes);
    else if (md5 != file.md5)
      reason = fmt::format("MD5 {} instead of {}", md5, file.md5);
    else
      return FileState::good;
  } catch (const Error& error) {
    reason = error.what();
  }
  return FileState::damaged;
}

std::string md5_of(ByteStream& stream) {
  MD5_CTX state;
  MD5Init(&state);
  std::vector<std::byte> block(1 << 18);
  while (const std::size_t count = stream.read(block))
    MD5Update(&state, reinterpret_cast<const std::uint8_t*>(block.data()), count);
  std::array<std::uint8_t, MD5_DIGEST_LENGTH> digest;
  MD5Final(digest.data(), &state);
  std::string text;
  for (const std::uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace throughtime
