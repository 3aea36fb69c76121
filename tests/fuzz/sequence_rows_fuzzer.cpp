#include "data/tables/labelled_sequences.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_input(data, size, [](ByteStream& stream) {
    const LabelledSequences read = read_sequence_rows(stream, {});
    require(read.size() > 0 && read.begins.size() == read.size() + 1 && read.targets.size() == read.size());
    require(read.values.size() == read.begins.back() * read.columns.size());
    for (std::size_t i = 0; i < read.size(); ++i) require(read.steps(i) > 0);
  });
  return read_input(data, size, [](ByteStream& stream) {
    const LabelledSequences read = read_target_table(stream, {});
    require(read.size() > 0 && read.targets.size() == read.size());
  });
}
