#include "train/stream/first_scales.h"

#include <algorithm>

#include "tasks/series/standardisation.h"
#include "train/run/session.h"
#include "train/stream/forecaster.h"

namespace throughtime {
namespace {

/// None where the columns are others, or where one of the two predicts changes and the other does not.
std::vector<FirstScale> scales_of(const std::vector<ColumnScale>& scales, const std::vector<std::string>& columns,
                                  bool changes) {
  std::vector<FirstScale> first;
  for (const ColumnScale& scale : scales) {
    if (first.size() == columns.size() || scale.column != columns[first.size()]) return {};
    if (changes == scale.change_of.empty()) return {};
    first.push_back({scale.mean, scale.deviation});
  }
  return first.size() == columns.size() ? first : std::vector<FirstScale>();
}

FirstScales of_recording(const std::string& saved_task, const RowLayout& layout, bool difference) {
  const Standardisation saved = Standardisation::load(saved_task);
  return {scales_of(saved.inputs, layout.inputs, false), scales_of(saved.targets, layout.targets, difference)};
}

std::vector<FirstScale> scales_of(const TensorFile& checkpoint, const char* name, std::size_t columns) {
  RunningScales scales(columns, {});
  LoadingArchive archive(checkpoint);
  const Archive::Scope stream(archive, "stream"), part(archive, name);
  scales.archive(archive);
  std::vector<FirstScale> first;
  for (std::size_t column = 0; column < columns; ++column)
    first.push_back({scales.mean(column), scales.deviation(column)});
  return first;
}

FirstScales of_stream(const std::filesystem::path& run, const RunConfig& theirs, const RowLayout& layout,
                      bool difference) {
  const RowLayout other = row_layout(theirs);
  const TensorFile checkpoint = load_checkpoint(run, false);
  FirstScales first;
  if (other.inputs == layout.inputs) first.inputs = scales_of(checkpoint, "input_scales", layout.inputs.size());
  if (other.targets == layout.targets && theirs.stream.difference == difference)
    first.targets = scales_of(checkpoint, "target_scales", layout.targets.size());
  return first;
}

}  // namespace

FirstScales first_scales(const Origin& origin, const std::filesystem::path& run, const RunConfig& stream) {
  const RunConfig& theirs = origin.config();
  if (theirs.task.name != stream.task.name || !theirs.task.series.standardise || !stream.task.series.standardise)
    return {};
  const RowLayout layout = row_layout(stream);
  return origin.is_stream() ? of_stream(run, theirs, layout, stream.stream.difference)
                            : of_recording(origin.saved_task(), layout, stream.stream.difference);
}

}  // namespace throughtime
