#include "data/sets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "data/files.h"

namespace throughtime {
namespace {

using testing::stream_of;

TEST(DataSets, AreComplete) {
  std::set<std::string> names, paths;
  for (const DataSet& set : all_data_sets()) {
    EXPECT_TRUE(names.insert(set.name).second) << set.name;
    EXPECT_FALSE(set.holds.empty() || set.source.empty() || set.licence.empty()) << set.name;
    for (const DataFile& file : set.files) {
      EXPECT_TRUE(paths.insert(file.path).second) << file.path;
      EXPECT_EQ(file.md5.size(), 32u) << file.path;
      EXPECT_GT(file.bytes, 0u) << file.path;
    }
  }
  EXPECT_TRUE(names.contains("ptb"));
}

TEST(Md5, AgreesWithTheStandard) {
  EXPECT_EQ(md5_of(*stream_of("")), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(md5_of(*stream_of("message digest")), "f96b697d7cb7938d525a2f31aaf161d0");
}

TEST(DataDirectory, IsTheOptionElseTheVariableElseData) {
  const char* before = std::getenv("THROUGHTIME_DATA");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("THROUGHTIME_DATA", "/from/variable", 1);
  EXPECT_EQ(data_directory("given"), "given");
  EXPECT_EQ(data_directory(""), "/from/variable");
  ::unsetenv("THROUGHTIME_DATA");
  EXPECT_EQ(data_directory(""), "data");
  if (before != nullptr) ::setenv("THROUGHTIME_DATA", kept.c_str(), 1);
}

TEST(DataFiles, AreFoundPlainOrPacked) {
  const testing::ScratchDirectory scratch;
  const std::string directory = scratch.path().string(), plain = directory + "/a.txt", packed = directory + "/b.txt.xz";
  testing::write_text(plain, "x");
  testing::write_text(packed, "x");
  EXPECT_EQ(find_data_file(directory, "a.txt"), plain);
  EXPECT_EQ(find_data_file(directory, "b.txt"), packed);
  EXPECT_EQ(find_data_file(directory, "c.txt"), "");
  EXPECT_EQ(require_data_file(directory, "b.txt"), packed);
  EXPECT_REFUSED(require_data_file(directory, "c.txt"), "no c.txt");
  EXPECT_REFUSED(require_data_file(directory, "ptb/ptb.train.txt"), "ptb: no ptb/ptb.train.txt (nor .gz, .xz) under");
  EXPECT_REFUSED(require_data_file(directory, "ptb/ptb.train.txt"), "get it from github.com/");
}

TEST(DataFiles, AreCheckedUnpacked) {
  const std::string directory = std::filesystem::path(testing::corpus("stream")).parent_path().string();
  std::string reason;
  EXPECT_EQ(check_data_file(directory, {"stream/none", 1, ""}, reason), FileState::missing);
  EXPECT_EQ(reason, "");
  EXPECT_EQ(check_data_file(directory, {"stream/plain", 13, ""}, reason), FileState::damaged);
  EXPECT_EQ(reason, "14 bytes instead of 13");
  const std::string md5 = md5_of(*ByteStream::open(testing::corpus("stream/plain")));
  for (const char* path : {"stream/plain", "stream/packed"})
    EXPECT_EQ(check_data_file(directory, {path, 14, md5}, reason), FileState::good);
  EXPECT_EQ(check_data_file(directory, {"stream/plain", 14, std::string(32, '0')}, reason), FileState::damaged);
  EXPECT_EQ(reason, "MD5 " + md5 + " instead of " + std::string(32, '0'));
  const testing::ScratchDirectory scratch;
  testing::write_text(scratch / "cut.gz", testing::text_of(testing::corpus("stream/packed.gz")).substr(0, 20));
  EXPECT_EQ(check_data_file(scratch.path().string(), {"cut", 14, md5}, reason), FileState::damaged);
  EXPECT_NE(reason.find("too early"), std::string::npos);
}

}  // namespace
}  // namespace throughtime
