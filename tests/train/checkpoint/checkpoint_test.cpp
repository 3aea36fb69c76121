#include "train/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/files.h"
#include "support/errors.h"
#include "support/scratch.h"

namespace throughtime {
namespace {

using testing::ScratchDirectory;
using testing::text_of;
using testing::write_text;

Model small_model() {
  ModelConfig config;
  config.input.reals = 2;
  config.layers.push_back({.cell = "gru", .hidden = 3});
  config.head = {.name = "regression", .outputs = 1};
  return Model(config);
}

struct Keeper {
  explicit Keeper(const std::string& engine_name)
      : model(small_model()), engine(make_engine(model, {.name = engine_name, .threads = 1})) {
    parameters = engine->allocate(model.parameters().size());
    buffer = engine->allocate(4);
  }
  void archive(Archive& archive) {
    archive.parameters(*engine, parameters);
    const Archive::Scope scope(archive, "keeper");
    archive.buffer("buffer", *engine, buffer);
    archive.integer("count", count);
    archive.integer_list("flags", flags);
    archive.number("loss", loss);
  }
  Model model;
  std::unique_ptr<Engine> engine;
  Buffer parameters, buffer;
  int count = 0;
  std::vector<std::uint8_t> flags;
  double loss = 0;
};

void fill(Keeper& keeper) {
  std::vector<double> values(keeper.parameters.size);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 * static_cast<double>(i + 1);
  keeper.engine->write(keeper.parameters, values);
  keeper.engine->write(keeper.buffer, std::vector<double>{1.0 / 3, -0.0, 1e-30, 7});
  keeper.count = -5;
  keeper.flags = {1, 0, 255};
  keeper.loss = std::numeric_limits<double>::quiet_NaN();
}

TEST(Checkpoint, BothArchivesAgreeBitForBit) {
  for (const std::string engine : {"cpu", "reference"}) {
    Keeper first(engine), second(engine);
    fill(first);
    TensorFile file;
    SavingArchive saving(file);
    first.archive(saving);
    LoadingArchive loading(file);
    second.archive(loading);
    EXPECT_EQ(first.engine->Engine::read(first.parameters), second.engine->Engine::read(second.parameters));
    EXPECT_EQ(first.engine->Engine::read(first.buffer), second.engine->Engine::read(second.buffer));
    EXPECT_EQ(second.count, -5);
    EXPECT_EQ(second.flags, first.flags);
    EXPECT_TRUE(std::isnan(second.loss));
    const std::string type = engine == "cpu" ? "F32" : "F64";
    EXPECT_EQ(file.find("throughtime.keeper.buffer")->type, type);
    EXPECT_EQ(file.find("rnn.weight_ih_l0")->type, type);
    EXPECT_EQ(file.find("rnn.weight_ih_l0")->shape, (std::vector<std::int64_t>{9, 2}));
  }
}

TEST(Checkpoint, RefusesWhatDoesNotFit) {
  Keeper keeper("cpu");
  fill(keeper);
  TensorFile file;
  SavingArchive saving(file);
  keeper.archive(saving);
  const auto without = [&](const std::string& name) {
    TensorFile less = file;
    std::erase_if(less.tensors, [&](const Tensor& tensor) { return tensor.name == name; });
    return less;
  };
  const auto load = [&](const TensorFile& from) {
    LoadingArchive loading(from);
    keeper.archive(loading);
  };
  EXPECT_REFUSED(load(without("head.bias")), "there is no 'head.bias' in it");
  EXPECT_REFUSED(load(without("throughtime.keeper.count")), "no 'throughtime.keeper.count'");
  TensorFile other = without("throughtime.keeper.count");
  other.tensors.push_back(integer_tensor("throughtime.keeper.count", std::vector<std::int64_t>{std::int64_t{1} << 40}));
  EXPECT_REFUSED(load(other), "'keeper.count' cannot be 1099511627776");
  other = without("throughtime.keeper.buffer");
  other.tensors.push_back(float_tensor("throughtime.keeper.buffer", {3}, std::vector<double>{1, 2, 3}));
  EXPECT_REFUSED(load(other), "must hold 4 values, got 3");
  other = without("head.bias");
  other.tensors.push_back(float_tensor("head.bias", {2}, std::vector<double>{1, 2}));
  EXPECT_REFUSED(load(other), "another shape");
}

TEST(Checkpoint, NumbersThatAreNotFiniteAreNeverSaved) {
  Keeper keeper("cpu");
  keeper.engine->write(keeper.buffer, std::vector<double>{0, std::numeric_limits<double>::infinity(), 0, 0});
  TensorFile file;
  SavingArchive saving(file);
  EXPECT_THROW(keeper.archive(saving), RunFailure);
}

TensorFile numbered(std::int64_t number) {
  TensorFile file;
  file.metadata[iteration_key] = std::to_string(number);
  file.tensors.push_back(integer_tensor("number", std::vector<std::int64_t>{number}));
  return file;
}

std::int64_t number_of(const TensorFile& file) { return integer_values(*file.find("number")).front(); }

TEST(CheckpointStore, KeepsTheOneBeforeTheLast) {
  const ScratchDirectory directory;
  CheckpointStore store(directory / "checkpoints");
  EXPECT_TRUE(store.empty());
  for (int i = 1; i <= 3; ++i) store.save(numbered(i));
  EXPECT_EQ(number_of(store.load()), 3);
  EXPECT_EQ(number_of(read_tensors(store.previous(), true)), 2);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory / "checkpoints")) ++files;
  EXPECT_EQ(files, 2u);
}

