#include "core/registry.h"

#include <gtest/gtest.h>

#include "support/errors.h"
#include "throughtime/cell.h"
#include "throughtime/head.h"

namespace throughtime {
namespace {

struct Thing {
  std::string name;
};

TEST(Registry, KeepsOrderAndAddressesWhenRowsAreAdded) {
  Registry<Thing> things("thing", {{"first"}, {"second"}});
  const Thing* first = &things.find("first");
  for (int i = 0; i < 100; ++i) things.add({"more" + std::to_string(i)});
  EXPECT_EQ(&things.find("first"), first);
  ASSERT_EQ(things.all().size(), 102u);
  EXPECT_EQ(things.all()[1]->name, "second");
  EXPECT_EQ(things.all()[101]->name, "more99");
}

TEST(Registry, RefusesUnknownTakenAndEmptyNames) {
  Registry<Thing> things("thing", {{"first"}});
  EXPECT_REFUSED(things.find("frist"), "[thing] unknown thing 'frist'; did you mean 'first'? known: first");
  EXPECT_REFUSED(things.add({"first"}), "[thing] there is already a thing named 'first'");
  EXPECT_REFUSED(things.add({""}), "[thing] a thing needs a name");
}

TEST(Cells, AreFoundByName) {
  std::vector<std::string> names;
  for (const CellType* cell : all_cells()) {
    names.push_back(cell->name);
    EXPECT_EQ(&find_cell(cell->name), cell);
    EXPECT_FALSE(cell->description.empty());
  }
  for (const char* name : {"lstm", "gru", "gru_reset_before", "rnn_tanh", "rnn_relu", "rnn_logistic", "rnn_linear",
                           "antisymmetric", "antisymmetric_gated", "mingru"})
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  EXPECT_REFUSED(find_cell("lstn"), "[cell] unknown cell 'lstn'; did you mean 'lstm'? known: lstm, gru");
}

/// A copy of the LSTM with one thing changed; registering it must be refused.
template <class Change>
std::string refusal_of_changed_cell(const char* from, Change&& change) {
  CellType cell = find_cell(from);
  cell.name = "changed";
  change(cell);
  return testing::refusal_of([&] { register_cell(cell); });
}

TEST(Cells, RegisteringRefusesWhatAnEngineWouldStumbleOver) {
  const std::pair<const char*, void (*)(CellType&)> cases[] = {
      {"input_rows", [](CellType& cell) { cell.shape.input_rows = 0; }},
      {"recurrent_rows", [](CellType& cell) { cell.shape.recurrent_rows = -1; }},
      {"states", [](CellType& cell) { cell.shape.states = 0; }},
      {"saved", [](CellType& cell) { cell.shape.saved = -1; }},
      {"late_rows", [](CellType& cell) { cell.shape.late_rows = 5; }},
      {"joint cell has as many", [](CellType& cell) { cell.shape.recurrent_rows = 3; }},
      {"forget_row", [](CellType& cell) { cell.shape.forget_row = 4; }},
      {"reference kernels", [](CellType& cell) { cell.reference.backward = nullptr; }},
      {"fast kernels", [](CellType& cell) { cell.fast = nullptr; }},
      {"fast kernels", [](CellType& cell) { cell.fast = [] { return CellKernels<float>(); }; }},
      {"row kernels is missing",
       [](CellType& cell) { cell.rows = [] { return RowKernels{.forward = [](const RowForward&) {}}; }; }},
      {"weight maps", [](CellType& cell) { cell.raw_shape = [](int h) { return std::vector{h}; }; }},
      {"already a cell named 'gru'", [](CellType& cell) { cell.name = "gru"; }},
      {"needs a name", [](CellType& cell) { cell.name.clear(); }},
  };
  const std::size_t before = all_cells().size();
  for (const auto& [part, change] : cases) {
    const std::string text = refusal_of_changed_cell("lstm", change);
    EXPECT_NE(text.find(part), std::string::npos) << part << ": '" << text << "'";
  }
  const auto early =
      refusal_of_changed_cell("gru_reset_before", [](CellType& c) { c.reference.forward_early = nullptr; });
  EXPECT_NE(early.find("reference kernels"), std::string::npos);
  const auto gated = refusal_of_changed_cell("gru_reset_before", [](CellType& c) { c.shape.gated = -1; });
  EXPECT_NE(gated.find("gated"), std::string::npos);
  const auto joint = refusal_of_changed_cell("gru_reset_before", [](CellType& c) { c.shape.joint = true; });
  EXPECT_NE(joint.find("no late rows"), std::string::npos);
  const auto rows = refusal_of_changed_cell("gru_reset_before", [](CellType& c) { c.rows = find_cell("gru").rows; });
  EXPECT_NE(rows.find("no row kernels"), std::string::npos);
  const auto map = refusal_of_changed_cell("antisymmetric", [](CellType& c) { c.fast_map.adjoint = nullptr; });
  EXPECT_NE(map.find("weight maps"), std::string::npos);
  EXPECT_EQ(all_cells().size(), before);
}

TEST(Cells, AUsersCellIsFoundAfterRegistering) {
  CellType cell = find_cell("rnn_tanh");
  cell.name = "a_users_cell";
  register_cell(cell);
  EXPECT_EQ(find_cell("a_users_cell").shape.input_rows, 1);
  EXPECT_EQ(all_cells().back()->name, "a_users_cell");
}

TEST(Heads, AreFoundByNameAndRegisteredWhole) {
  ASSERT_GE(all_heads().size(), 3u);
  EXPECT_EQ(all_heads()[0]->name, "softmax");
  EXPECT_EQ(find_head("softmax").target, TargetKind::label_or_distribution);
  EXPECT_EQ(find_head("regression").target, TargetKind::values);
  EXPECT_EQ(find_head("bernoulli").target, TargetKind::probabilities);
  EXPECT_REFUSED(find_head("regresion"), "[head] unknown head 'regresion'; did you mean 'regression'?");

  HeadType head = find_head("softmax");
  EXPECT_REFUSED(register_head(head), "already a head named 'softmax'");
  head.name = "a_users_head";
  head.reference.predict = nullptr;
  EXPECT_REFUSED(register_head(head), "[head] 'a_users_head': the reference kernels are incomplete");
  head.reference = find_head("softmax").reference;
  head.fast = nullptr;
  EXPECT_REFUSED(register_head(head), "fast kernels are incomplete");
  head.fast = find_head("softmax").fast;
  HeadType layered = find_head("mixture_of_softmaxes");
  layered.name = "another_users_head";
  layered.reference.layered.collect = nullptr;
  EXPECT_REFUSED(register_head(layered), "[head] 'another_users_head': the reference kernels are incomplete");
  register_head(head);
  EXPECT_EQ(all_heads().back()->name, "a_users_head");
}

}  // namespace
}  // namespace throughtime
