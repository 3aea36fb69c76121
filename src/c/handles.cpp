#include "c/handles.h"

#include <mutex>
#include <unordered_map>

namespace throughtime::c {
namespace {

/// All objects that live. It is never destroyed: a thread may still call while the process ends.
struct Objects {
  std::mutex mutex;
  std::unordered_map<std::int64_t, std::shared_ptr<Object>> by_handle;
  std::int64_t last = 0;
};

Objects& objects() {
  static Objects* const all = new Objects;
  return *all;
}

std::string& last_error() {
  thread_local std::string line;
  return line;
}

}  // namespace

std::int64_t keep(std::shared_ptr<Object> object) {
  const std::lock_guard lock(objects().mutex);
  const std::int64_t handle = ++objects().last;  // never the number of one that is dead
  objects().by_handle.emplace(handle, std::move(object));
  return handle;
}

void release(std::int64_t handle) {
  std::shared_ptr<Object> last;  // destroyed after the lock
  const std::lock_guard lock(objects().mutex);
  const auto found = objects().by_handle.find(handle);
  if (found == objects().by_handle.end()) throw HandleError(fmt::format("[c] there is no handle {}", handle));
  last = std::move(found->second);
  objects().by_handle.erase(found);
}

std::shared_ptr<Object> find_object(std::int64_t handle) {
  const std::lock_guard lock(objects().mutex);
  const auto found = objects().by_handle.find(handle);
  if (found == objects().by_handle.end()) throw HandleError(fmt::format("[c] there is no handle {}", handle));
  return found->second;
}

void remember_error(const char* line) noexcept {
  try {
    last_error() = line;
  } catch (...) {
    last_error().clear();
  }
}

void hand_out(std::string_view what, char* text, std::size_t capacity, std::size_t* length) {
  *require(length, "length") = what.size();
  if (capacity <= what.size()) return;
  std::memcpy(require(text, "text"), what.data(), what.size());
  text[what.size()] = '\0';
}

}  // namespace throughtime::c

extern "C" {

const char* tt_last_error(void) { return throughtime::c::last_error().c_str(); }

int tt_free(int64_t handle) {
  return throughtime::c::guarded([&] { throughtime::c::release(handle); });
}
}
