#pragma once

#include <string>

#include "bench/measure.h"
#include "src/data/tables/row_format.h"

namespace throughtime::bench {

/// The whole way of rows through `throughtime stream`, a process of one thread: read, answered, learned from through
/// the last K with Adam and clipping, and written. Spelled out by its name: `stream-csv-lstm-b1-h32-k10`.
struct StreamCase {
  std::string name;
  RowFormat format = RowFormat::csv;
  std::string cell;
  int streams = 1;  // B: their rows come in turn
  int hidden = 0;   // H
  int window = 0;   // K
};

bool is_stream_case(const std::string& name);
/// Takes a name apart; refuses one that is not `stream-FORMAT-CELL-bB-hH-kK`.
StreamCase parse_stream_case(const std::string& name);

/// What the program reads for it.
std::string stream_config(const StreamCase& chosen, const std::string& engine);
/// A noisy wave.
std::string stream_rows(const StreamCase& chosen, int rows);

struct StreamResult {
  std::string name;
  double rows_per_second = 0;      // medians over rounds
  double rows_per_cpu_second = 0;  // by the processor time of the process, that of the system for it included
};

/// Runs `command` (the program) on a file of rows, with its answers to /dev/null, in rounds of a long and a short one:
/// the difference has no start and no end in it.
StreamResult run_stream_case(const std::string& name, const std::string& command, const std::string& engine,
                             const Effort& effort);

/// One JSON object on one line.
std::string json_line(const StreamResult& result);

}  // namespace throughtime::bench
