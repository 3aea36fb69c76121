#include "data/text/vocabulary.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return read_input(data, size, [](ByteStream& stream) {
    const Vocabulary vocabulary = Vocabulary::load(stream);
    const std::string text = vocabulary.text();
    require(Vocabulary::load(*ByteStream::over(std::as_bytes(std::span(text)))) == vocabulary);
  });
}
