#include "core/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;
using testing::write_text;

std::size_t files_in(const std::filesystem::path& directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

TEST(NewFile, IsThereOnceItIsPublished) {
  const ScratchDirectory directory;
  write_text(directory / "a", "old");
  {
    NewFile fresh(directory / "a");
    fresh.file().write("new");
    EXPECT_EQ(text_of(directory / "a"), "old");
    EXPECT_EQ(files_in(directory.path()), 2u);
    fresh.publish();
  }
  EXPECT_EQ(text_of(directory / "a"), "new");
  { NewFile(directory / "a").file().write("given up"); }
  EXPECT_EQ(text_of(directory / "a"), "new");
  EXPECT_EQ(files_in(directory.path()), 1u);
  EXPECT_THROW(NewFile(directory / "none/a"), RunFailure);
}

TEST(NewFile, TakesAnyNameThatAFileMayHave) {
  const ScratchDirectory directory;
  const std::string longest(255, 'n');
  replace_file(directory / longest, "text");
  EXPECT_EQ(text_of(directory / longest), "text");
}

TEST(LinkFile, GivesASecondNameAndLeavesNoThird) {
  const ScratchDirectory directory;
  write_text(directory / "a", "one");
  write_text(directory / "b", "two");
  for (int i = 0; i < 2; ++i) {  // the second time they are one file already
    link_file(directory / "a", directory / "b");
    EXPECT_EQ(text_of(directory / "b"), "one");
    EXPECT_EQ(files_in(directory.path()), 2u);
  }
  EXPECT_THROW(link_file(directory / "none", directory / "b"), RunFailure);
}

TEST(MakeDirectory, RefusesALinkAndMakesNothingAbove) {
  const ScratchDirectory directory;
  make_directory(directory / "a");
  make_directory(directory / "a");
  EXPECT_THROW(make_directory(directory / "none/a"), RunFailure);
  std::filesystem::create_directory_symlink(directory / "a", directory / "link");
  EXPECT_REFUSED(make_directory(directory / "link"), "is a link or a file");
  make_directories(directory / "link/b/c");  // above it, links are the user's
  EXPECT_TRUE(std::filesystem::is_directory(directory / "a/b/c"));
}

TEST(RemoveFiles, TakesNamesAndLeftoversOnly) {
  const ScratchDirectory directory;
  constexpr const char* names[] = {"a", "b"};
  directory.write("folder/a", "ours");
  directory.write("folder/c", "not ours");
  directory.write("folder/.throughtime-0011223344556677.partial", "left");
  remove_files(directory / "folder", names);
  EXPECT_EQ(files_in(directory / "folder"), 1u);
  std::filesystem::create_directory_symlink(directory / "folder", directory / "link");
  directory.write("folder/a", "behind a link");
  remove_files(directory / "link", names);
  EXPECT_EQ(text_of(directory / "folder/a"), "behind a link");
  std::filesystem::remove(directory / "folder/c");
  remove_files(directory / "folder", names);
  EXPECT_FALSE(std::filesystem::exists(directory / "folder"));
}

TEST(OutputFile, TakesRegularFilesOnly) {
  const ScratchDirectory directory;
  write_text(directory / "victim", "mine");
  std::filesystem::create_symlink(directory / "victim", directory / "link");
  EXPECT_REFUSED(OutputFile(directory / "link"), "is a link or a pipe");
  EXPECT_EQ(text_of(directory / "victim"), "mine");
  ASSERT_EQ(mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_REFUSED(OutputFile(directory / "pipe"), "is a link or a pipe");
  EXPECT_REFUSED(OutputFile("/dev/null"), "is no regular file");
}

}  // namespace
}  // namespace throughtime
