#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/byte_stream.h"
#include "data/numbers.h"

namespace throughtime {

/// Finite numbers (and NaN where gaps are kept) in C order, whatever order and type the file has.
struct NumberArray {
  std::vector<std::size_t> shape;  // empty: one number
  std::vector<float> values;
};

/// NumPy's array file, versions 1 to 3: reals of 4 and 8 bytes, whole numbers and truth values of any size.
NumberArray read_npy(const std::string& path, Gaps gaps = Gaps::refused);
NumberArray read_npy(ByteStream& stream, Gaps gaps = Gaps::refused);

/// What stands before the numbers of an array [rows, columns] of little-endian 64-bit floats in C order; an array
/// [rows] where `columns` is 1.
std::string npy_header(std::size_t rows, std::size_t columns);

/// The same where entries are names: texts of either kind (U, S), in UTF-8, or numbers as one writes them.
struct TextArray {
  std::vector<std::size_t> shape;
  std::vector<std::string> texts;
};
TextArray read_npy_texts(ByteStream& stream);

/// The array of that name in an archive written by numpy.savez or numpy.savez_compressed.
NumberArray read_npz(const std::string& path, const std::string& array_name, Gaps gaps = Gaps::refused);
NumberArray read_npz(ByteStream& stream, const std::string& array_name, Gaps gaps = Gaps::refused);
TextArray read_npz_texts(ByteStream& stream, const std::string& array_name);
/// The names of all its arrays.
std::vector<std::string> npz_names(ByteStream& stream);

}  // namespace throughtime
