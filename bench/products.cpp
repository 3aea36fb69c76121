#include "bench/products.h"

#include "throughtime/cell.h"

namespace throughtime::bench {

std::vector<Product> products_of(const Case& chosen) {
  using Form = Product::Form;
  const CellShape& shape = find_cell(chosen.cell).shape;
  const int hidden = chosen.hidden, inputs = chosen.inputs, steps = chosen.steps, vocabulary = chosen.vocabulary;
  const int input_gates = shape.input_rows * hidden, recurrent_gates = shape.recurrent_rows * hidden;
  const int window = (steps + chosen.windows - 1) / chosen.windows;

  std::vector<Product> all = {
      {"input forward", Form::map, input_gates, inputs, steps, window},
      {"recurrent forward", Form::map, recurrent_gates, hidden, steps - 1, 1},
      {"recurrent backward", Form::map, hidden, recurrent_gates, steps - chosen.windows, 1},
      {"recurrent gradient", Form::gradient, recurrent_gates, hidden, steps - 1, window},
      {"input gradient", Form::gradient, input_gates, inputs, steps, window},
  };
  if (chosen.kind == Kind::lm) {
    all.push_back({"input backward", Form::map, inputs, input_gates, steps, window});
    all.push_back({"head forward", Form::map, vocabulary, hidden, steps, window});
    all.push_back({"head backward", Form::map, hidden, vocabulary, steps, window});
    all.push_back({"head gradient", Form::gradient, vocabulary, hidden, steps, window});
  }
  std::erase_if(all, [](const Product& product) { return product.steps == 0; });
  return all;
}

}  // namespace throughtime::bench
