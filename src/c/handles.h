#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "throughtime/c.h"
#include "throughtime/error.h"

namespace throughtime::c {

/// A handle that is dead, of another kind, or at work.
class HandleError : public Error {
 public:
  using Error::Error;
};

/// What a handle stands for.
class Object {
 public:
  virtual ~Object() = default;
  /// A flag and no mutex: the thread that holds it may ask again, from a callback.
  std::atomic<bool> at_work = false;
};

std::int64_t keep(std::shared_ptr<Object> object);
void release(std::int64_t handle);
std::shared_ptr<Object> find_object(std::int64_t handle);

/// An object that this call alone works with while it lives.
template <class Kind>
class Use {
 public:
  explicit Use(std::int64_t handle) : object_(std::dynamic_pointer_cast<Kind>(find_object(handle))) {
    if (!object_) throw HandleError(fmt::format("[c] handle {} is no {}", handle, Kind::kind));
    if (object_->at_work.exchange(true, std::memory_order_acquire))
      throw HandleError(fmt::format("[c] this {} is at work in another call", Kind::kind));
  }
  ~Use() { object_->at_work.store(false, std::memory_order_release); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  Kind* operator->() const { return object_.get(); }
  Kind& operator*() const { return *object_; }

 private:
  std::shared_ptr<Kind> object_;
};

/// Keeps the line of an error for tt_last_error; never throws.
void remember_error(const char* line) noexcept;

/// Runs the body of a call: exceptions become classes of errors.
template <class Work>
int guarded(Work&& work) noexcept {
  try {
    work();
    return TT_OK;
  } catch (const HandleError& error) {
    remember_error(error.what());
    return TT_HANDLE;
  } catch (const InvalidInput& error) {
    remember_error(error.what());
    return TT_INVALID;
  } catch (const Error& error) {
    remember_error(error.what());
    return TT_FAILED;
  } catch (const std::bad_alloc&) {
    remember_error("[c] there is not enough memory");
    return TT_MEMORY;
  } catch (const std::exception& error) {
    remember_error(error.what());
    return TT_UNKNOWN;
  } catch (...) {
    remember_error("[c] an unknown error");
    return TT_UNKNOWN;
  }
}

/// Refuses a null pointer.
template <class T>
T* require(T* pointer, std::string_view name) {
  if (pointer == nullptr) refuse("c", "{} must not be NULL", name);
  return pointer;
}

/// Hands text out as c.h says.
void hand_out(std::string_view what, char* text, std::size_t capacity, std::size_t* length);

}  // namespace throughtime::c
