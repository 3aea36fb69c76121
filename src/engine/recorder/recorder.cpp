#include "engine/recorder/recorder.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "throughtime/index.h"

namespace throughtime {

CallRecorder::CallRecorder(Executor& executor, RecorderLimits limits) : executor_(executor), limits_(limits) {
  reserve(limits_.arena);
}

void CallRecorder::reserve(std::size_t bytes) {
  if (bytes <= arena_) return;
  flush();
  executor_.finish();
  forget_graphs();  // they hold addresses of the old arena
  arena_ = std::max(rounded(bytes), 2 * arena_);
  executor_.make_arena(arena_, limits_.slots);
  slot_ = 0;
  ++counts_.arenas;
}

void CallRecorder::begin_call(std::size_t bytes) {
  if (bytes > arena_) return reserve(bytes);
  if (used_ + bytes > arena_) flush();
}

void CallRecorder::end_call() {
  if (++calls_ >= limits_.calls || used_ >= limits_.bytes) flush();
}

void CallRecorder::append(void (*call)(void (*)(), const void*, const void*), void (*function)(),
                          const void* parameters, std::size_t bytes) {
  // The functions are part of the bytes, so that these alone tell lists apart.
  const std::size_t begin = list_.bytes.size(), head = rounded(sizeof(call) + sizeof(function));
  list_.bytes.resize(begin + head + rounded(bytes));  // zeros, padding included
  std::memcpy(list_.bytes.data() + begin, &call, sizeof(call));
  std::memcpy(list_.bytes.data() + begin + sizeof(call), &function, sizeof(function));
  std::memcpy(list_.bytes.data() + begin + head, parameters, bytes);
  list_.operations.push_back({call, function, begin + head});
}

void CallRecorder::refuse_overflow() { throw std::logic_error("[recorder] a call has more numbers than it said"); }

CallRecorder::Known* CallRecorder::find(std::uint64_t hash) {
  for (Known& known : known_)
    if (known.hash == hash && known.bytes == list_.bytes) return &known;
  return nullptr;
}

void CallRecorder::remember(std::uint64_t hash) {
  if (known_.size() < elements(limits_.lists)) {
    known_.push_back({hash, list_.bytes, -1, counts_.lists});
    return;
  }
  const auto oldest =
      std::min_element(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.used < b.used; });
  if (oldest->graph >= 0) {
    executor_.drop(oldest->graph);
    ++counts_.graphs_dropped;
  }
  *oldest = {hash, list_.bytes, -1, counts_.lists};
}

void CallRecorder::forget_graphs() {
  for (const Known& known : known_)
    if (known.graph >= 0) executor_.drop(known.graph);
  known_.clear();
}

void CallRecorder::flush() {
  calls_ = 0;
  if (list_.operations.empty()) {
    used_ = 0;
    return;
  }
  ++counts_.lists;
  if (used_ > 0) executor_.upload(slot_, used_);
  const std::uint64_t hash =
      std::hash<std::string_view>{}({reinterpret_cast<const char*>(list_.bytes.data()), list_.bytes.size()});
  Known* known = limits_.graphs ? find(hash) : nullptr;
  if (known && known->graph < 0 && (known->graph = executor_.capture(list_)) >= 0) ++counts_.graphs_made;
  if (known && known->graph >= 0) {
    executor_.launch(known->graph);
    ++counts_.graphs_launched;
  } else {
    executor_.run(list_);
  }
  if (known)
    known->used = counts_.lists;
  else if (limits_.graphs)
    remember(hash);
  list_.operations.clear();
  list_.bytes.clear();
  if (used_ > 0) {
    slot_ = (slot_ + 1) % limits_.slots;
    executor_.wait_for(slot_);
    used_ = 0;
  }
}

}  // namespace throughtime
