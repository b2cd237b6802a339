// Private memory at a cache-line boundary, touched once so that no page fault falls into a timing.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace stripline::suites {

/// `count` zeroed elements of a trivial type.
template <typename T>
class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), kAlignment))), count_(count) {
    clear();
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  void clear() { std::memset(static_cast<void*>(data_.get()), 0, count_ * sizeof(T)); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
  size_t count_;
};

}  // namespace stripline::suites
