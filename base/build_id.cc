#include "base/build_id.h"

#include <cstdint>
#include <cstring>
#include <elf.h>

namespace stripline {

std::span<const std::byte> build_id_of(const dl_phdr_info& file) {
  for (size_t i = 0; i < file.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = file.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const size_t unit = header.p_align == 8 ? 8 : 4;
    const auto padded = [unit](size_t bytes) { return (bytes + unit - 1) / unit * unit; };
    const uintptr_t begin = file.dlpi_addr + header.p_vaddr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader names memory by numbers
    std::span<const std::byte> notes(reinterpret_cast<const std::byte*>(begin), header.p_memsz);
    ElfW(Nhdr) note{};
    while (notes.size() >= sizeof note) {
      std::memcpy(&note, notes.data(), sizeof note);
      const size_t described = padded(sizeof note + note.n_namesz);
      const size_t end = described + padded(note.n_descsz);
      if (end > notes.size()) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
          std::memcmp(notes.data() + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
        return notes.subspan(described, note.n_descsz);
      }
      notes = notes.subspan(end);
    }
  }
  return {};
}

}  // namespace stripline
