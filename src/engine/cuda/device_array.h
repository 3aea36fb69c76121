#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "engine/cuda/context.h"
#include "engine/cuda/counts.h"

namespace throughtime::cuda {

/// Memory of the device that is current where it is made. Never resized, never copied; its numbers are zero at first.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::lock_guard lock(device_changes());
    const cudaError_t made = cudaMalloc(reinterpret_cast<void**>(&data_), bytes());
    if (made == cudaErrorMemoryAllocation) refuse_memory(bytes(), "memory of the device");
    check(made, "memory of the device");
    ++device_counts().arrays;
    device_counts().bytes += bytes();
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
    device_counts().bytes -= bytes();
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
    ++device_counts().pinned;
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
