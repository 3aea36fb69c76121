#include "data/text/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/files.h"
#include "data/sets.h"
#include "tasks/model_names.h"
#include "tasks/series/columns.h"
#include "tasks/shared_options.h"
#include "tasks/shares.h"
#include "tasks/text/text_options.h"
#include "throughtime/error.h"
#include "throughtime/index.h"
#include "throughtime/options.h"

namespace throughtime {
namespace {

const std::vector<double> own_shares = {0.9, 0.05, 0.05};

/// Where the text of a task is and how it is cut into tokens.
struct Corpus {
  std::vector<std::string> paths;  // train, validation, test; or one that is cut by `shares`
  TextOptions options;
};

Corpus files_corpus(const TextConfig& config) {
  if (config.files.size() != 1 && config.files.size() != 3)
    refuse("text", "task.text.files must name one file, or three (train, validation, test), got {}",
           config.files.size());
  for (const std::string& path : config.files)
    if (const std::string trouble = file_trouble(path); path != "-" && !trouble.empty())
      refuse("text", "cannot read {}: {}; name it with task.text.files (--set task.text.files=FILE)", path, trouble);
  Corpus corpus;
  corpus.paths = config.files;
  corpus.options = text_options(config);
  return corpus;
}

Corpus corpus_of(const TextConfig& config) {
  if (config.corpus == TextCorpus::files) return files_corpus(config);
  if (!config.files.empty())
    refuse("text", "task.text.files names {}, but task.text.corpus = \"{}\" does not read it; say corpus = \"files\"",
           config.files.front(), name_of(config.corpus));
  const bool words = config.unit == TextUnit::word;
  const std::string directory = data_directory(config.data);
  Corpus corpus{.paths = {}, .options = text_options(config)};
  const auto add = [&](const std::string& path) { corpus.paths.push_back(require_data_file(directory, path)); };
  if (config.corpus == TextCorpus::ptb) {
    for (const char* part : {"train", "valid", "test"})
      add(fmt::format("ptb/ptb.{}{}.txt", words ? "" : "char.", part));
  } else if (config.corpus == TextCorpus::wikitext_2) {
    for (const char* part : {"train", "valid", "test"}) add(fmt::format("wikitext-2/wiki.{}.tokens", part));
  } else if (const std::string whole = find_data_file(directory, "text8/text8"); !whole.empty()) {
    corpus.paths.push_back(whole);
  } else {
    add("text8-prefix/text8.first12500000");
  }
  return corpus;
}

/// Predict the next token of a text.
class TextTask final : public ColumnTask {
 public:
  TextTask(const TextConfig& config, std::uint64_t seed)
      : ColumnTask("text", seed,
                   {.window = config.length,
                    .overlap = 1,
                    .evaluation_columns = config.evaluation_columns > 0 ? config.evaluation_columns : 10,
                    .longest = config.length_varies ? config.length + config.length_cap : 0}),
        corpus_(corpus_of(config)),
        shares_(shares_of("text", config.splits, own_shares)),
        words_(config.unit == TextUnit::word),
        published_(config.published_metric) {
    if (published_ && !words_)
      refuse("text", "task.text.published_metric is of words; task.text.unit is '{}'", name_of(config.unit));
    if (!config.splits.empty() && corpus_.paths.size() > 1)
      refuse("text", "task.text.splits cuts one file; here {} files are the parts", corpus_.paths.size());
    if (!config.length_varies && config.length_cap != TextConfig().length_cap)
      refuse("text", "task.text.length_cap = {} is read with task.text.length_varies = true only", config.length_cap);
    require_range("text", "task.text.minimum_count", config.minimum_count, 0, 1'000'000'000);
    corpus_.options.minimum_count = elements(config.minimum_count);
    if (config.minimum_count > 0)
      vocabulary_ = build_vocabulary(count_tokens(corpus_.paths, corpus_.options), corpus_.options);
    encode();
    vocabulary_.freeze();
  }

  InputConfig input() const override { return {.vocabulary = static_cast<int>(vocabulary_.size())}; }
  HeadConfig head() const override { return {.name = "softmax", .outputs = static_cast<int>(vocabulary_.size())}; }
  std::vector<Metric> metrics() const override {
    if (published_) return {Metric::perplexity, Metric::cross_entropy, Metric::published_perplexity};
    return {words_ ? Metric::perplexity : Metric::bits_per_character, Metric::cross_entropy};
  }
  std::string baseline_text() const override { return "how often each token is in the training part"; }

  double baseline() const override { return baselines(judged_split()).front(); }
  std::vector<double> baselines(Split split) const override {
    std::vector<double> counts(vocabulary_.size(), 1.0);  // one more than seen, so that nothing is impossible
    for (const std::int32_t token : source(Split::train).labels) counts[token] += 1;
    const double total = static_cast<double>(source(Split::train).labels.size() + counts.size());
    double loss = 0;
    for (const std::int32_t token : source(split).labels) loss -= std::log(counts[token] / total);
    return {metric(loss / static_cast<double>(source(split).labels.size()))};
  }

  void save(const std::string& directory) const override { vocabulary_.save(vocabulary_path(directory)); }
  void load(const std::string& directory) override {
    Vocabulary saved = Vocabulary::load(vocabulary_path(directory));
    if (saved == vocabulary_) return;
    vocabulary_ = std::move(saved);
    encode();
  }

 private:
  void encode() {
    tokens_.clear();
    for (const std::string& path : corpus_.paths) tokens_.push_back(encode_text(path, corpus_.options, vocabulary_));
    const bool one = tokens_.size() == 1;
    const std::vector<std::int64_t> cuts = cut_by(shares_, static_cast<std::int64_t>(tokens_.front().size()));
    for (const Split split : {Split::train, Split::validation, Split::test}) {
      const auto part = static_cast<std::size_t>(split);
      std::span<const std::int32_t> tokens = tokens_[one ? 0 : part];
      if (one) tokens = tokens.subspan(elements(cuts[part]), elements(cuts[part + 1] - cuts[part]));
      Source& recording = source(split);
      recording.steps = tokens.empty() ? 0 : tokens.size() - 1;
      recording.tokens = tokens.first(recording.steps);
      recording.labels = tokens.last(recording.steps);
    }
    if (!has(Split::train))
      refuse("text", "{} has {} tokens, too few to learn from", corpus_.paths.front(), tokens_.front().size());
  }

  Corpus corpus_;
  std::vector<double> shares_;
  bool words_, published_;
  Vocabulary vocabulary_;
  std::vector<std::vector<std::int32_t>> tokens_;  // of each file
};

}  // namespace

TextOptions text_options(const TextConfig& config) {
  TextOptions options;
  const bool words = config.unit == TextUnit::word;
  options.unit = words ? TokenUnit::words : TokenUnit::characters;
  if (config.corpus == TextCorpus::text8) return options;
  options.end_of_line = words ? "<eos>" : "\n";
  if (config.corpus != TextCorpus::ptb) return options;
  // The character files hold characters with spaces between them: words of one letter to the reader.
  options.unit = TokenUnit::words;
  options.end_of_line = "<eos>";
  return options;
}

void describe(TextConfig& config, OptionList& list) {
  list.add("length", config.length, "steps of a window", between(1, 1e7));
  list.add("corpus", config.corpus, "which text; `files`: your own");
  list.add("unit", config.unit, "a token is a word or a character");
  list.add("files", config.files, "corpus = files: train, validation and test file; or one file, which `splits` cuts");
  list.add("splits", config.splits, "one file: its shares for train, validation, test; none: 0.9 0.05 0.05",
           between(0, 1));
  list.add("minimum_count", config.minimum_count,
           "tokens that occur less often than this are read as <unk>; 0: keep all", between(0, 1e9));
  list.add("published_metric", config.published_metric,
           "also report the biased metric of the adaptive TBPTT paper: losses of whole chunks of 100 steps, divided by "
           "all steps");
  list.add("evaluation_columns", config.evaluation_columns,
           "how many rows an evaluation cuts the text into, to read them side by side; 0: 10", between(0, 65536));
  list.add("length_varies", config.length_varies,
           "draw the length of each training window around `length`, or one time in twenty around half of it");
  list.add("length_cap", config.length_cap,
           "length_varies = true: a window has at most this many steps more than `length`", between(0, 1e6));
}

std::unique_ptr<Task> make_task(const TextConfig& config, std::uint64_t seed) {
  return std::make_unique<TextTask>(config, seed);
}

HeldOut give_back(TextConfig& config) {
  const bool one_file =
      config.corpus == TextCorpus::text8 || (config.corpus == TextCorpus::files && config.files.size() == 1);
  if (!one_file) return HeldOut::kept;
  config.splits = joined(shares_of("text", config.splits, own_shares));
  return HeldOut::given_back;
}

ModelNames text_names(const std::string& directory, const Model& model) {
  return vocabulary_names(directory, model, {});
}

}  // namespace throughtime
