// A forecast as a user meets it: what training says about the file, the tables of evaluate, the pictures of plot.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command/command_run.h"

namespace throughtime {
namespace {

using testing::Outcome;
using testing::text_of;
using testing::write_text;

const char* const forecast_config =
    "[task]\nname = \"series\"\n[task.series]\npath = \"wave.csv\"\ntargets = [\"y\"]\nhorizon = [1, 4]\n"
    "difference = true\nseason = 8\nlength = 20\n[model]\nhidden = 4\n[train]\niterations = 10\nbatch = 4\n"
    "evaluate_every = 5\n[run]\nthreads = 1\n";

class ForecastCommand : public testing::CommandTest {
 protected:
  void train(const std::string& more = "") {
    std::string text = "time,x,y\n";
    for (int t = 0; t < 300; ++t)
      text += "2020-01-01," + std::to_string(t % 8) + "," + std::to_string(20 + 3 * std::sin(0.785 * t) + t % 3) + "\n";
    write_text(path("wave.csv"), text);
    config_file(forecast_config, "wave");
    trained_ = run("train wave.toml --json " + more);
    ASSERT_EQ(trained_.code, 0) << trained_.err;
  }
  static void expect_has(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in:\n" << text;
  }
  Outcome trained_;
};

TEST_F(ForecastCommand, TrainingSaysWhatTheFileBecame) {
  train();
  // 210 steps to train on, the last 4 without a target of 4 steps later.
  expect_has(trained_.err, {"4 rows of 51 steps, 3 iterations per epoch", "inputs: x, y; targets: y +1, y +4",
                            "the model predicts changes; results are in levels", "(the last value)"});
  const nlohmann::json result = nlohmann::json::parse(trained_.out);
  EXPECT_EQ(result.at("metric"), "mse");
  for (const char* name : {"test_mse", "test_mae", "test_rmse", "test_esr", "test_original_rmse"})
    EXPECT_TRUE(result.at("metrics").contains(name)) << name;
}

TEST_F(ForecastCommand, EvaluateShowsWhatNeedsNoNetBesideIt) {
  train();
  const Outcome outcome = run("evaluate runs/wave --best");
  expect_has(outcome.out, {"x naive", "original_mse", "are scaled", "seasonal", "the mean of the training part",
                           "a linear function of the last 48 values of the target", "y +1", "y +4"});
  const nlohmann::json line = nlohmann::json::parse(run("evaluate runs/wave --json --split validation").out);
  for (const char* rival : {"naive", "seasonal", "mean", "ridge"}) EXPECT_GT(line.at("rivals").at(rival), 0) << rival;
  EXPECT_EQ(line.at("rivals").at("naive"), line.at("baseline"));
  EXPECT_NEAR(line.at("baseline").get<double>(),
              (line.at("targets").at("y +1").at("naive").get<double>() +
               line.at("targets").at("y +4").at("naive").get<double>()) /
                  2,
              1e-12);
}

TEST_F(ForecastCommand, TablesOfTrainAndCompareShowWhatIsLeftOfTheNaiveError) {
  train();
  const nlohmann::json result = nlohmann::json::parse(trained_.out);
  const std::string skill = fmt::format(
      "{:.3f}", result.at("best").at("test_mse").get<double>() / result.at("baselines").at("test_mse").get<double>());
  const Outcome table = run("train wave.toml --quiet --force");
  expect_has(table.out, {"baseline", "x naive", skill});
  const Outcome compared = run("compare wave.toml --quiet --learners bptt");
  expect_has(compared.out, {"baseline", "x naive", skill});
  const Outcome json = run("compare wave.toml --quiet --learners bptt --json");
  const nlohmann::json line = nlohmann::json::parse(json.out);
  EXPECT_EQ(line.at("baseline_mean"), result.at("baselines").at("test_mse"));
  EXPECT_NEAR(line.at("x_naive_mean").get<double>(), std::stod(skill), 5.1e-4);
}

TEST_F(ForecastCommand, ABandIsReported) {
  train("--set model.head=quantile --set 'model.levels=[0.1, 0.9]'");
  const nlohmann::json line = nlohmann::json::parse(run("evaluate runs/wave --json").out);
  EXPECT_GT(line.at("pinball"), 0);
  EXPECT_GE(line.at("coverage"), 0);
  EXPECT_LE(line.at("coverage"), 1);
  EXPECT_NEAR(line.at("coverage_wanted").get<double>(), 0.8, 1e-12);
  expect_has(run("evaluate runs/wave").out, {" (0.80 wanted)"});
  expect_has(run("list heads").out, {"quantile", "gaussian"});
  const Outcome refused = run("train wave.toml --force --set model.head=quantile --set 'model.levels=[0.9, 0.1]'");
  expect_refusal(refused, "levels must ascend within 0 and 1");
  expect_refusal(run("train wave.toml --force --set model.head=quantile --set 'model.levels=[]'"),
                 "model.head = \"quantile\" needs model.levels, such as [0.1, 0.5, 0.9]");
  expect_refusal(run("train wave.toml --force --set 'model.levels=[0.1, 0.9]'"),
                 "model.levels is an option of the head quantile, gaussian");
  expect_refusal(run("train wave.toml --force --set model.head=median"),
                 "unknown model.head 'median'; known: \"\", quantile, gaussian");
}

TEST_F(ForecastCommand, PreEmphasisIsMeasuredAndChosenByWhereThatIsAskedFor) {
  train(
      "--set task.series.horizon=0 --set task.series.season=0 --set task.series.difference=false "
      "--set task.series.pre_emphasis=0.9 --set train.best_by=pre_emphasis_esr");
  expect_has(trained_.err, {", pre_emphasis_esr 0.", "(best validation pre_emphasis_esr, iteration"});
  const nlohmann::json result = nlohmann::json::parse(trained_.out);
  EXPECT_EQ(result.at("best").at("by"), "pre_emphasis_esr");
  for (const char* name : {"test_esr", "test_pre_emphasis_esr"}) EXPECT_TRUE(result.at("metrics").contains(name));
  // Of the written forecast: truth and forecast behind y[t] - 0.9 y[t - 1].
  std::istringstream rows(run("predict runs/wave --split test --best").out);
  std::string row;
  std::getline(rows, row);
  ASSERT_EQ(row, "row,truth,forecast");
  double errors = 0, signal = 0, truth_before = NAN, said_before = NAN, at = 0, truth = 0, said = 0;
  for (char comma = 0; rows >> at >> comma >> truth >> comma >> said; truth_before = truth, said_before = said) {
    if (std::isnan(truth_before)) continue;
    const double wanted = truth - 0.9 * truth_before;
    errors += std::pow(said - 0.9 * said_before - wanted, 2);
    signal += wanted * wanted;
  }
  const nlohmann::json line = nlohmann::json::parse(run("evaluate runs/wave --best --json").out);
  EXPECT_NEAR(line.at("pre_emphasis_esr").get<double>(), errors / signal, 1e-5 * errors / signal);
  EXPECT_EQ(line.at("pre_emphasis_esr"), result.at("best").at("test_pre_emphasis_esr"));
  expect_refusal(run("train wave.toml --force --set train.best_by=accuracy"),
                 "is not measured here; what is: loss, mse");
  expect_refusal(run("train wave.toml --force --set train.best_by=esr --set train.evaluate_every=0"),
                 "needs validations to choose by");
  expect_refusal(run("tune wave.toml --grid train.best_by=loss,esr"), "train.best_by does not change what is learned");
}

TEST_F(ForecastCommand, TuneShowsWhatItChoseBy) {
  train("");
  const std::string tune = "tune wave.toml --quiet --grid optimizer.rate=0.001,0.01 --set train.best_by=";
  const Outcome other = run(tune + "esr --set run.directory=a");
  ASSERT_EQ(other.code, 0) << other.err;
  expect_has(other.out, {"validation loss", "validation mse", "validation esr"});
  const Outcome metric = run(tune + "mse --set run.directory=b");
  ASSERT_EQ(metric.code, 0) << metric.err;
  EXPECT_EQ(metric.out.find("validation mse"), metric.out.rfind("validation mse")) << metric.out;
}

TEST_F(ForecastCommand, ReportsCompareTargetsWithSimpleForecastsAlsoWithoutPictures) {
  train();
  ASSERT_EQ(run("report runs/wave -o page.md").code, 0);
  expect_has(text_of(path("page.md")),
             {"### Each target beside simple forecasts", "| seasonal | ", "| y +4 | wave | "});
  for (const std::string format : {"md", "csv", "svg", "png"})
    expect_refusal(run("report runs/wave --rows 30 -o page." + format), "--rows");
  EXPECT_EQ(run("report runs/wave --rows 30 -o page.html").code, 0);
}

TEST_F(ForecastCommand, PlotDrawsTruthForecastAndResiduals) {
  train("--set model.head=gaussian");
  const Outcome terminal = run("plot runs/wave --forecast --rows 30");
  ASSERT_EQ(terminal.code, 0) << terminal.err;
  expect_has(terminal.out, {"wave: forecast of y, 1 step ahead, test split", "truth", "band from 10 % to 90 %",
                            "wave: residuals of y, 4 steps ahead", "row of the recording"});
  expect_refusal(run("plot runs/wave --forecast --split tets"), "did you mean 'test'?");
  EXPECT_EQ(run("plot runs/wave --rows 30").code, 2);
  expect_refusal(run("plot runs/wave runs/wave --forecast"), "--forecast draws one run, got 2");
  if (shell("command -v gnuplot").code != 0) GTEST_SKIP() << "no gnuplot";
  ASSERT_EQ(run("plot runs/wave --forecast --best --split validation --svg f.svg").code, 0);
  expect_has(text_of(path("f.svg")),
             {"forecast of y, 1 step ahead, validation split", "residuals of y, 4 steps", "band"});
  ASSERT_EQ(run("plot runs/wave --forecast --png f.png").code, 0);
  for (const char* name : {"f.png", "f-residuals.png", "f-2.png", "f-2-residuals.png"})
    EXPECT_EQ(text_of(path(name)).substr(1, 3), "PNG") << name;
  ASSERT_EQ(run("report runs/wave -o r.html").code, 0);
  expect_has(text_of(path("r.html")), {"wave: forecast of y, 4 steps ahead, test split", "wave: residuals of y"});
  std::filesystem::remove(path("wave.csv"));
  ASSERT_EQ(run("report runs/wave -o r.html").code, 0);
  expect_has(text_of(path("r.html")), {"no forecast of runs/wave is drawn"});
}

}  // namespace
}  // namespace throughtime
