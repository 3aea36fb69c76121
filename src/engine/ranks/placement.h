#pragma once

namespace throughtime {

/// Where the numbers of a buffer are, when several ranks train one model.
struct Placement {
  enum class Kind {
    whole,  // every rank has all of them: parameters, moments
    rows,   // every rank has those of its rows: states, predictions
    parts,  // every rank has a summand of them: gradients, sums of losses
  };
  Kind kind = Kind::whole;
  int batch = 0;  // rows: [..., batch, width]
  int width = 0;

  bool operator==(const Placement&) const = default;
  bool whole() const { return kind == Kind::whole; }
  bool by_rows() const { return kind == Kind::rows; }
  bool in_parts() const { return kind == Kind::parts; }
  static Placement of_rows(int batch, int width) { return {Kind::rows, batch, width}; }
  static Placement of_parts() { return {Kind::parts, 0, 0}; }
};

}  // namespace throughtime
