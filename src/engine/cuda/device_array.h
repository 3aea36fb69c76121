#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "engine/cuda/context.h"

namespace throughtime::cuda {

/// Memory of the device that is current where it is made. Never resized, never copied; its numbers are zero at first.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::lock_guard lock(device_changes());
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "memory of the device");
    check(cudaMemset(data_, 0, bytes()), "memory of the device");
    check(cudaStreamSynchronize(nullptr), "memory of the device");  // no stream of ours waits for that
  }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() {
    if (!data_) return;
    const std::lock_guard lock(device_changes());
    cudaFree(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Host memory that the device reads and writes by itself.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  explicit PinnedBytes(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::lock_guard lock(device_changes());
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), size), "pinned memory");
  }
  PinnedBytes(PinnedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBytes& operator=(PinnedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PinnedBytes() {
    if (!data_) return;
    const std::lock_guard lock(device_changes());
    cudaFreeHost(data_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace throughtime::cuda
