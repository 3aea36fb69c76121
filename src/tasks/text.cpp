#include "data/text.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/names.h"
#include "data/sets.h"
#include "tasks/columns.h"
#include "tasks/registry.h"
#include "tasks/shares.h"
#include "throughtime/error.h"

namespace throughtime {
namespace {

constexpr const char* vocabulary_file = "vocabulary.txt";
const std::vector<double> own_shares = {0.9, 0.05, 0.05};

/// Where the text of a task is and how it is cut into tokens.
struct Corpus {
  std::vector<std::string> paths;  // train, validation, test; or one that is cut by `shares`
  TextOptions options;
};

Corpus files_corpus(const TaskConfig& config, bool words) {
  if (config.files.size() != 1 && config.files.size() != 3)
    refuse("text", "task.files must name one file, or three (train, validation, test), got {}", config.files.size());
  for (const std::string& path : config.files)
    if (path != "-" && !std::filesystem::is_regular_file(path))
      refuse("text", "cannot read {}: there is no such file; name it with task.files (--set task.files=FILE)", path);
  Corpus corpus;
  corpus.paths = config.files;
  corpus.options.unit = words ? TextUnit::words : TextUnit::characters;
  corpus.options.end_of_line = words ? "<eos>" : "\n";
  return corpus;
}

Corpus corpus_of(const TaskConfig& config) {
  const bool words = config.unit == "word";
  if (!words && config.unit != "character") refuse_unknown("text", "task.unit", config.unit, text_unit_names());
  if (config.corpus == "files") return files_corpus(config, words);
  const std::string directory = data_directory(config.data);
  Corpus corpus;
  corpus.options.unit = words ? TextUnit::words : TextUnit::characters;
  const auto add = [&](const std::string& path) { corpus.paths.push_back(require_data_file(directory, path)); };
  if (config.corpus == "ptb") {
    // The character files hold characters with spaces between them: words of one letter to the reader.
    corpus.options.unit = TextUnit::words;
    corpus.options.end_of_line = "<eos>";
    for (const char* part : {"train", "valid", "test"})
      add(fmt::format("ptb/ptb.{}{}.txt", words ? "" : "char.", part));
  } else if (config.corpus == "wikitext-2") {
    corpus.options.end_of_line = words ? "<eos>" : "\n";
    for (const char* part : {"train", "valid", "test"}) add(fmt::format("wikitext-2/wiki.{}.tokens", part));
  } else if (config.corpus == "text8") {
    const std::string whole = find_data_file(directory, "text8/text8");
    if (whole.empty()) {
      add("text8-prefix/text8.first12500000");
    } else {
      corpus.paths.push_back(whole);
    }
  } else {
    refuse_unknown("text", "task.corpus", config.corpus, corpus_names());
  }
  return corpus;
}

/// Predict the next token of a text.
class TextTask final : public ColumnTask {
 public:
  TextTask(const TaskConfig& config, std::uint64_t seed)
      : ColumnTask(config, seed, 1, 10),
        corpus_(corpus_of(config)),
        shares_(shares_of(config, own_shares)),
        words_(config.unit == "word"),
        published_(config.published_metric) {
    if (published_ && !words_) refuse("text", "task.published_metric is of words; task.unit is '{}'", config.unit);
    require_range("text", "task.minimum_count", config.minimum_count, 0, 1'000'000'000);
    corpus_.options.minimum_count = static_cast<std::size_t>(config.minimum_count);
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

  double baseline() const override {
    const Split split = has(Split::test) ? Split::test : has(Split::validation) ? Split::validation : Split::train;
    std::vector<double> counts(vocabulary_.size(), 1.0);  // one more than seen, so that nothing is impossible
    for (const std::int32_t token : source(Split::train).labels) counts[static_cast<std::size_t>(token)] += 1;
    const double total = static_cast<double>(source(Split::train).labels.size() + counts.size());
    double loss = 0;
    for (const std::int32_t token : source(split).labels)
      loss -= std::log(counts[static_cast<std::size_t>(token)] / total);
    return metric(loss / static_cast<double>(source(split).labels.size()));
  }

  void save(const std::string& directory) const override {
    vocabulary_.save((std::filesystem::path(directory) / vocabulary_file).string());
  }
  void load(const std::string& directory) override {
    Vocabulary saved = Vocabulary::load((std::filesystem::path(directory) / vocabulary_file).string());
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
      if (one)
        tokens =
            tokens.subspan(static_cast<std::size_t>(cuts[part]), static_cast<std::size_t>(cuts[part + 1] - cuts[part]));
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

TaskType text_task() {
  return {.name = "text",
          .description = "the next word or character of Penn Treebank, WikiText-2, text8 or any text",
          .metric = "perplexity",
          .make = [](const TaskConfig& config, std::uint64_t seed) -> std::unique_ptr<Task> {
            return std::make_unique<TextTask>(config, seed);
          },
          .give_back =
              [](TaskConfig& config) {
                const bool one_file =
                    config.corpus == "text8" || (config.corpus == "files" && config.files.size() == 1);
                return one_file ? join_shares(config, own_shares) : HeldOut::kept;
              }};
}

std::vector<std::string> corpus_names() { return {"ptb", "wikitext-2", "text8", "files"}; }
std::vector<std::string> text_unit_names() { return {"word", "character"}; }

}  // namespace throughtime
