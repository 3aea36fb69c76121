#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace throughtime {

/// One thing to do on a device: a function and its parameters, which are plain numbers and device pointers.
struct Operation {
  void (*call)(void (*function)(), const void* context, const void* parameters) = nullptr;
  void (*function)() = nullptr;
  std::size_t parameters = 0;  // where they begin in the list's bytes
};

/// Operations in the order they were asked for. `bytes` holds functions and parameters of all of them: two lists with
/// the same bytes do the same.
struct OperationList {
  std::vector<Operation> operations;
  std::vector<std::byte> bytes;

  void run(const void* context) const {
    for (const Operation& operation : operations)
      operation.call(operation.function, context, bytes.data() + operation.parameters);
  }
};

/// What carries lists out: a stream of a GPU, or a fake in tests. A slot is host memory that is copied to the device.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Makes `slots` slots of that many bytes and one piece of the device as long as one of them, instead of those
  /// before. Nothing that was issued is under way afterwards.
  virtual void make_arena(std::size_t bytes, int slots) = 0;
  virtual std::byte* slot(int slot) = 0;
  virtual std::byte* device_arena() = 0;
  virtual void upload(int slot, std::size_t bytes) = 0;
  /// Waits until that slot's last upload is done.
  virtual void wait_for(int slot) = 0;
  virtual void run(const OperationList& list) = 0;
  /// A graph of the list; -1: it cannot be made, run the list instead.
  virtual int capture(const OperationList& list) = 0;
  virtual void launch(int graph) = 0;
  virtual void drop(int graph) = 0;
  virtual void finish() = 0;
};

struct RecorderLimits {
  int calls = 64;                            // of the engine in one list
  std::size_t bytes = std::size_t{1} << 18;  // of their numbers: more are on their way while the host goes on
  int lists = 128;                           // that are remembered
  int slots = 4;                             // uploads that may be under way
  bool graphs = true;                        // false: every list runs operation by operation
  std::size_t arena = std::size_t{1} << 20;
};

/// What the recorder did, for tests and curious people.
struct RecorderCounts {
  std::int64_t lists = 0, graphs_made = 0, graphs_launched = 0, graphs_dropped = 0, arenas = 0;
};

/// Some of the numbers of a call: written here, read there.
template <class T>
struct Numbers {
  T* host = nullptr;
  const T* device = nullptr;
};

/// Collects what an engine is asked for and hands it over in lists. A call's numbers are copied into the arena when it
/// is made, so its caller's memory is free when it returns. A list that was seen before is launched as one graph.
class CallRecorder {
 public:
  CallRecorder(Executor& executor, RecorderLimits limits);

  /// Room for calls with that many bytes of numbers; asked for where memory may be allocated.
  void reserve(std::size_t bytes);
  /// A call begins whose numbers have at most that many bytes.
  void begin_call(std::size_t bytes);
  void end_call();

  template <class T>
  Numbers<T> numbers(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::size_t begin = used_;
    used_ += rounded(count * sizeof(T));
    if (used_ > arena_) refuse_overflow();
    return {reinterpret_cast<T*>(executor_.slot(slot_) + begin),
            reinterpret_cast<const T*>(executor_.device_arena() + begin)};
  }
  template <class T>
  const T* number(const T& value) {
    const Numbers<T> one = numbers<T>(1);
    std::memcpy(one.host, &value, sizeof(T));
    return one.device;
  }
  /// Bytes that `count` numbers of T take in the arena.
  template <class T>
  static std::size_t bytes_of(std::size_t count) {
    return rounded(count * sizeof(T));
  }

  template <class Context, class Parameters>
  void add(void (*function)(const Context&, const Parameters&), const Parameters& parameters) {
    static_assert(std::is_trivially_copyable_v<Parameters> && alignof(Parameters) <= 16);
    const auto call = [](void (*plain)(), const void* context, const void* bytes) {
      reinterpret_cast<void (*)(const Context&, const Parameters&)>(plain)(*static_cast<const Context*>(context),
                                                                           *static_cast<const Parameters*>(bytes));
    };
    Parameters copy = parameters;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&copy);  // else what lies between the numbers would tell equal lists apart
#endif
    append(call, reinterpret_cast<void (*)()>(function), &copy, sizeof(Parameters));
  }

  /// Hands over what was collected.
  void flush();
  const RecorderCounts& counts() const { return counts_; }

 private:
  struct Known {
    std::uint64_t hash = 0;
    std::vector<std::byte> bytes;
    int graph = -1;
    std::int64_t used = 0;  // when, in lists
  };
  [[noreturn]] static void refuse_overflow();
  static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  void append(void (*call)(void (*)(), const void*, const void*), void (*function)(), const void* parameters,
              std::size_t bytes);
  Known* find(std::uint64_t hash);
  void remember(std::uint64_t hash);
  void forget_graphs();

  Executor& executor_;
  RecorderLimits limits_;
  OperationList list_;
  std::vector<Known> known_;
  std::size_t arena_ = 0, used_ = 0;
  int slot_ = 0, calls_ = 0;
  RecorderCounts counts_;
};

}  // namespace throughtime
