// Preloaded into the command by tests/faults: makes the n-th call of a kind fail, counts calls, and writes down what
// was done to files. It begins with main(), uses system calls and nothing of the C++ library.
//
//   THROUGHTIME_FAULT=KIND:N:ERRNO[+]   the N-th call of that kind fails with ERRNO; with a +, all after it too
//   THROUGHTIME_FAULT_COUNTS=FILE       the number of calls of each kind is written there at the end
//   THROUGHTIME_FAULT_TRACE=FILE        what happens to files and directories (trace.h says how)
//
// Kinds: open write short fsync rename link mkdir truncate mmap malloc. `short` writes half of what it should.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind { k_open, k_write, k_short, k_fsync, k_rename, k_link, k_mkdir, k_truncate, k_mmap, k_malloc, kinds };
constexpr const char* kind_names[kinds] = {"open", "write", "short",    "fsync", "rename",
                                           "link", "mkdir", "truncate", "mmap",  "malloc"};

bool running = false;  // main() has begun
long counts[kinds];
int fault_kind = -1, fault_error = 0;
long fault_at = 0;
bool fault_stays = false;
int trace = -1;

/// Counts a call; true where it is to fail, with errno set.
bool fails(Kind kind) {
  if (!running) return false;
  const long number = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED);
  if (kind != fault_kind || (fault_stays ? number < fault_at : number != fault_at)) return false;
  errno = fault_error;
  return true;
}

void read_request(const char* text) {
  for (int kind = 0; kind < kinds; ++kind) {
    const size_t length = strlen(kind_names[kind]);
    if (strncmp(text, kind_names[kind], length) != 0 || text[length] != ':') continue;
    char* end = nullptr;
    fault_at = strtol(text + length + 1, &end, 10);
    fault_error = static_cast<int>(strtol(end + 1, &end, 10));
    fault_stays = *end == '+';
    fault_kind = kind;
  }
}

long raw_open(const char* path, int flags, int mode) { return syscall(SYS_openat, AT_FDCWD, path, flags, mode); }

/// One record: a line, and for a write its bytes.
__attribute__((format(printf, 3, 4))) void note(const void* bytes, size_t size, const char* format, ...) {
  if (trace < 0 || !running) return;
  const int error = errno;
  static char lock = 0;
  while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) continue;
  char line[4600];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  syscall(SYS_write, trace, line, static_cast<size_t>(length));
  if (size > 0) syscall(SYS_write, trace, bytes, size);
  __atomic_clear(&lock, __ATOMIC_RELEASE);
  errno = error;
}

unsigned long inode_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

int open_traced(const char* path, int flags, int mode) {
  if (fails(k_open)) return -1;
  struct stat before;
  const bool fresh = trace >= 0 && (flags & O_CREAT) != 0 && lstat(path, &before) != 0;
  const int descriptor = static_cast<int>(raw_open(path, flags, mode));
  if (descriptor >= 0 && fresh) note(nullptr, 0, "create %lu %s\n", inode_of(descriptor), path);
  return descriptor;
}

using Main = int (*)(int, char**, char**);
Main real_main = nullptr;

int begin(int argc, char** argv, char** environment) {
  if (const char* text = getenv("THROUGHTIME_FAULT")) read_request(text);
  if (const char* path = getenv("THROUGHTIME_FAULT_TRACE"))
    trace = static_cast<int>(raw_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  running = true;
  const int code = real_main(argc, argv, environment);
  running = false;
  if (const char* path = getenv("THROUGHTIME_FAULT_COUNTS")) {
    const int file = static_cast<int>(raw_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    for (int kind = 0; kind < kinds; ++kind) dprintf(file, "%s %ld\n", kind_names[kind], counts[kind]);
    close(file);
  }
  return code;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*unload)(), void* stack) {
  using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
  real_main = main;
  return next<Start>("__libc_start_main")(begin, argc, argv, init, fini, unload, stack);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  return open_traced(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const int mode = va_arg(arguments, int);
  va_end(arguments);
  return open_traced(path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  if (fails(k_open)) return nullptr;
  return next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  if (fails(k_open)) return nullptr;
  return next<FILE* (*)(const char*, const char*)>("fopen64")(path, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  const bool ours = descriptor > STDERR_FILENO;  // what is said about a fault must get through
  if (ours && fails(k_write)) return -1;
  if (ours && size > 1 && fails(k_short)) size /= 2;
  const off_t place = trace >= 0 ? lseek(descriptor, 0, SEEK_CUR) : 0;
  const ssize_t count = syscall(SYS_write, descriptor, bytes, size);
  if (count > 0 && ours && place >= 0)
    note(bytes, static_cast<size_t>(count), "write %lu %ld %ld\n", inode_of(descriptor), static_cast<long>(place),
         static_cast<long>(count));
  return count;
}
int fsync(int descriptor) {
  if (fails(k_fsync)) return -1;
  note(nullptr, 0, "sync %lu\n", inode_of(descriptor));
  return 0;  // the simulated disk is in the trace; a real one would only be slow
}
int ftruncate(int descriptor, off_t size) noexcept {
  if (fails(k_truncate)) return -1;
  const long result = syscall(SYS_ftruncate, descriptor, size);
  if (result == 0) note(nullptr, 0, "truncate %lu %ld\n", inode_of(descriptor), static_cast<long>(size));
  return static_cast<int>(result);
}

int rename(const char* from, const char* to) noexcept {
  if (fails(k_rename)) return -1;
  const long result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) note(nullptr, 0, "rename %s\t%s\n", from, to);
  return static_cast<int>(result);
}
int link(const char* from, const char* to) noexcept {
  if (fails(k_link)) return -1;
  const long result = syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0) note(nullptr, 0, "link %s\t%s\n", from, to);
  return static_cast<int>(result);
}
int mkdir(const char* path, mode_t mode) noexcept {
  if (fails(k_mkdir)) return -1;
  const long result = syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  struct stat status;
  if (result == 0 && stat(path, &status) == 0)
    note(nullptr, 0, "mkdir %lu %s\n", static_cast<unsigned long>(status.st_ino), path);
  return static_cast<int>(result);
}
int unlink(const char* path) noexcept {
  const long result = syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0) note(nullptr, 0, "unlink %s\n", path);
  return static_cast<int>(result);
}
int rmdir(const char* path) noexcept {
  const long result = syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  if (result == 0) note(nullptr, 0, "unlink %s\n", path);
  return static_cast<int>(result);
}
int remove(const char* path) noexcept {
  if (unlink(path) == 0) return 0;
  return errno == EISDIR ? rmdir(path) : -1;
}

void* mmap(void* place, size_t length, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (fails(k_mmap)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, place, length, protection, flags, descriptor, offset));
}
void* mmap64(void* place, size_t length, int protection, int flags, int descriptor, off_t offset) noexcept {
  return mmap(place, length, protection, flags, descriptor, offset);
}

void* malloc(size_t size) noexcept { return fails(k_malloc) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) noexcept { return fails(k_malloc) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) noexcept { return fails(k_malloc) ? nullptr : __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return fails(k_malloc) ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) noexcept {
  return fails(k_malloc) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  *result = fails(k_malloc) ? nullptr : __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

}  // extern "C"
