#include "optimizer/targets/mpich/selection_file.h"

#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "optimizer/targets/mpich/mpich.h"

namespace stripline::targets::mpich {
namespace {

constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();

// A selection of all collectives with one algorithm each, but for bcast and allreduce.
Selection own() {
  Selection selection = Selection::object();
  for (const std::string_view name : all_collectives()) {
    std::string function = "algorithm=MPIR_" + std::string(name) + "_own";
    function[15] = static_cast<char>(function[15] - 'a' + 'A');
    selection["collective=" + std::string(name)][function] = Selection::object();
  }
  Selection bcast = Selection::object();
  bcast["comm_size<8"]["algorithm=MPIR_Bcast_few"] = Selection::object();
  bcast["comm_size=any"]["avg_msg_size<=1024"]["algorithm=MPIR_Bcast_short"] = Selection::object();
  bcast["comm_size=any"]["avg_msg_size=any"]["algorithm=MPIR_Bcast_long"] = Selection::object();
  Selection both = Selection::object();
  both["comm_type=intra"] = bcast;
  both["comm_type=inter"]["algorithm=MPIR_Bcast_inter"] = Selection::object();
  selection["collective=bcast"] = both;
  return selection;
}

Candidate named(Collective collective, const std::string& name) {
  for (auto& candidate : candidates(collective)) {
    if (candidate.name == name) return candidate;
  }
  ADD_FAILURE() << name;
  return {};
}

CollectiveRules rules(Collective collective, uint32_t ranks, uint64_t first, uint64_t last,
                      const std::string& name) {
  return {collective, {{ranks, {{first, last, named(collective, name)}}}}};
}

std::string bcast_of(const Selection& selection, uint32_t ranks, uint64_t bytes) {
  return algorithm_for(selection, {.collective = Collective::bcast,
                                   .ranks = ranks,
                                   .average_bytes = bytes,
                                   .total_bytes = bytes});
}

TEST(Selection, RoundTripsInItsOrder) {
  const std::string text = write_selection(own());
  ASSERT_OK_AND_ASSIGN(const auto read, read_selection(text, "file"));
  EXPECT_EQ(write_selection(read), text);
  EXPECT_EQ(bcast_of(read, 4, 1 << 20), "MPIR_Bcast_few");
  EXPECT_EQ(bcast_of(read, 8, 1024), "MPIR_Bcast_short");
  EXPECT_EQ(bcast_of(read, 8, 1025), "MPIR_Bcast_long");
}

TEST(Selection, RulesHoldForTheirRanksAndSizesAlone) {
  ASSERT_OK_AND_ASSIGN(
      const auto tuned,
      selection_with(own(), {rules(Collective::bcast, 8, 64, 4096, "scatter_ring_allgather")}));
  for (const uint32_t ranks : {2U, 3U, 7U, 8U, 9U, 100U}) {
    for (const uint64_t bytes : {8U, 63U, 64U, 1024U, 4096U, 4097U}) {
      const bool ruled = ranks == 8 && bytes >= 64 && bytes <= 4096;
      EXPECT_EQ(bcast_of(tuned, ranks, bytes),
                ruled ? "MPIR_Bcast_intra_scatter_ring_allgather" : bcast_of(own(), ranks, bytes))
          << ranks << " " << bytes;
    }
  }
  // As many ranks of several nodes have what the library had, unless rules are of one of each.
  CollectiveRules spread = rules(Collective::bcast, 8, 64, 4096, "scatter_ring_allgather");
  spread.one_node = false;
  ASSERT_OK_AND_ASSIGN(const auto of_several, selection_with(own(), {spread}));
  for (const uint32_t of_node : {1U, 4U, 7U, 8U}) {
    Call call{.collective = Collective::bcast, .ranks = 8, .ranks_per_node = of_node};
    call.average_bytes = call.total_bytes = 1024;
    const std::string usual = algorithm_for(own(), call);
    const std::string ruled = "MPIR_Bcast_intra_scatter_ring_allgather";
    EXPECT_EQ(algorithm_for(tuned, call), of_node == 8 ? ruled : usual) << of_node;
    EXPECT_EQ(algorithm_for(of_several, call), of_node == 1 ? ruled : usual) << of_node;
  }
  // Twice: rules within rules, as a probe has them.
  ASSERT_OK_AND_ASSIGN(const auto probed,
                       selection_with(tuned, {rules(Collective::bcast, 8, 0, kAll, "nb")}));
  EXPECT_EQ(bcast_of(probed, 8, 64), "MPIR_Bcast_allcomm_nb");
  EXPECT_EQ(bcast_of(probed, 9, 64), bcast_of(own(), 9, 64));
}

TEST(Selection, RulesAreOfTotalsWhereThereIsNoAverage) {
  const std::pair<Collective, const char*> chosen[] = {
      {Collective::allgather, "ring"},
      {Collective::allgatherv, "ring"},
      {Collective::reduce_scatter, "pairwise"},
      {Collective::reduce_scatter_block, "pairwise"}};
  for (const auto& [collective, name] : chosen) {
    EXPECT_TRUE(has_size(collective));
    ASSERT_OK_AND_ASSIGN(const auto tuned,
                         selection_with(own(), {rules(collective, 4, 64, 4096, name)}));
    for (const uint64_t bytes : {8U, 63U, 64U, 4096U, 4097U, 1U << 20}) {
      const Call call{.collective = collective, .ranks = 4, .total_bytes = 4 * bytes};
      const bool ruled = bytes >= 64 && bytes <= 4096;
      EXPECT_EQ(algorithm_for(tuned, call) != algorithm_for(own(), call), ruled) << name << bytes;
    }
  }
  EXPECT_FALSE(has_size(Collective::gather));
  EXPECT_FALSE(has_size(Collective::alltoallv));
}

TEST(Selection, WhatAnAlgorithmNeedsIsGuarded) {
  const auto reduces = *selection_with(
      own(), {rules(Collective::allreduce, 4, 0, kAll, "reduce_scatter_allgather")});
  Call call{.collective = Collective::allreduce, .ranks = 4, .count = 4};
  EXPECT_EQ(algorithm_for(reduces, call), "MPIR_Allreduce_intra_reduce_scatter_allgather");
  call.built_in = false;
  EXPECT_EQ(algorithm_for(reduces, call), "MPIR_Allreduce_own");
  call.built_in = true;
  call.count = 3;
  EXPECT_EQ(algorithm_for(reduces, call), "MPIR_Allreduce_own");
  const auto halves =
      *selection_with(own(), {rules(Collective::reduce_scatter, 4, 0, kAll, "recursive_halving")});
  Call scatter{.collective = Collective::reduce_scatter, .ranks = 4, .commutative = false};
  EXPECT_EQ(algorithm_for(halves, scatter), "MPIR_Reduce_scatter_own");
  const auto blocks = *selection_with(
      own(), {rules(Collective::reduce_scatter_block, 4, 0, kAll, "noncommutative")});
  EXPECT_EQ(blocks.dump().find("is_block_regular"), std::string::npos) << "MPICH aborts there";
  const auto exchanges =
      *selection_with(own(), {rules(Collective::alltoall, 4, 0, kAll, "brucks")});
  Call alltoall{.collective = Collective::alltoall, .ranks = 4, .in_place = true};
  EXPECT_EQ(algorithm_for(exchanges, alltoall), "MPIR_Alltoall_own");
  alltoall.in_place = false;
  EXPECT_EQ(algorithm_for(exchanges, alltoall), "MPIR_Alltoall_intra_brucks");
}

TEST(Selection, AFileIsNeverAMultipleOf4096Bytes) {
  // Names of algorithms of every length, over more than a page.
  for (size_t length = 0; length < 4200; ++length) {
    Selection selection = own();
    selection["collective=scan"] = Selection::object();
    selection["collective=scan"]["algorithm=MPIR_Scan_" + std::string(length, 'x')] =
        Selection::object();
    const std::string text = write_selection(selection);
    ASSERT_NE(text.size() % 4096, 0U);
  }
  std::string text = write_selection(own());
  text.append(4096 - text.size() % 4096, ' ');
  const auto read = read_selection(text, "file");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message().find("multiple of 4096"), std::string::npos);
  EXPECT_TRUE(read_selection(text + " ", "file").ok());
}

TEST(Selection, RefusesWhatMpichWouldAbortOn) {
  const auto refused = [](const auto& change) {
    Selection selection = own();
    change(selection);
    return !read_selection(write_selection(selection), "file").ok();
  };
  EXPECT_FALSE(refused([](Selection&) {}));
  EXPECT_TRUE(refused([](Selection& s) { s.erase("collective=iscan"); }));
  EXPECT_TRUE(refused([](Selection& s) { s["collective=bcst"] = s["collective=bcast"]; }));
  const auto with = [&](const char* collective, const char* text) {
    return refused(
        [&](Selection& s) { s[std::string("collective=") + collective] = Selection::parse(text); });
  };
  EXPECT_TRUE(with("scan", "{}"));
  EXPECT_TRUE(with("scan", R"({"algorithm=MPIR_Bcast_intra_binomial":{}})"));
  EXPECT_TRUE(with("scan", R"({"comm_size<=8":{"algorithm=MPIR_Scan_a":{}}})"));
  EXPECT_TRUE(
      with("scan",
           R"({"size<=8":{"algorithm=MPIR_Scan_a":{}},"size=any":{"algorithm=MPIR_Scan_a":{}}})"));
  // Sizes of scans have no average; totals have.
  EXPECT_TRUE(with("scan", R"({"avg_msg_size=any":{"algorithm=MPIR_Scan_a":{}}})"));
  EXPECT_FALSE(with("scan", R"({"total_msg_size=any":{"algorithm=MPIR_Scan_a":{}}})"));
  EXPECT_TRUE(with("scan", R"({"is_commutative=yes":{"algorithm=MPIR_Scan_a":{}}})"));
  // Blocks of reduce_scatter_block are always regular.
  for (const char* const collective : {"reduce_scatter", "reduce_scatter_block"}) {
    const std::string algorithm =
        std::string(collective) == "reduce_scatter" ? "Reduce_scatter_a" : "Reduce_scatter_block_a";
    const std::string leaf = R"({"algorithm=MPIR_)" + algorithm + R"(":{}})";
    const std::string both =
        R"({"is_block_regular=yes":)" + leaf + R"(,"is_block_regular=no":)" + leaf + "}";
    EXPECT_EQ(with(collective, both.c_str()), std::string(collective) != "reduce_scatter");
  }
  EXPECT_FALSE(with(
      "scan",
      R"({"is_commutative=yes":{"algorithm=MPIR_Scan_a":{}},"is_commutative=no":{"algorithm=MPIR_Scan_b":{}}})"));
  EXPECT_TRUE(with("scan", R"({"algorithm=MPIR_Scan_a":{"j=2":{}}})"));
  EXPECT_FALSE(read_selection("[]", "file").ok());
  EXPECT_FALSE(read_selection("{", "file").ok());
  EXPECT_FALSE(read_selection("", "file").ok());
}

TEST(Selection, LaterVersionsHaveMoreWords) {
  Selection later = own();
  later["collective=barrier"] = Selection::object();
  later["collective=barrier"]["algorithm=MPIR_Barrier_intra_tree"]["is_non_blocking=1"] =
      Selection::object();
  Selection bcast = Selection::object();
  bcast["comm_avg_ppn<4"]["algorithm=MPIR_Bcast_few"] = Selection::object();
  bcast["per_proc_msg_size<=16"]["algorithm=MPIR_Bcast_short"] = Selection::object();
  bcast["per_proc_msg_size=any"]["algorithm=MPIR_Bcast_long"] = Selection::object();
  later["collective=bcast"] = bcast;
  const std::string text = write_selection(later);
  EXPECT_FALSE(read_selection(text, "file").ok());
  ASSERT_OK_AND_ASSIGN(const auto read, read_selection(text, "file", Grammar::v4_1));
  EXPECT_EQ(bcast_of(read, 8, 128), "MPIR_Bcast_short");
  EXPECT_EQ(bcast_of(read, 8, 1024), "MPIR_Bcast_long");
  // It is the one that a library of these versions holds, and rules are put into it.
  const std::string library =
      "\x7f"
      "ELF" +
      std::string(1, '\0') + later.dump() + std::string(1, '\0') + "more";
  EXPECT_FALSE(own_selection(library).ok());
  ASSERT_TRUE(own_selection(library, Grammar::v4_1).ok());
  ASSERT_OK_AND_ASSIGN(
      const auto tuned,
      selection_with(read, {rules(Collective::bcast, 8, 64, 4096, "binomial")}, Grammar::v4_1));
  EXPECT_EQ(bcast_of(tuned, 8, 128), "MPIR_Bcast_intra_binomial");
  EXPECT_EQ(bcast_of(tuned, 9, 128), "MPIR_Bcast_short");
  EXPECT_EQ(*grammar_of(*parse_version("4.0.3")), Grammar::v4_0);
  EXPECT_EQ(*grammar_of(*parse_version("4.3.1")), Grammar::v4_1);
  EXPECT_FALSE(grammar_of(*parse_version("5.0.0")).ok());
}

TEST(Selection, IsFoundInALibrary) {
  const std::string text = own().dump();
  const std::string library = std::string(
                                  "\x7f"
                                  "ELF\0",
                                  5) +
                              std::string("{\"collective=bcast\":{}}\0", 24) + text +
                              std::string("\0more", 5);
  ASSERT_OK_AND_ASSIGN(const auto found, own_selection(library));
  EXPECT_EQ(found, text);
  EXPECT_FALSE(own_selection("no selection").ok());
}

}  // namespace
}  // namespace stripline::targets::mpich
