#include "train/stream/naive_watch.h"

#include <cmath>
#include <utility>

#include "throughtime/error.h"

namespace throughtime {

NaiveWatch::News NaiveWatch::add(double error, double naive) {
  ++open_.count;
  open_.error += error;
  open_.naive += naive;
  if (open_.count < window_) return News::none;
  const Sums window = open_;
  open_ = {};
  if (!(window.error > 1.1 * window.naive)) {
    stretch_ = {};
    return std::exchange(said_, 0) > 0 ? News::better : News::none;
  }
  stretch_.count += window.count;
  stretch_.error += window.error;
  stretch_.naive += window.naive;
  if (patience_ == 0 || stretch_.count < (said_ == 0 ? patience_ : 10 * said_)) return News::none;
  said_ = stretch_.count;
  return News::worse;
}

void NaiveWatch::archive(Archive& archive) {
  for (Sums* sums : {&open_, &stretch_}) {
    const Archive::Scope scope(archive, sums == &open_ ? "open" : "stretch");
    archive.integer("count", sums->count);
    archive.number("error", sums->error);
    archive.number("naive", sums->naive);
    if (sums->count < 0 || !std::isfinite(sums->error) || !std::isfinite(sums->naive))
      refuse("stream", "the saved errors hold a count of {} and sums of {} and {}", sums->count, sums->error,
             sums->naive);
  }
  archive.integer("said", said_);
}

}  // namespace throughtime
