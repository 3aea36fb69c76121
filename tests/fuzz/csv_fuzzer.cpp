#include "data/tables/csv.h"
#include "input.h"

using namespace throughtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto check = [](ByteStream& stream, const CsvOptions& options) {
    const CsvTable table = read_csv(stream, options);
    require(table.rows > 0 && table.values.size() == table.rows * table.columns.size());
  };
  read_input(data, size, [&](ByteStream& stream) { check(stream, {}); });
  read_input(data, size, [&](ByteStream& stream) { check(stream, {.missing = true}); });
  return read_input(data, size, [&](ByteStream& stream) {
    check(stream, {.delimiter = ';', .header = HeaderLine::no, .columns = {"1", "0"}});
  });
}
