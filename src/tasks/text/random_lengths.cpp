#include "tasks/text/random_lengths.h"

#include <algorithm>

#include "throughtime/error.h"
#include "throughtime/index.h"

namespace throughtime {
namespace {

constexpr double share_of_usual = 0.95;
constexpr double deviation = 5;

}  // namespace

RandomLengths::RandomLengths(std::uint64_t seed, int usual, int longest)
    : random_(seed, Purpose::lengths), usual_(usual), longest_(longest) {
  if (longest < shortest)
    refuse("text",
           "task.text.length_varies draws lengths of at least {} steps, the longest window (task.text.length + "
           "length_cap) has {}; make it longer",
           shortest, longest);
}

int RandomLengths::draw(std::int64_t epoch, std::size_t window) const {
  const auto counter = static_cast<std::uint64_t>(epoch);
  const double mean = random_.uniform(counter, 0, 2 * window) < share_of_usual ? usual_ : usual_ / 2.0;
  const double length = mean + deviation * random_.normal(counter, 0, 2 * window + 1);
  return std::clamp(static_cast<int>(length), shortest, longest_);
}

void RandomLengths::begin(std::int64_t row_steps) {
  if (row_steps == row_steps_) return;
  row_steps_ = row_steps;
  open_ = -1;
  ends_.clear();
  firsts_.clear();
  firsts_.reserve(static_cast<std::size_t>(row_steps / shortest) + 2);
}

void RandomLengths::open(std::int64_t epoch) {
  if (open_ == epoch) return;
  open_ = epoch;
  firsts_.assign(1, 0);
  while (firsts_.back() < row_steps_)
    firsts_.push_back(std::min(row_steps_, firsts_.back() + draw(epoch, firsts_.size() - 1)));
}

std::int64_t RandomLengths::batches(std::int64_t epochs, std::int64_t row_steps) {
  begin(row_steps);
  if (epochs <= 0 || row_steps <= 0) return 0;
  while (ends_.size() < elements(epochs)) {
    open(static_cast<std::int64_t>(ends_.size()));
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + static_cast<std::int64_t>(firsts_.size()) - 1);
  }
  return ends_[elements(epochs) - 1];
}

RandomLengths::Place RandomLengths::at(std::uint64_t iteration, std::int64_t row_steps) {
  const auto number = static_cast<std::int64_t>(iteration);
  begin(row_steps);
  std::int64_t epoch = open_ < 0 ? 0 : open_;
  while (epoch > 0 && batches(epoch, row_steps) > number) --epoch;
  while (batches(epoch + 1, row_steps) <= number) ++epoch;
  open(epoch);
  const std::size_t window = elements(number - batches(epoch, row_steps));
  return {firsts_[window], static_cast<int>(firsts_[window + 1] - firsts_[window])};
}

}  // namespace throughtime
