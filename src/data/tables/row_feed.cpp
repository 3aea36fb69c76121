#include "data/tables/row_feed.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr std::size_t block_size = 1 << 16;
constexpr int look_again = 20;  // milliseconds between looks at the end of a file that may grow

}  // namespace

RowFeed::RowFeed(std::string path, bool follow) : path_(std::move(path)), follow_(follow), block_(block_size) {
  if (path_ == "-") {
    path_ = "stdin";
    descriptor_ = STDIN_FILENO;
  } else {
    open();
  }
}

RowFeed::~RowFeed() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

void RowFeed::open() {
  struct stat status;
  if (::stat(path_.c_str(), &status) != 0) refuse("stream", "cannot read {}: {}", path_, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) refuse("stream", "cannot read {}: it is a directory", path_);
  kind_ = S_ISREG(status.st_mode) ? Kind::file : S_ISFIFO(status.st_mode) ? Kind::named_pipe : Kind::pipe;
  // A named pipe is opened without waiting for its writer: signals must get through meanwhile.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | (kind_ == Kind::named_pipe ? O_NONBLOCK : 0));
  if (descriptor_ < 0) refuse("stream", "cannot read {}: {}", path_, std::strerror(errno));
}

RowFeed::State RowFeed::read(std::string& into, int milliseconds) {
  struct pollfd waiting = {descriptor_, POLLIN, 0};
  const int ready = ::poll(&waiting, 1, milliseconds);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return State::nothing_yet;
  const ssize_t count = ::read(descriptor_, block_.data(), block_.size());
  if (count > 0) {
    into.append(block_.data(), elements(count));
    taken_ += count;
    return State::bytes;
  }
  if (count == 0) return at_end(milliseconds);
  if (errno == EINTR || errno == EAGAIN) return State::nothing_yet;
  fail("stream", "{} cannot be read: {}", path_, std::strerror(errno));
}

RowFeed::State RowFeed::at_end(int milliseconds) {
  if (!follow_ || kind_ == Kind::pipe) return State::end;
  if (kind_ == Kind::named_pipe) {  // the next writer needs a reader that has not seen the end
    ::close(descriptor_);
    open();
  }
  if (kind_ == Kind::file && replaced()) {
    ::close(descriptor_);
    open();
    taken_ = 0;
    return State::begins_again;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(std::min(milliseconds, look_again)));
  return State::nothing_yet;
}

/// Whether the name belongs to another file by now, or the file is shorter than what was taken from it. A name that is
/// free (moved away, not made again yet) is waited for.
bool RowFeed::replaced() const {
  struct stat named, held;
  if (::stat(path_.c_str(), &named) != 0 || ::fstat(descriptor_, &held) != 0) return false;
  return named.st_dev != held.st_dev || named.st_ino != held.st_ino || held.st_size < taken_;
}

std::string& RecordCutter::bytes() {
  text_.erase(0, at_);
  looked_at_ -= std::min(looked_at_, at_);
  at_ = 0;
  return text_;
}

bool RecordCutter::next(std::string_view& record, bool& overlong) {
  overlong = false;
  if (block_ > 0) {
    if (text_.size() - at_ < block_) return false;
    record = std::string_view(text_).substr(at_, block_);
    at_ += block_;
    return true;
  }
  const std::size_t end = text_.find('\n', std::max(at_, looked_at_));
  if (end == std::string::npos) {
    looked_at_ = text_.size();
    if (text_.size() - at_ > longest_line) {
      dropping_ = true;
      at_ = text_.size();
    }
    return false;
  }
  record = std::string_view(text_).substr(at_, end - at_);
  if (!record.empty() && record.back() == '\r') record.remove_suffix(1);
  at_ = looked_at_ = end + 1;
  overlong = dropping_;
  dropping_ = false;
  return true;
}

}  // namespace throughtime
