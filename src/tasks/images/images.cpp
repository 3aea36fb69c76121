#include "tasks/images/images.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {

constexpr int image_classes = 10;

ImageSet::ImageSet(const ImageOptions& options, Images train, Images test, int reals, double mean, double deviation)
    : order_(train.size), train_(std::move(train)), test_(std::move(test)) {
  if (!(options.validation >= 0 && options.validation < 1))
    refuse(options.task, "task.{}.validation must be a share from 0 up to 1, excluding 1, got {}", options.task,
           options.validation);
  const auto labels = static_cast<double>(train_.labels.size());
  held_out_ = std::min<std::int64_t>(std::llround(options.validation * labels),
                                     static_cast<std::int64_t>(train_.labels.size()) - 1);
  std::iota(order_.begin(), order_.end(), 0u);
  for (int byte = 0; byte < 256; ++byte) number_of_[byte] = static_cast<float>((byte / 255.0 - mean) / deviation);
  const int length = static_cast<int>(train_.size) / reals;
  shape_ = {.length = length,
            .input = {.reals = reals},
            .head = {.name = "softmax", .outputs = image_classes},
            .labels = true,
            .one_target = true,
            .first_loss = options.loss == LossSteps::every ? 0 : length - 1};
}

double ImageSet::baseline_of(Split split) const {
  std::array<std::int64_t, 256> counts = {};
  for (const std::uint8_t label : train_.labels) ++counts[label];
  const auto favourite = static_cast<std::uint8_t>(std::ranges::max_element(counts) - counts.begin());
  std::span<const std::uint8_t> labels = split == Split::test ? test_.labels : train_.labels;
  if (split == Split::train) labels = labels.first(elements(size(Split::train)));
  if (split == Split::validation) labels = labels.last(elements(held_out_));
  return static_cast<double>(std::ranges::count(labels, favourite)) / static_cast<double>(labels.size());
}

std::int64_t ImageSet::size(Split split) const {
  if (split == Split::test) return static_cast<std::int64_t>(test_.labels.size());
  const auto all = static_cast<std::int64_t>(train_.labels.size());
  return split == Split::validation ? held_out_ : all - held_out_;
}

void ImageSet::write(Split split, std::uint64_t number, int, const SequenceSpan& out) const {
  const Images& images = split == Split::test ? test_ : train_;
  const auto first = split == Split::validation ? static_cast<std::uint64_t>(size(Split::train)) : 0;
  const std::uint8_t* image = images.pixels.data() + (first + number) * images.size;
  for (std::size_t i = 0; i < order_.size(); ++i) out.values[i] = number_of_[image[order_[i]]];
  out.labels[0] = images.labels[first + number];
}

void describe_images(LossSteps& loss, double& validation, OptionList& list) {
  list.add("loss", loss, "the steps with a loss: the last one, or every one");
  list.add("validation", validation, "share of the training images that is held out for validation", below_one(0));
}

}  // namespace throughtime
