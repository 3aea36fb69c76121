#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/at_once_case.h"
#include "bench/batches.h"
#include "bench/case.h"
#include "bench/host_case.h"
#include "bench/onednn.h"
#include "bench/online_case.h"
#include "bench/plan.h"
#include "bench/python_case.h"
#include "bench/ranks_case.h"
#include "bench/run_case.h"
#include "bench/scaling_model.h"
#include "bench/stream_case.h"
#include "commands.h"
#include "commands/bench_tables.h"
#include "terminal.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

struct BenchOptions {
  std::vector<std::string> cases;      // empty: all
  std::vector<std::string> map_cells;  // their map instead
  std::vector<std::string> against;    // names of rivals
  std::vector<int> thread_counts;      // a table by numbers of threads instead
  std::string time = std::string(name_of(bench::TimeOf::wall));
  bool json = false;
  bool python = false;
  bool costs = false;
  bool scaling = false;
  bool quick = false;
  bool verbose = false;
  EngineConfig engine = {.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()))};
  int repeats = 15;
  bench::PeerConfig peer;
};

bench::TimeOf time_of(const BenchOptions& options) { return choice_of<bench::TimeOf>(options.time, "bench", "--time"); }

bench::Effort effort_of(const BenchOptions& options) {
  bench::Effort effort = bench::effort_of(options.quick, options.repeats);
  effort.time = time_of(options);
  return effort;
}

bool is_against(const BenchOptions& options, bench::Rival rival) {
  return std::ranges::count(options.against, name_of(rival)) > 0;
}

std::vector<bench::Rival> rivals_of(const BenchOptions& options) {
  std::vector<bench::Rival> rivals;
  for (const std::string& name : options.against) rivals.push_back(choice_of<bench::Rival>(name, "bench", "--against"));
  return rivals;
}

/// What the peer computes with, said once; none where there is no peer.
std::optional<bench::PeerDescription> peer_to_ask(const BenchOptions& options) {
  if (!is_against(options, bench::Rival::torch)) return std::nullopt;
  const std::optional<bench::PeerDescription> peer = bench::describe_peer(options.peer);
  if (!peer) {
    tell("[bench] {} has no torch (scripts/setup --peer installs it); going on without the peer\n",
         options.peer.python);
    return std::nullopt;
  }
  bench::require_fair(*peer);
  tell("[bench] the peer is PyTorch {} with {}\n", peer->torch, peer->blas);
  return peer;
}

/// Whether oneDNN is to be measured, and said once what it is; without it the others are measured.
bool onednn_to_ask(const BenchOptions& options) {
  if (!is_against(options, bench::Rival::onednn)) return false;
  const std::optional<std::string> version = bench::onednn_version();
  if (version)
    tell("[bench] oneDNN {} runs in turn with ours\n", *version);
  else
    tell("[bench] this build has no oneDNN (libdnnl-dev and OpenMP); going on without it\n");
  return version.has_value();
}

/// Fills in the peer's times, at the best of those numbers of threads.
void add_peer(const BenchOptions& options, const bench::PeerDescription& description, const std::vector<int>& counts,
              bench::CaseResult& result) {
  result.peer_blas = description.blas;
  bench::PeerConfig peer = options.peer;
  peer.on_device = !find_engine(options.engine.name).on_host;
  peer.cpu_time = time_of(options) == bench::TimeOf::cpu;
  const std::vector<int> threads = peer.on_device ? std::vector{1} : counts;
  for (bool tuned : {false, true}) {
    tell("{}: PyTorch {}\n", result.name, tuned ? "tuned" : "as it comes");
    (tuned ? result.tuned_peer : result.peer) =
        bench::best_peer_time(bench::with_effort(peer, options.quick, options.repeats), result.name, threads, tuned)
            .time;
  }
}

