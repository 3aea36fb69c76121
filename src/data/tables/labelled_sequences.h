#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// Separate sequences, laid end to end, each with its targets. A sequence has at least one step.
struct LabelledSequences {
  std::vector<std::string> columns;        // of a step; numbers from 0 where the file names none
  std::vector<std::string> ids;            // [sequences], each another one
  std::vector<std::size_t> begins = {0};   // [sequences + 1]: the first step of each, and the end
  std::vector<float> values;               // [steps, columns]
  std::vector<std::string> target_names;   // [width]
  std::vector<std::string> targets;        // [sequences, width], as texts: names of classes, or numbers
  std::vector<std::string> left_out = {};  // a text about each column or file that is not used

  std::size_t size() const { return ids.size(); }
  std::size_t steps(std::size_t sequence) const { return begins[sequence + 1] - begins[sequence]; }
};

struct SequenceFileOptions {
  char delimiter = ',';
  std::string id = {};                    // the column that tells sequences apart; empty: id, in a folder's table file
  std::vector<std::string> inputs = {};   // columns of a step; none: all that hold numbers and have no other use
  std::vector<std::string> targets = {};  // columns of the targets; none: label
  std::string table = {};                 // of a folder: its table of targets; empty: labels.csv in it
  bool labelled = true;                   // false: targets are not needed and not read

  std::string id_column(bool folder) const { return !id.empty() ? id : folder ? "file" : "id"; }
  std::vector<std::string> target_columns() const {
    return targets.empty() ? std::vector<std::string>{"label"} : targets;
  }
};

/// Of a folder, a file that ends in .npz, or else of a CSV file (.tsv: with tabs).
LabelledSequences read_sequences(const std::string& path, const SequenceFileOptions& options);

// What is wrong in a file is refused with its place and with what would be right.

/// CSV with a header: a row for each step, in order; rows of several sequences may be mixed. A sequence has the same
/// targets in all its rows.
LabelledSequences read_sequence_rows(ByteStream& stream, const SequenceFileOptions& options);

/// NumPy's archive of `x` [N, T] or [N, T, D], `y` [N] or [N, width] (numbers or texts), and perhaps `lengths` [N]:
/// steps of each sequence, what follows them in x is not read. `open` begins the file anew.
LabelledSequences read_sequence_archive(const std::function<std::unique_ptr<ByteStream>()>& open,
                                        const SequenceFileOptions& options);

/// A file for each sequence (.csv, .tsv, .txt, .npy, .wav), and a table that gives each its targets. Without targets
/// the table is not needed: then it is all files of the folder, by name.
LabelledSequences read_sequence_folder(const std::string& folder, const SequenceFileOptions& options);

/// The table of a folder: CSV with a header, a row for each sequence. Only ids and targets are filled.
LabelledSequences read_target_table(ByteStream& stream, const SequenceFileOptions& options);

}  // namespace throughtime
