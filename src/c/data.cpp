#include "c/data.h"

#include <cmath>

#include "throughtime/index.h"

namespace throughtime::c {

std::shared_ptr<const ArrayData> arrays_of(std::int64_t handle) {
  const Use<DataObject> data(handle);
  return std::make_shared<ArrayData>(data->arrays);
}

void require_fit(const ArrayData& arrays, int reals, int vocabulary, int outputs, bool labels) {
  if (arrays.reals != reals)
    refuse("c", "the model reads {} numbers at each step, the data has {}", reals, arrays.reals);
  if (arrays.vocabulary != vocabulary)
    refuse("c", "the model knows {} tokens, the data has {}", vocabulary, arrays.vocabulary);
  if (arrays.outputs != outputs || arrays.labels != labels)
    refuse("c", "the model predicts {} {}, the data has {} {}", outputs, labels ? "classes" : "numbers", arrays.outputs,
           arrays.labels ? "classes" : "numbers");
}

void require_inputs(const ArrayData& arrays, std::span<const Source> sequences) {
  for (std::size_t number = 0; number < sequences.size(); ++number) {
    const Source& source = sequences[number];
    for (std::size_t i = 0; i < source.values.size(); ++i)
      if (!std::isfinite(source.values[i]))
        refuse("arrays", "sequence {}: inputs must be finite numbers, got {} at step {}, column {}", number,
               source.values[i], i / elements(arrays.reals), i % elements(arrays.reals));
    for (std::size_t step = 0; step < source.tokens.size(); ++step)
      if (source.tokens[step] < 0 || source.tokens[step] >= arrays.vocabulary)
        refuse("arrays", "sequence {}: a token must be between 0 and {}, got {} at step {}", number,
               arrays.vocabulary - 1, source.tokens[step], step);
  }
}

std::size_t part_number(std::int32_t part) {
  require_range("c", "part", part, 0, 2);
  return static_cast<std::size_t>(part);
}

namespace {

void add_sequence(ArrayData& arrays, std::size_t part, const Source& source, const float* weights) {
  ArrayPart& to = arrays.parts[part];
  if (!to.sequences.empty() && (weights != nullptr) != !to.weights.empty())
    refuse("c", "all sequences of a part have weights, or none of them");
  to.sequences.push_back(source);
  if (weights != nullptr) to.weights.emplace_back(weights, source.steps);
}

}  // namespace
}  // namespace throughtime::c

using namespace throughtime;
using namespace throughtime::c;

extern "C" {

int tt_data_new(int32_t reals, int32_t vocabulary, int32_t outputs, int32_t labels, int32_t one_target,
                int32_t recording, int64_t* data) {
  return guarded([&] {
    require(data, "data");
    require_range("c", "reals", reals, 0, 1 << 24);
    require_range("c", "vocabulary", vocabulary, 0, 1 << 24);
    require_range("c", "outputs", outputs, 1, 1 << 24);
    auto object = std::make_shared<DataObject>();
    object->arrays.reals = reals;
    object->arrays.vocabulary = vocabulary;
    object->arrays.outputs = outputs;
    object->arrays.labels = labels != 0;
    object->arrays.one_target = one_target != 0;
    object->arrays.recording = recording != 0;
    *data = keep(object);
  });
}

int tt_data_add(int64_t data, int32_t part, int64_t steps, const float* inputs, const int32_t* tokens,
                const int32_t* labels, const float* targets, const float* weights) {
  return guarded([&] {
    const Use<DataObject> object(data);
    ArrayData& arrays = object->arrays;
    const std::size_t to = part_number(part);
    if (steps < 1) refuse("c", "a sequence must have at least 1 step, got {}", steps);
    const auto length = elements(steps);
    Source source{.steps = length, .reals = arrays.reals, .target_width = arrays.labels ? 0 : arrays.outputs};
    if (arrays.reals > 0) source.values = {require(inputs, "inputs"), length * elements(arrays.reals)};
    if (arrays.vocabulary > 0) source.tokens = {require(tokens, "tokens"), length};
    const std::size_t count = arrays.one_target ? 1 : length;
    if (arrays.labels && labels != nullptr) source.labels = {labels, count};
    if (!arrays.labels && targets != nullptr) source.target_values = {targets, count * elements(arrays.outputs)};
    add_sequence(arrays, to, source, weights);
  });
}
}
