#include "runtime/rma/program_images.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <link.h>
#include <string_view>

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

size_t padded(size_t bytes) { return (bytes + 3) / 4 * 4; }

// The build id, which the linker makes of the contents. 0: none.
uint64_t build_id(const dl_phdr_info& info) {
  for (size_t i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* note = address_of<char>(info.dlpi_addr + header.p_vaddr);
    const char* const end = note + header.p_memsz;
    while (static_cast<size_t>(end - note) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) head;
      std::memcpy(&head, note, sizeof head);
      const char* const name = note + sizeof head;
      const char* const text = name + padded(head.n_namesz);
      if (text + head.n_descsz > end) break;
      if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0) {
        return mix(kStart, text, head.n_descsz);
      }
      note = text + padded(head.n_descsz);
    }
  }
  return 0;
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
        uint64_t name = build_id(*info);
        if (name == 0) {
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
