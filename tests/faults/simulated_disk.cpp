#include "faults/simulated_disk.h"

#include <fstream>
#include <stdexcept>

namespace throughtime::testing {

std::vector<FileCall> read_trace(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<FileCall> calls;
  for (FileCall call; stream >> call.what; calls.push_back(call)) {
    call = FileCall{.what = call.what};
    std::size_t count = 0;
    if (call.what == "rename" || call.what == "link") {
      stream.get();
      std::getline(stream, call.path, '\t');
      std::getline(stream, call.other);
    } else if (call.what == "unlink") {
      stream.get();
      std::getline(stream, call.path);
    } else if (call.what == "create" || call.what == "mkdir") {
      stream >> call.inode;
      stream.get();
      std::getline(stream, call.path);
    } else if (call.what == "write") {
      stream >> call.inode >> call.place >> count;
      stream.get();
      call.bytes.resize(count);
      stream.read(call.bytes.data(), static_cast<std::streamsize>(count));
    } else if (call.what == "truncate") {
      stream >> call.inode >> call.place;
    } else if (call.what == "sync") {
      stream >> call.inode;
    } else {
      throw std::runtime_error("a trace with an unknown call: " + call.what);
    }
  }
  return calls;
}

SimulatedDisk::SimulatedDisk(std::uint64_t root) : root_(std::make_shared<Node>(Node{.directory = true})) {
  by_inode_[root] = root_;
}

SimulatedDisk::Place SimulatedDisk::find(const std::string& path) const {
  std::shared_ptr<Node> directory = root_;
  const std::filesystem::path whole(path);
  for (const std::filesystem::path& part : whole.parent_path()) directory = directory->names.at(part.string());
  return {directory, whole.filename().string()};
}

void SimulatedDisk::change(Node& directory, const Change& change) {
  if (!change.gone.empty()) directory.names.erase(change.gone);
  if (!change.name.empty()) directory.names[change.name] = change.node;
  directory.changes.push_back(change);
}

std::shared_ptr<SimulatedDisk::Node> SimulatedDisk::make(const FileCall& call, bool directory) {
  return by_inode_[call.inode] = std::make_shared<Node>(Node{.directory = directory});
}

void SimulatedDisk::apply(const FileCall& call) {
  if (call.what == "create" || call.what == "mkdir") {
    const Place place = find(call.path);
    change(*place.directory, {.gone = {}, .name = place.name, .node = make(call, call.what == "mkdir")});
  } else if (call.what == "rename") {
    const Place from = find(call.path), to = find(call.other);
    const std::shared_ptr<Node> node = from.directory->names.at(from.name);
    if (from.directory != to.directory) throw std::runtime_error("a rename into another directory");
    const auto old = to.directory->names.find(to.name);
    const bool same = old != to.directory->names.end() && old->second == node;  // then rename does nothing
    if (!same) change(*from.directory, {.gone = from.name, .name = to.name, .node = node});
  } else if (call.what == "link") {
    const Place from = find(call.path), to = find(call.other);
    change(*to.directory, {.gone = {}, .name = to.name, .node = from.directory->names.at(from.name)});
  } else if (call.what == "unlink") {
    const Place place = find(call.path);
    change(*place.directory, {.gone = place.name, .name = {}, .node = {}});
  } else if (const auto found = by_inode_.find(call.inode); found != by_inode_.end()) {
    Node& node = *found->second;
    if (call.what == "write") {
      node.bytes.resize(std::max<std::size_t>(node.bytes.size(), call.place + call.bytes.size()));
      node.bytes.replace(call.place, call.bytes.size(), call.bytes);
    } else if (call.what == "truncate") {
      node.bytes.resize(call.place);
    } else if (call.what == "sync") {
      node.synced_bytes = node.bytes;
      node.synced_names = node.names;
      node.changes.clear();
    }
  }
}

void SimulatedDisk::leave(const std::filesystem::path& directory, std::mt19937& random) const {
  leave(*root_, directory, random);
}

void SimulatedDisk::leave(const Node& node, const std::filesystem::path& path, std::mt19937& random) {
  const std::uint32_t mood = random() % 3;  // nothing, something, or all of what was not synced
  if (!node.directory) {
    std::string bytes = mood == 0 ? node.synced_bytes : node.bytes;
    if (mood == 1) {  // the length has arrived, some of the bytes have not
      const std::size_t whole = bytes.empty() ? 0 : random() % (bytes.size() + 1);
      for (std::size_t i = whole; i < bytes.size(); ++i)
        if (i >= node.synced_bytes.size() || node.synced_bytes[i] != bytes[i]) bytes[i] = '\0';
    }
    std::ofstream(path, std::ios::binary) << bytes;
    return;
  }
  std::filesystem::create_directories(path);
  Names names = node.synced_names;
  for (const Change& change : node.changes) {
    if (mood == 0 || (mood == 1 && random() % 2 == 0)) continue;
    if (!change.gone.empty()) names.erase(change.gone);
    if (!change.name.empty()) names[change.name] = change.node;
  }
  for (const auto& [name, child] : names) leave(*child, path / name, random);
}

}  // namespace throughtime::testing
