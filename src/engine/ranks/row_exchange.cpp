#include "engine/ranks/row_exchange.h"
#include "throughtime/index.h"

#include <algorithm>
#include <bit>

namespace throughtime {

void RowExchange::share(Buffer buffer, int width, std::span<const std::int64_t> rows, std::span<const int> owners) {
  if (rows.empty()) return;
  const std::size_t size = rows.size() * elements(width);
  const std::size_t many = std::bit_ceil(rows.size());
  Buffer& room = rooms_[{many, width}];
  if (!room) room = inner_.allocate(many * elements(width));
  values_.resize(room.size);
  inner_.gather_rows(buffer, width, rows, room);
  inner_.read(room, values_);
  share(std::span(values_).first(size), width, owners);
  inner_.write(room, values_);
  inner_.scatter_rows(room, width, rows, buffer);
}

void RowExchange::share(std::span<double> values, int width, std::span<const int> owners) {
  const auto numbers = elements(width), ranks = elements(ranks_.ranks());
  const auto row_of = [&](std::size_t row) { return values.subspan(row * numbers, numbers); };
  counts_.assign(ranks, 0);
  mine_.clear();
  for (std::size_t row = 0; row < owners.size(); ++row) {
    counts_[owners[row]] += width;
    if (owners[row] == ranks_.rank()) mine_.insert(mine_.end(), row_of(row).begin(), row_of(row).end());
  }
  all_.resize(values.size());
  ranks_.all_gather(mine_, counts_, all_);
  taken_.assign(ranks, 0);
  for (std::size_t rank = 1; rank < ranks; ++rank) taken_[rank] = taken_[rank - 1] + counts_[rank - 1];
  for (std::size_t row = 0; row < owners.size(); ++row) {
    int& from = taken_[owners[row]];
    std::copy_n(all_.begin() + from, numbers, row_of(row).begin());
    from += width;
  }
}

}  // namespace throughtime
