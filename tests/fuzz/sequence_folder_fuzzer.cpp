#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "data/tables/labelled_sequences.h"
#include "input.h"

using namespace throughtime;

namespace {

/// A folder of this process, emptied for each input.
const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    const std::filesystem::path made =
        std::filesystem::temp_directory_path() / ("throughtime-fuzz-" + std::to_string(getpid()));
    std::atexit([] {
      std::error_code ignored;
      std::filesystem::remove_all(folder(), ignored);
    });
    return made;
  }();
  return path;
}

void write(const std::string& name, std::string_view text) { std::ofstream(folder() / name, std::ios::binary) << text; }

/// The table, then the files: parts of the input. Byte 28 ends one, and the byte behind it says which file comes next.
void write_folder(std::string_view bytes) {
  static const char* const names[] = {"labels.csv", "a.csv", "b.csv", "a.npy", "c.npy", "d.wav", "e.tsv", "f.txt"};
  std::filesystem::remove_all(folder());
  std::filesystem::create_directories(folder());
  std::size_t next = 0;
  for (std::size_t at = 0; at <= bytes.size();) {
    std::size_t end = at;
    while (end < bytes.size() && !(bytes[end] == '\x1c' && end + 1 < bytes.size())) ++end;
    write(names[next], bytes.substr(at, end - at));
    if (end >= bytes.size()) break;
    next = static_cast<unsigned char>(bytes[end + 1]) % std::size(names);
    at = end + 2;
  }
}

void check(const LabelledSequences& read) {
  require(read.size() > 0 && read.begins.size() == read.size() + 1 && !read.columns.empty());
  require(read.values.size() == read.begins.back() * read.columns.size());
  for (std::size_t i = 0; i < read.size(); ++i) require(read.steps(i) > 0);
}

}  // namespace

/// A folder of sequences and its table of labels.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  write_folder({reinterpret_cast<const char*>(data), size});
  for (const bool labelled : {true, false}) try {
      SequenceFileOptions options;
      options.labelled = labelled;
      const LabelledSequences read = read_sequence_folder(folder().string(), options);
      check(read);
      require(read.targets.size() == (labelled ? read.size() : 0));
      // The columns by their names are the same ones, and each of them alone is one.
      options.inputs = read.columns;
      require(read_sequence_folder(folder().string(), options).values == read.values);
      options.inputs = {read.columns.back()};
      const LabelledSequences one = read_sequence_folder(folder().string(), options);
      check(one);
      require(one.begins == read.begins);
    } catch (const InvalidInput&) {
    }
  return 0;
}