TEST(CheckpointStore, BestStaysWhereItWas) {
  const ScratchDirectory directory;
  CheckpointStore store(directory.path());
  store.save(numbered(1));
  store.mark_best();
  store.save(numbered(2));
  store.save(numbered(3));
  EXPECT_EQ(number_of(read_tensors(store.best(), true)), 1);
}

TEST(CheckpointStore, OffersTheOlderOneWhereTheLastIsDamaged) {
  const ScratchDirectory directory;
  CheckpointStore store(directory.path());
  store.save(numbered(1));
  store.save(numbered(2));
  const std::string good = text_of(store.last());
  write_text(store.last(), good.substr(0, good.size() - 3));
  EXPECT_REFUSED(store.load(), "last.previous.safetensors, iteration 1) is whole: add --previous");
  std::string flipped = good;
  flipped[flipped.size() - 2] = static_cast<char>(flipped[flipped.size() - 2] ^ 4);
  write_text(store.last(), flipped);
  EXPECT_REFUSED(store.load(), "damaged");
  EXPECT_REFUSED(store.load(), "add --previous");

  store.go_back();
  EXPECT_EQ(number_of(store.load()), 1);
  store.save(numbered(3));
  EXPECT_EQ(number_of(read_tensors(store.previous(), true)), 1);
}

TEST(CheckpointStore, OffersNothingWhereBothAreDamaged) {
  const ScratchDirectory directory;
  CheckpointStore store(directory.path());
  store.save(numbered(1));
  store.save(numbered(2));
  write_text(store.last(), "short");
  write_text(store.previous(), "short");
  EXPECT_REFUSED(store.load(), "too few");
  EXPECT_EQ(testing::refusal_of([&] { store.load(); }).find("--previous"), std::string::npos);
  EXPECT_THROW(store.go_back(), InvalidInput);
}

TEST(CheckpointStore, ACrashBetweenTwoNamesLosesNothing) {
  const ScratchDirectory directory;
  CheckpointStore store(directory.path());
  store.save(numbered(1));
  std::filesystem::rename(store.last(), store.previous());
  write_text(store.last().string() + ".partial", "half of");
  EXPECT_FALSE(store.empty());
  EXPECT_EQ(number_of(store.load()), 1);
  store.save(numbered(2));
  EXPECT_EQ(number_of(store.load()), 2);
  EXPECT_EQ(number_of(read_tensors(store.previous(), true)), 1);
}

TEST(OutputFile, CutsAndGoesOn) {
  const ScratchDirectory directory;
  write_text(directory / "a", "first second");
  {
    OutputFile file(directory / "a", 6);
    file.write("third");
    EXPECT_EQ(file.size(), 11u);
  }
  EXPECT_EQ(text_of(directory / "a"), "first third");
  EXPECT_REFUSED(OutputFile(directory / "a", 12), "has 11 bytes");
  EXPECT_THROW(OutputFile(directory / "none/a"), RunFailure);
}

TEST(OutputFile, ReplacesWhole) {
  const ScratchDirectory directory;
  replace_file(directory / "a", "one");
  replace_file(directory / "a", "two");
  EXPECT_EQ(text_of(directory / "a"), "two");
  EXPECT_FALSE(std::filesystem::exists(directory / "a.partial"));
}

}  // namespace
}  // namespace throughtime
