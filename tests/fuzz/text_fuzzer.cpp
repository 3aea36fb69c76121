#include "data/text/text.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const int choice = data[0];
  TextOptions options{.unit = choice & 1 ? TokenUnit::characters : TokenUnit::words,
                      .end_of_line = choice & 2 ? "<eos>" : "",
                      .skip_empty_lines = (choice & 4) != 0,
                      .minimum_count = static_cast<std::size_t>(choice >> 3 & 3),
                      .order = choice & 32 ? TokenOrder::frequency : TokenOrder::appearance};
  return read_input(data + 1, size - 1, [&](ByteStream& stream) {
    TokenCounts counts;
    count_tokens(stream, options, counts);
    Vocabulary vocabulary = build_vocabulary(counts, options);
    const auto again = ByteStream::over(std::as_bytes(std::span(data + 1, size - 1)));
    require(encode_text(*again, options, vocabulary).size() == counts.total());
    const std::string text = vocabulary.text();
    require(Vocabulary::load(*ByteStream::over(std::as_bytes(std::span(text)))) == vocabulary);
  });
}
