#include <utility>

#include "data/tables/row_feed.h"
#include "data/tables/row_parser.h"
#include "input.h"

using namespace throughtime;

/// Every format of a live stream; the bytes come in two pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const RowFormat format : {RowFormat::csv, RowFormat::jsonl, RowFormat::raw}) {
    const bool raw = format == RowFormat::raw;
    const std::string x = raw ? "0" : "x", y = raw ? "1" : "y";
    RowParser parser({.format = format, .channels = 3, .id = raw ? "2" : "id", .inputs = {x}, .targets = {y, x}});
    RecordCutter cutter(parser.block());
    StreamRow row;
    bool first = true;
    for (const std::string_view piece : {bytes.substr(0, size / 3), bytes.substr(size / 3)}) {
      cutter.bytes() += piece;
      std::string_view record;
      for (bool overlong = false; cutter.next(record, overlong);) {
        try {
          if (std::exchange(first, false) && parser.take_header(record)) continue;
          if (!raw && parser.columns().empty() && format == RowFormat::csv) continue;
          parser.parse(record, row);
          require(row.ends || row.inputs.size() == 1);
          require(!row.has_targets || (row.targets.size() == 2 && row.targets[1] == row.inputs[0]));
        } catch (const InvalidInput&) {
        }
      }
    }
  }
  return 0;
}
