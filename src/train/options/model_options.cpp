#include "train/options/option_tables.h"

namespace throughtime {
namespace {

Names cell_names() { return names_of(all_cells()); }

}  // namespace

void add_model_options(std::vector<Option>& table) {
  table.insert(table.end(),
               {
                   {"model.cell", FIELD(Names, model.cell), "the cell of every layer, or one for each", {}, cell_names},
                   {"model.hidden", FIELD(std::vector<int>, model.hidden),
                    "hidden units of every layer, or one width for each", between(1, 65536)},
                   {"model.layers", FIELD(int, model.layers), "number of layers", between(1, 64)},
                   {"model.step", FIELD(double, model.cell_options.step), "antisymmetric cells: epsilon, the step size",
                    above(0)},
                   {"model.diffusion", FIELD(double, model.cell_options.diffusion),
                    "antisymmetric cells: gamma, the diffusion", at_least(0)},
                   {"model.embedding", FIELD(int, model.embedding),
                    "width of token embeddings; 0: tokens enter one-hot", between(0, 65536)},
                   {"model.tied", FIELD(bool, model.tied), "the output matrix is the embedding matrix"},
                   {"model.encoder", FIELD(int, model.encoder),
                    "width of a linear encoder before the first layer; 0: none", between(0, 65536)},
                   {"model.head_hidden", FIELD(int, model.head_hidden),
                    "width of a linear layer before the output; 0: none", between(0, 65536)},
                   {"model.dropout_input", FIELD(double, model.dropout.input),
                    "share of dropped inputs of the first layer", below_one(0)},
                   {"model.dropout_between", FIELD(double, model.dropout.between),
                    "share of dropped outputs between layers", below_one(0)},
                   {"model.dropout_output", FIELD(double, model.dropout.output),
                    "share of dropped outputs of the last layer", below_one(0)},
                   {"model.dropout_per_sequence", FIELD(bool, model.dropout.per_sequence),
                    "one dropout mask for a whole sequence instead of one per step"},
                   {"model.dropout_logits", FIELD(double, model.dropout.logits),
                    "share of dropped outputs of the head, before the loss", below_one(0)},
                   {"model.dropout_logits_always", FIELD(bool, model.dropout.logits_always),
                    "dropout_logits in evaluations too, as FPTT's released code has it"},
                   {"model.initialise",
                    FIELD(InitialiseRule, model.initialise.rule),
                    "rule for the first weights",
                    {},
                    all_names<InitialiseRule>},
                   {"model.initialise_range", FIELD(double, model.initialise.range),
                    "initialise = uniform: weights in +- this", at_least(0)},
                   {"model.recurrent_scale", FIELD(double, model.initialise.recurrent_scale),
                    "initialise = antisymmetric: scale of the recurrent weights", at_least(0)},
                   {"model.forget_bias", FIELD(double, model.initialise.forget_bias),
                    "added to the forget gate's first bias", any_number()},
               });
}

}  // namespace throughtime
