// The facts that decide whether a tuned model fits: of this machine, and of the fabric a job uses.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/fabric/fabric.h"
#include "runtime/machine/topology.h"

namespace stripline::machine {

/// The facts of a machine alone:
///   cpu.architecture  "x86_64"
///   cpu.model         as the processor calls itself
///   cpu.sockets, cpu.cores, cpu.threads, numa.nodes   counts
///   cpu.quota         processors that a control group's quota is worth ("1.5"), where there is one
///   cache.l1d_bytes, cache.l1i_bytes, cache.l2_bytes, cache.l3_bytes   of one cache, where known
///   memory_bytes      rounded to whole GiB (half GiB below 4), since firmware and kernels reserve
///                     a little that varies between equal nodes
///   kernel            release
///   memory.huge_pages.segments, memory.huge_pages.private   when the kernel gives huge pages to
///                     shared segments (shmem_enabled) and to private memory (enabled)
/// Those that the kernel does not say are left out.
std::map<std::string, std::string> machine_facts(const Topology& topology);

/// machine_facts() of this machine, with
///   fabric            as the user wrote it
///   fabric.provider   e.g. "tcp;ofi_rxm"
///   clock             "real" or "virtual"
/// and all of info.attributes; where the provider uses the kernel's TCP, also
///   tcp.receive_bytes, tcp.send_bytes   net.ipv4.tcp_rmem and tcp_wmem: "4096 131072 6291456"
///   tcp.congestion_control              net.ipv4.tcp_congestion_control
/// What a difference means is decided where models are made (the rule of each field is in the model
/// file).
std::map<std::string, std::string> machine_fingerprint(const fabric::Info& info);

using Facts = std::map<std::string, std::string>;

/// A rank, and the facts of its machine.
struct FactsOfRank {
  uint32_t rank = 0;
  Facts facts;
};

/// The facts of a job, by those of its ranks in ascending order: what not all ranks have alike has
/// as its value which rank has what ("1024 on rank 0, none on rank 3"), the first of each value and
/// at most three. A rank whose facts are those of one before it can be left out: it changes
/// nothing.
Facts join_facts(std::span<const FactsOfRank> of_ranks);

/// Facts in a text, and back. Errors: data_loss if it was not written by encode_facts().
std::string encode_facts(const Facts& facts);
Result<Facts> decode_facts(std::string_view text);

}  // namespace stripline::machine
