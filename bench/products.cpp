#include "bench/products.h"

#include "throughtime/cell.h"

namespace throughtime::bench {

namespace {

/// Those of a recipe: three layers, what a mixture has before its softmaxes, and the output layer, which every expert
/// of every row passes.
std::vector<Product> products_of_recipe(const Case& chosen) {
  using Form = Product::Form;
  const int steps = chosen.steps, window = (steps + chosen.windows - 1) / chosen.windows;
  const std::vector<int> widths = chosen.widths();
  std::vector<Product> all;
  const auto add_linear = [&](const std::string& name, int outputs, int inputs, int times) {
    all.push_back({name + " forward", Form::map, outputs, inputs, steps * times, window * times});
    all.push_back({name + " backward", Form::map, inputs, outputs, steps * times, window * times});
    all.push_back({name + " gradient", Form::gradient, outputs, inputs, steps * times, window * times});
  };
  int below = chosen.embedding();
  for (std::size_t k = 0; k < widths.size(); ++k) {
    const std::string name = "layer " + std::to_string(k);
    const int gates = find_cell(chosen.cell).shape.input_rows * widths[k];
    add_linear(name + " input", gates, below, 1);
    all.push_back({name + " recurrent forward", Form::map, gates, widths[k], steps - 1, 1});
    all.push_back({name + " recurrent backward", Form::map, widths[k], gates, steps - chosen.windows, 1});
    all.push_back({name + " recurrent gradient", Form::gradient, gates, widths[k], steps - 1, window});
    below = widths[k];
  }
  if (chosen.kind == Kind::mos) {
    add_linear("prior", chosen.experts, below, 1);
    add_linear("latent", chosen.experts * chosen.embedding(), below, 1);
  }
  add_linear("output", chosen.vocabulary, chosen.embedding(), chosen.experts);
  std::erase_if(all, [](const Product& product) { return product.steps == 0; });
  return all;
}

}  // namespace

std::vector<Product> products_of(const Case& chosen) {
  if (chosen.recipe()) return products_of_recipe(chosen);
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