void check(const BenchOptions& options) {
  require_usable(find_engine(options.engine.name));
  require_range("bench", "--threads", options.engine.threads, 1, 1024);
  require_range("bench", "--repeats", options.repeats, 1, 10000);
  rivals_of(options);
  const bool on_host = find_engine(options.engine.name).on_host;
  if (!on_host && is_against(options, bench::Rival::onednn))
    refuse("bench", "--against onednn computes on the processor, and the engine {} does not", options.engine.name);
  if (!on_host && time_of(options) == bench::TimeOf::cpu)
    refuse("bench", "--time cpu says nothing of a device, which the engine {} is", options.engine.name);
  for (const int count : options.thread_counts) require_range("bench", "--thread-counts", count, 1, 1024);
  if (!options.thread_counts.empty() && !on_host)
    refuse("bench", "--thread-counts is for engines that compute on the processor, and {} does not",
           options.engine.name);
  if (!options.thread_counts.empty() && time_of(options) == bench::TimeOf::cpu)
    refuse("bench", "--thread-counts shows what threads gain, and --time cpu adds their times up; leave --time out");
  if (!options.map_cells.empty() && !options.cases.empty()) refuse("bench", "--map names its cases; leave --cases out");
  if (options.python && options.engine.communicator)
    refuse("bench", "--python measures in one process, without mpirun");
}

/// On one core.
void run_online(const BenchOptions& options, const std::vector<std::string>& cases) {
  std::vector<bench::OnlineResult> results;
  for (const std::string& name : cases) {
    tell("{}: one observation at a time\n", name);
    results.push_back(bench::run_online_case(name, options.engine.name, options.quick ? 1 : 8));
    if (options.json) show("{}\n", bench::json_line(results.back()));
  }
  if (!options.json && !results.empty()) show("{}", table_text(results));
}

/// The program itself: whoever runs it has it.
std::string own_program() { return std::filesystem::canonical("/proc/self/exe").string(); }

/// Rows through `throughtime stream`, from a file to its answers.
void run_streams(const BenchOptions& options, const std::vector<std::string>& cases) {
  Table table({{"case", false}, {"rows/s"}, {"rows/cpu s"}, {"cpu us a row"}});
  for (const std::string& name : cases) {
    tell("{}: rows from a file to their answers\n", name);
    const bench::StreamResult result =
        bench::run_stream_case(name, own_program(), options.engine.name, effort_of(options));
    if (options.json) show("{}\n", bench::json_line(result));
    table.add_row({result.name, rate_text(result.rows_per_second), rate_text(result.rows_per_cpu_second),
                   fmt::format("{:.2f}", 1e6 / result.rows_per_cpu_second)});
  }
  if (!options.json && !cases.empty()) show("{}", table.text(style_of(STDOUT_FILENO)));
}

/// What learning costs beside an engine's work.
void run_host(const BenchOptions& options, const std::vector<std::string>& cases) {
  Table table({{"case", false}, {"of the host ms"}});
  for (const std::string& name : cases) {
    tell("{}: an engine that computes nothing\n", name);
    const bench::HostResult result = bench::run_host_case(name, effort_of(options));
    if (options.json) show("{}\n", bench::json_line(result));
    table.add_row({result.name, time_text(result.host_ms)});
  }
  if (!options.json && !cases.empty()) show("{}", table.text(style_of(STDOUT_FILENO)));
}

/// Several of a case beside each other, against one after the other.
void run_at_once(const BenchOptions& options, const std::vector<std::string>& cases) {
  Table table({{"case", false}, {"together ms"}, {"in turn ms"}, {"times the throughput"}});
  for (const std::string& name : cases) {
    tell("{}: together, and one after the other\n", name);
    const bench::AtOnceResult result = bench::run_at_once_case(name, options.engine, effort_of(options));
    if (options.json) show("{}\n", bench::json_line(result));
    table.add_row({result.name, time_text(result.together_ms), time_text(result.in_turn_ms),
                   fmt::format("{:.2f}", result.throughput)});
  }
  if (!options.json && !cases.empty()) show("{}", table.text(style_of(STDOUT_FILENO)));
}

/// Data sets that are not there are left out, unless they were asked for by name.
void run_batches(const BenchOptions& options, const std::vector<bench::BatchCase>& cases) {
  std::vector<bench::BatchResult> results;
  for (const bench::BatchCase& chosen : cases) {
    tell("{}: making batches, and an iteration that learns from one\n", chosen.name);
    try {
      results.push_back(bench::run_batch_case(chosen, options.engine, effort_of(options)));
    } catch (const InvalidInput& missing) {
      if (!options.cases.empty()) throw;
      tell("{}: left out: {}\n", chosen.name, missing.what());
      continue;
    }
    if (!options.json) continue;
    show("{}\n", bench::json_line(results.back()));
    std::fflush(stdout);
  }
  if (!options.json && !results.empty()) show("{}", table_text(results));
}

