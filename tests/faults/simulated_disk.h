#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace throughtime::testing {

/// One call of a trace that the library of faults wrote: `create INODE PATH`, `mkdir INODE PATH`, `write INODE PLACE
/// COUNT` and the bytes, `truncate INODE SIZE`, `sync INODE`, `rename FROM<tab>TO`, `link FROM<tab>TO`, `unlink PATH`.
struct FileCall {
  std::string what;
  std::uint64_t inode = 0;
  std::string path, other;  // relative to where the command ran
  std::uint64_t place = 0;  // of a write; the size of a truncate
  std::string bytes;
};
std::vector<FileCall> read_trace(const std::filesystem::path& file);

/// A disk that keeps what was synced, and of everything else as much or as little as it likes: a name may be there
/// without its bytes, a later change without an earlier one.
class SimulatedDisk {
 public:
  /// `root`: the inode of the directory where the command ran.
  explicit SimulatedDisk(std::uint64_t root);
  void apply(const FileCall& call);
  /// Writes what a power cut could leave, by chance, into an empty directory.
  void leave(const std::filesystem::path& directory, std::mt19937& random) const;

 private:
  struct Node;
  using Names = std::map<std::string, std::shared_ptr<Node>>;
  struct Change {  // of the names of a directory: `gone` goes, `name` comes; either may be empty
    std::string gone, name;
    std::shared_ptr<Node> node;
  };
  struct Node {
    bool directory = false;
    Names names, synced_names;
    std::vector<Change> changes;  // since the last sync
    std::string bytes, synced_bytes;
  };
  struct Place {
    std::shared_ptr<Node> directory;
    std::string name;
  };

  Place find(const std::string& path) const;
  static void change(Node& directory, const Change& change);
  std::shared_ptr<Node> make(const FileCall& call, bool directory);
  static void leave(const Node& node, const std::filesystem::path& path, std::mt19937& random);

  std::shared_ptr<Node> root_;
  std::map<std::uint64_t, std::shared_ptr<Node>> by_inode_;  // the latest that had the number
};

}  // namespace throughtime::testing
