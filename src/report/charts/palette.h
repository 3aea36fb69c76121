#pragma once

#include <array>
#include <cstddef>

namespace throughtime {

/// One colour of a curve, as a picture and as a terminal with 256 colours show it.
struct CurveColour {
  const char* hex;
  int terminal;
};

/// The colours of Okabe and Ito without black and yellow: people with any colour vision tell them apart, and all of
/// them can be seen on white and on black.
inline constexpr std::array<CurveColour, 6> palette = {
    {{"#0072B2", 32}, {"#D55E00", 166}, {"#009E73", 36}, {"#CC79A7", 175}, {"#E69F00", 214}, {"#56B4E9", 117}}};

}  // namespace throughtime
