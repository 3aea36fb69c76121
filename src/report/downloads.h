#pragma once

#include <string>
#include <vector>

#include "report/charts/chart.h"
#include "report/groups.h"

namespace throughtime {

/// One row for each run with what its result says.
std::string csv_of(const std::vector<RunGroup>& groups);

/// Curves with more points than this are thinned to every n-th point in a page's data.
inline constexpr std::size_t most_csv_points = 5000;
/// What a chart shows: a row for each point of each curve, with the edges of its band, for each reference line and for
/// each place that validation chose. `every`: the n of the thinned curves, else 1.
std::string csv_of(const Chart& chart, std::size_t* every = nullptr);

/// A link that saves the text as a file of that name; the text is in the link.
std::string download_link(const std::string& text, const std::string& file, const std::string& words);

}  // namespace throughtime
