#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "support/scratch.h"

namespace throughtime {
namespace {

/// The `data` command with a data directory of its own.
class DataCommand : public ::testing::Test {
 protected:
  /// Runs `ENVIRONMENT throughtime data ARGUMENTS`; returns the exit code.
  int run(const std::string& arguments, const std::string& environment = "THROUGHTIME_DATA=") {
    const std::string out = (directory_ / "out").string(), err = (directory_ / "err").string();
    const int status = std::system(
        (environment + " " + THROUGHTIME_COMMAND + " data " + arguments + " >" + out + " 2>" + err).c_str());
    out_ = testing::text_of(out);
    err_ = testing::text_of(err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Puts a file into the data directory.
  void add_file(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((data() / name).parent_path());
    testing::write_text(data() / name, text);
  }

  std::filesystem::path data() const { return directory_.path() / "data"; }

  testing::ScratchDirectory directory_;
  std::string out_, err_;
};

TEST_F(DataCommand, ListsWhatIsThereAndWhereToGetTheRest) {
  add_file("ptb/ptb.train.txt", "x");
  EXPECT_EQ(run("list " + data().string()), 0) << err_;
  EXPECT_NE(out_.find("1 of 3"), std::string::npos) << out_;
  EXPECT_NE(out_.find("github.com/"), std::string::npos) << out_;
  EXPECT_EQ(err_, "");
}

TEST_F(DataCommand, TakesTheDirectoryFromOptionOrVariable) {
  add_file("ptb/ptb.train.txt", "x");
  const auto present = [this] {
    const nlohmann::json listing = nlohmann::json::parse(out_);
    for (const nlohmann::json& set : listing.at("sets"))
      if (set.at("name") == "ptb") return set.at("present").get<int>();
    return -1;
  };
  EXPECT_EQ(run("list --json --data " + data().string()), 0);
  EXPECT_EQ(present(), 1);
  EXPECT_EQ(run("list --json", "THROUGHTIME_DATA=" + data().string()), 0);
  EXPECT_EQ(present(), 1);
  EXPECT_EQ(run("list no/such/directory"), 2);
  EXPECT_NE(err_.find("no/such/directory is no directory"), std::string::npos) << err_;
}

TEST_F(DataCommand, CheckFailsForADamagedFileOnly) {
  add_file("other/file", "x");
  EXPECT_EQ(run("check " + data().string()), 0) << err_;
  EXPECT_NE(out_.find("0 good"), std::string::npos) << out_;
  add_file("ptb/ptb.train.txt", "x");
  EXPECT_EQ(run("check " + data().string()), 1);
  EXPECT_NE(out_.find("1 bytes instead of 5101618"), std::string::npos) << out_;
  EXPECT_NE(err_.find("1 file in "), std::string::npos) << err_;
}

}  // namespace
}  // namespace throughtime
