#include <span>

#include "data/tables/labelled_sequences.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [&](ByteStream&) {
    const auto open = [&] { return ByteStream::over(std::as_bytes(std::span(data, size)), "input"); };
    const LabelledSequences read = read_sequence_archive(open, {});
    require(read.size() > 0 && read.begins.size() == read.size() + 1);
    require(read.targets.size() == read.size() * read.target_names.size());
    require(read.values.size() == read.begins.back() * read.columns.size());
    for (std::size_t i = 0; i < read.size(); ++i) require(read.steps(i) > 0);
  });
}
