// Places in the files that a process consists of: its program and the libraries it has loaded. Each
// process has them at addresses of its own; a place means the same in all that have loaded the same
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stripline::rma {

class ProgramImages {
 public:
  struct Place {
    uint64_t image = 0;   ///< of the file: from its build id, or else from its layout and name
    uint64_t offset = 0;  ///< from where the file begins in memory
    bool operator==(const Place&) const = default;
  };

  /// Where the object at this address lies. False: in no file.
  bool find(const void* object, Place& place);

  /// `bytes` at a place of this process; null if it has no such file, or the file no such place.
  const void* at(const Place& place, size_t bytes);

 private:
  struct Image {
    uint64_t name = 0;
    uintptr_t begin = 0;
    uintptr_t end = 0;
  };
  void look();

  std::vector<Image> images_;  // as of the last look
};

}  // namespace stripline::rma
