// A kernel that refuses calls, as filters of containers and limits of processes do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <vector>

namespace stripline {

/// The kernel refuses system calls of these numbers (SYS_clone, ...) to the calling process from
/// now on, with this errno. For processes that end soon: it cannot be undone. False if it cannot be
/// had.
inline bool refuse_system_calls(std::initializer_list<uint32_t> numbers, uint32_t error) {
  std::vector<sock_filter> code = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  auto to_refusal = static_cast<uint8_t>(numbers.size());
  for (const uint32_t number : numbers) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, to_refusal--, 0));
  }
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace stripline
