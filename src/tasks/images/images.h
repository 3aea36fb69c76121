#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/sequences/sequence_set.h"

namespace throughtime {

/// Labelled images of bytes. What a model sees at step t are `reals` bytes of the image, at order[t * reals] and on.
struct Images {
  std::vector<std::uint8_t> pixels;  // [n, size]
  std::vector<std::uint8_t> labels;  // [n]
  std::size_t size = 0;
};

/// What all tasks of images are told.
struct ImageOptions {
  std::string_view task;
  LossSteps loss;
  double validation;  // share of the training images held out
};

/// Images shown a few bytes per step, one class per image. The validation split is the end of the training images.
class ImageSet : public SequenceSet {
 public:
  /// `reals` bytes per step; a byte x enters as (x / 255 - mean) / deviation.
  ImageSet(const ImageOptions& options, Images train, Images test, int reals, double mean, double deviation);

  const SequenceShape& shape() const override { return shape_; }
  std::vector<Metric> metrics() const override { return {Metric::accuracy, Metric::cross_entropy}; }
  double baseline() const override { return baseline_of(Split::test); }
  double baseline_of(Split split) const override;
  std::string baseline_text() const override { return "the most frequent class"; }
  bool endless() const override { return false; }
  std::int64_t size(Split split) const override;
  void write(Split split, std::uint64_t number, int row, const SequenceSpan& out) const override;

 protected:
  std::vector<std::uint32_t> order_;  // [size]: which byte of the image is shown when

 private:
  Images train_, test_;
  std::int64_t held_out_;             // training images of the validation split
  std::array<float, 256> number_of_;  // what a byte enters as
  SequenceShape shape_;
};

/// The options that they share.
void describe_images(LossSteps& loss, double& validation, OptionList& list);

}  // namespace throughtime
