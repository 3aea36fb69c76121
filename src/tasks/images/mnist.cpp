#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "core/files.h"
#include "data/arrays/idx.h"
#include "data/sets.h"
#include "tasks/images/images.h"
#include "tasks/shared_options.h"
#include "throughtime/error.h"
#include "throughtime/options.h"
#include "throughtime/random.h"

namespace throughtime {
namespace {

constexpr int side = 28;
constexpr const char* permutation_file = "permutation.txt";

Images read_images(const std::string& directory, const std::string& prefix) {
  const std::string images_path = require_data_file(directory, "mnist/" + prefix + "-images-idx3-ubyte");
  const std::string labels_path = require_data_file(directory, "mnist/" + prefix + "-labels-idx1-ubyte");
  IdxArray images = read_idx(images_path);
  IdxArray labels = read_idx(labels_path);
  if (images.shape.size() != 3 || images.shape[1] != side || images.shape[2] != side || images.shape[0] < 1)
    refuse("mnist", "{} must hold images of {} x {} bytes", images_path, side, side);
  if (labels.shape.size() != 1 || labels.shape[0] != images.shape[0])
    refuse("mnist", "{} must hold one label for each of the {} images", labels_path, images.shape[0]);
  for (const std::uint8_t label : labels.values)
    if (label > 9) refuse("mnist", "{}: a label must be between 0 and 9, got {}", labels_path, label);
  return {.pixels = std::move(images.values), .labels = std::move(labels.values), .size = side * side};
}

/// Digits, a pixel or a row of pixels per step. Standardised with the mean and deviation of all training pixels.
class MnistSet final : public ImageSet {
 public:
  MnistSet(const MnistConfig& config, const std::string& directory)
      : ImageSet({.task = "mnist", .loss = config.loss, .validation = config.validation},
                 read_images(directory, "train"), read_images(directory, "t10k"),
                 config.order == PixelOrder::rows ? side : 1, 0.1307, 0.3081),
        permuted_(config.order == PixelOrder::permuted) {
    if (permuted_) permute(config.permutation);
  }

  void save(const std::string& directory) const override {
    if (!permuted_) return;
    replace_file(std::filesystem::path(directory) / permutation_file, fmt::format("{}\n", fmt::join(order_, "\n")));
  }

  void load(const std::string& directory) override {
    if (!permuted_) return;
    const std::filesystem::path path = std::filesystem::path(directory) / permutation_file;
    std::ifstream file(path);
    std::vector<std::uint32_t> order;
    std::vector<bool> seen(order_.size());
    for (std::uint32_t pixel = 0; file >> pixel;) {
      if (pixel >= seen.size() || seen[pixel]) break;
      seen[pixel] = true;
      order.push_back(pixel);
    }
    if (order.size() != order_.size() || !(file >> std::ws).eof())
      refuse("mnist", "{} must hold each of the numbers 0 to {} once", path.string(), order_.size() - 1);
    order_ = std::move(order);
  }

 private:
  void permute(std::uint64_t seed) {
    const Random random(seed, Purpose::shuffle);
    constexpr std::uint64_t of_pixels = std::uint64_t{1} << 47;  // no pass over examples has this number
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i, of_pixels, 0, i)]);
  }

  bool permuted_;
};

}  // namespace

void describe(MnistConfig& config, OptionList& list) {
  list.add("order", config.order,
           "a step shows one pixel, one pixel in a shuffled order (permuted), or one row of the image");
  list.add("permutation", config.permutation, "order = permuted: seed of the permutation", at_least(0));
  describe_images(config.loss, config.validation, list);
  describe(config.layout, list);
}

std::unique_ptr<Task> make_task(const MnistConfig& config, std::uint64_t seed) {
  return make_sequence_task("mnist", config.layout, seed,
                            std::make_unique<MnistSet>(config, data_directory(config.data)));
}

HeldOut give_back(MnistConfig& config) {
  config.validation = 0;
  return HeldOut::given_back;
}

}  // namespace throughtime