/// Each case on all ranks, and on the first one alone.
void run_on_ranks(const BenchOptions& options) {
  if (options.cases.empty())
    refuse("bench", "on several ranks: name the cases, such as --cases lm-lstm-b40-h256-t300-v10000");
  if (!options.against.empty() || time_of(options) == bench::TimeOf::cpu)
    refuse("bench", "on several ranks: leave --against and --time out; all ranks stand beside one");
  std::vector<bench::RanksResult> results;
  for (const std::string& name : options.cases)
    results.push_back(bench::run_ranks_case(name, options.engine, effort_of(options)));
  if (options.engine.communicator->rank() != 0) return;
  if (!options.json) show("{}", table_text(results));
  for (const bench::RanksResult& result : results)
    if (options.json) show("{}\n", bench::json_line(result));
}

/// What calling from Python costs.
void run_python(const BenchOptions& options) {
  const bench::PythonConfig config = {.python = options.peer.python,
                                      .directory = options.peer.directory,
                                      .command = own_program(),
                                      .quick = options.quick};
  const bench::PythonDescription python = bench::describe_python(config);
  tell("[bench] throughtime {} with NumPy {}; {}\n", python.throughtime, python.numpy,
       python.torch ? "PyTorch " + *python.torch : "no PyTorch to stand beside it (scripts/setup --peer installs it)");
  const bench::PythonResult result = bench::run_python_case(config, python, effort_of(options));
  show("{}", options.json ? bench::json_lines(result) : table_text(result));
}

/// Every case at every number of threads, ours in turn with what stands beside it.
void run_by_threads(const BenchOptions& options) {
  const bench::Plan plan = bench::plan_of(options.cases.empty() ? bench::thread_cases() : options.cases);
  if (plan.cases.size() < std::max<std::size_t>(options.cases.size(), 1))
    refuse("bench", "--thread-counts takes cases of training, such as bptt-lstm-b128-h128-t200");
  const std::optional<bench::PeerDescription> peer = peer_to_ask(options);
  bench::CaseMeasures measures = {.effort = effort_of(options), .describe_floor = options.verbose};
  measures.onednn = onednn_to_ask(options);
  measures.one_thread = measures.ways = false;
  std::vector<bench::CaseResult> results;
  for (const std::string& name : plan.cases)
    for (const int count : options.thread_counts) {
      tell("{}: {} thread{}\n", name, count, count == 1 ? "" : "s");
      EngineConfig engine = options.engine;
      engine.threads = count;
      results.push_back(bench::run_case(name, engine, measures));
      if (peer) add_peer(options, *peer, {count}, results.back());
      if (options.json) show("{}\n", bench::json_line(results.back()));
      std::fflush(stdout);
    }
  if (!options.json) show("{}", thread_table_text(results, options.thread_counts));
}

void run_bench(const BenchOptions& options) {
  check(options);
  if (options.engine.communicator) return run_on_ranks(options);
  if (options.python) return run_python(options);
  if (!options.thread_counts.empty()) return run_by_threads(options);
  if (options.scaling) {
    show("{}", bench::scaling_tables());
    return;
  }
  if (options.costs) {
    show("{}", costs_text());
    return;
  }
  const bool map = !options.map_cells.empty();
  const bench::Plan plan = bench::plan_of(map ? bench::map_cases(options.map_cells) : options.cases);
  const std::optional<bench::PeerDescription> peer = peer_to_ask(options);
  const bench::CaseMeasures measures = {
      .effort = effort_of(options), .floor = !map, .describe_floor = options.verbose, .onednn = onednn_to_ask(options)};
  std::vector<bench::CaseResult> results;
  for (const std::string& name : plan.cases) {
    tell("{}: ours{}{}\n", name, measures.floor ? " and the floor" : "", measures.onednn ? " and oneDNN" : "");
    bench::CaseResult result = bench::run_case(name, options.engine, measures);
    if (peer) add_peer(options, *peer, bench::thread_counts(options.engine.threads), result);
    if (options.json) {
      show("{}\n", bench::json_line(result));
      std::fflush(stdout);
    }
    results.push_back(std::move(result));
  }
  if (!options.json && !results.empty())
    show("{}", map ? map_text(results, options.map_cells, rivals_of(options)) : table_text(results, options.engine));
  run_online(options, plan.online);
  run_streams(options, plan.streams);
  run_host(options, plan.host);
  run_at_once(options, plan.at_once);
  run_batches(options, plan.batches);
}

}  // namespace

