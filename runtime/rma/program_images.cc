#include "runtime/rma/program_images.h"

#include <algorithm>
#include <limits>
#include <link.h>
#include <string_view>

#include "base/build_id.h"

namespace stripline::rma {
namespace {

// FNV-1a, 64 bits.
uint64_t mix(uint64_t hash, const void* data, size_t bytes) {
  const auto* one = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ one[i]) * 0x100000001b3ULL;
  return hash;
}
constexpr uint64_t kStart = 0xcbf29ce484222325ULL;

// The loader names memory by numbers.
template <typename T>
const T* address_of(uintptr_t address) {
  return reinterpret_cast<const T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void ProgramImages::look() {
  images_.clear();
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* images) {
        uintptr_t begin = std::numeric_limits<uintptr_t>::max();
        uintptr_t end = 0;
        uint64_t layout = kStart;
        for (size_t i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) continue;
          begin = std::min<uintptr_t>(begin, info->dlpi_addr + header.p_vaddr);
          end = std::max<uintptr_t>(end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
          layout = mix(layout, &header, sizeof header);
        }
        if (end == 0) return 0;
        const auto id = build_id_of(*info);
        uint64_t name = mix(kStart, id.data(), id.size());
        if (id.empty()) {
          const std::string_view path(info->dlpi_name);
          const std::string_view file = path.substr(path.rfind('/') + 1);
          name = mix(layout, file.data(), file.size());
        }
        static_cast<std::vector<Image>*>(images)->push_back({name, begin, end});
        return 0;
      },
      &images_);
}

bool ProgramImages::find(const void* object, Place& place) {
  const auto address = reinterpret_cast<uintptr_t>(object);
  for (int looks = 0; looks < 2; ++looks) {
    for (const Image& image : images_) {
      if (address < image.begin || address >= image.end) continue;
      place = {image.name, address - image.begin};
      return true;
    }
    look();  // first of all, or a library was loaded since
  }
  return false;
}

const void* ProgramImages::at(const Place& place, size_t bytes) {
  for (int looks = 0; looks < 2; ++looks) {
    for (const Image& image : images_) {
      if (image.name != place.image) continue;
      const uintptr_t length = image.end - image.begin;
      if (place.offset > length || bytes > length - place.offset) return nullptr;
      return address_of<char>(image.begin + place.offset);
    }
    look();
  }
  return nullptr;
}

}  // namespace stripline::rma
