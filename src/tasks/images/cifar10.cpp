#include <fmt/format.h>

#include "data/arrays/cifar.h"
#include "data/sets.h"
#include "tasks/images/images.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

constexpr int image_pixels = 32 * 32, colours = 3;

void append_batch(const std::string& directory, const std::string& name, Images& images) {
  const CifarImages batch = read_cifar(require_data_file(directory, "cifar10/" + name + ".bin"));
  images.size = image_pixels * colours;
  images.pixels.insert(images.pixels.end(), batch.pixels.begin(), batch.pixels.end());
  images.labels.insert(images.labels.end(), batch.labels.begin(), batch.labels.end());
}

Images read_training(const std::string& directory) {
  Images images;
  for (int batch = 1; batch <= 5; ++batch) append_batch(directory, fmt::format("data_batch_{}", batch), images);
  return images;
}

Images read_test(const std::string& directory) {
  Images images;
  append_batch(directory, "test_batch", images);
  return images;
}

/// Photographs, one pixel of three colours per step, row by row.
class CifarSet final : public ImageSet {
 public:
  CifarSet(const Cifar10Config& config, const std::string& directory)
      : ImageSet({.task = "cifar10", .loss = config.loss, .validation = config.validation}, read_training(directory),
                 read_test(directory), colours, 0.5, 0.5) {
    // The files hold one plane per colour.
    for (std::uint32_t pixel = 0; pixel < image_pixels; ++pixel)
      for (std::uint32_t colour = 0; colour < colours; ++colour)
        order_[pixel * colours + colour] = colour * image_pixels + pixel;
  }
};

}  // namespace

void describe(Cifar10Config& config, OptionList& list) {
  describe_images(config.loss, config.validation, list);
  describe(config.layout, list);
}

std::unique_ptr<Task> make_task(const Cifar10Config& config, std::uint64_t seed) {
  return make_sequence_task("cifar10", config.layout, seed,
                            std::make_unique<CifarSet>(config, data_directory(config.data)));
}

HeldOut give_back(Cifar10Config& config) {
  config.validation = 0;
  return HeldOut::given_back;
}

}  // namespace throughtime
