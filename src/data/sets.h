#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/byte_stream.h"

namespace throughtime {

/// A file of a known data set. Size and MD5 are those of its unpacked bytes: under the data directory it may lie as it
/// is, or packed as `path.gz` or `path.xz`.
struct DataFile {
  std::string path;
  std::uint64_t bytes = 0;
  std::string md5;
};

struct DataSet {
  std::string name;
  std::string holds;
  std::string source;  // where to get it
  std::string licence;
  std::vector<DataFile> files;
};

const std::vector<DataSet>& all_data_sets();

/// The directory that the user gave (`--data`, or an option of a configuration), else $THROUGHTIME_DATA, else `data`.
std::string data_directory(const std::string& option);

/// Where a file lies under `directory`: `path`, `path.gz` or `path.xz`; empty where none of them does.
std::string find_data_file(const std::string& directory, const std::string& path);
/// As find_data_file, but refuses a missing file; for one of a known set the message says where to get it.
std::string require_data_file(const std::string& directory, const std::string& path);

enum class FileState { missing, damaged, good };
/// Compares the size and the MD5 of the unpacked bytes; `reason` says what is wrong with a damaged one.
FileState check_data_file(const std::string& directory, const DataFile& file, std::string& reason);

/// 32 hexadecimal digits of all that the stream still holds.
std::string md5_of(ByteStream& stream);

}  // namespace throughtime