void add_bench_command(CLI::App& app, std::shared_ptr<Communicator> ranks) {
  const auto options = std::make_shared<BenchOptions>();
  if (ranks) options->engine.threads = 1;
  options->engine.communicator = std::move(ranks);
  options->peer.directory = THROUGHTIME_PEERS_DIRECTORY;
  CLI::App* command = app.add_subcommand("bench", "Measure speed against the products alone, PyTorch and oneDNN");
  command
      ->add_option("--cases", options->cases,
                   "Cases such as bptt-gru-b64-h96-t100, 4x-bptt-gru-b64-h96-t100 (four at once), "
                   "stream-csv-lstm-b1-h32-k10 or batch-mnist-rows, separated by commas; else the usual ones")
      ->delimiter(',');
  command
      ->add_option("--map", options->map_cells,
                   "Instead of --cases: a map of these cells, such as lstm,gru,rnn: BPTT over 200 steps with 16 to 512 "
                   "units and 1 to 128 rows, without the floor")
      ->delimiter(',');
  command
      ->add_option("--against", options->against,
                   "Peers to measure as well: torch, onednn or both, separated by a comma. oneDNN has bptt and windows "
                   "with one layer of lstm, gru or rnn")
      ->delimiter(',');
  command
      ->add_option("--time", options->time,
                   "Of a case: wall, or cpu, the time that its process had (on a busy machine, with one thread)")
      ->capture_default_str();
  command->add_flag("--costs", options->costs,
                    "Count what BPTT and FPTT ask for per sequence: gradients, updates, bytes of tape");
  command->add_flag("--scaling", options->scaling, "The tables of the cost model of many ranks (docs/scaling.md)");
  command->add_flag("--json", options->json, "One JSON object per line and case");
  command->add_option("--engine", options->engine.name, "What computes ours (throughtime list engines)")
      ->capture_default_str();
  command->add_option("--threads", options->engine.threads, "Threads of ours; the peer tries every count up to it")
      ->capture_default_str();
  command
      ->add_option(
          "--thread-counts", options->thread_counts,
          "Instead of --threads: a table of the cases, or of some that say how cores are used, by these numbers "
          "of threads, such as 1,2,4,8,16")
      ->delimiter(',');
  command->add_option("--repeats", options->repeats, "Measurements of each")->capture_default_str();
  command->add_flag("--quick", options->quick, "A rough answer in seconds");
  command->add_flag("--verbose", options->verbose, "Say which library multiplies which shape of the floor");
  command->add_flag("--python", options->python,
                    "Measure calls of the Python package beside C++ and PyTorch, with one thread, and nothing else");
  command->add_option("--interpreter", options->peer.python, "Python that has the peer, or NumPy for --python")
      ->capture_default_str();
  command->add_option("--peers", options->peer.directory, "Folder of torch_peer.py and python_overheads.py");
  command->callback([options, command] {
    for (const char* other : {"--cases", "--map", "--against", "--time", "--costs", "--scaling", "--engine",
                              "--threads", "--thread-counts", "--verbose"})
      if (options->python && command->count(other) > 0)
        refuse("bench", "--python measures calls of the package and nothing else; leave {} out", other);
    for (const char* other : {"--threads", "--map"})
      if (!options->thread_counts.empty() && command->count(other) > 0)
        refuse("bench", "--thread-counts names the numbers of threads, and cases by --cases; leave {} out", other);
    for (const char* measured : {"--map", "--against", "--time", "--thread-counts"})
      if ((options->costs || options->scaling) && command->count(measured) > 0)
        refuse("bench", "--costs and --scaling measure no time; leave {} out", measured);
    for (const char* of_peer : {"--interpreter", "--peers"})
      if (!options->python && !is_against(*options, bench::Rival::torch) && command->count(of_peer) > 0)
        refuse("bench", "{} is for --against torch or --python, and neither is here", of_peer);
    run_bench(*options);
  });
}

}  // namespace throughtime
