// What OpenSHMEM programs do, and how they end, on all paths.
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <utility>

#include "optimizer/model/feedback.h"
#include "runtime/loop/testing/model_file.h"
#include "shmem/tests/jobs.h"

namespace stripline {
namespace {

TEST(OpenShmem, SharesStaticDataAndTheHeap) { expect_passed_on_all("symmetric_data"); }
// Static data of the library that a program is linked with.
TEST(OpenShmem, SharesDataOfSharedObjects) { expect_passed_on_all("library_data"); }
TEST(OpenShmem, PutsGetsAndCounts) { expect_passed_on_all("operations"); }
TEST(OpenShmem, HasCollectiveOperations) { expect_passed_on_all("collectives"); }
TEST(OpenShmem, DoesWhatFormulasSayInEachFunction) {
  for (const auto& path : {kMapped, kTcp}) expect_passed("every_function", path, {}, {}, {2});
  expect_passed("every_function", kEmulated, {}, {}, {3});
  expect_passed("every_function", kNodes, {}, {}, {4});
  expect_passed("every_function", kTcp, {}, {{"STRIPLINE_COALESCE", "1"}}, {3});
}
TEST(OpenShmem, HasTheSameByThreads) {
  for (const auto& path : {kMapped, kTcp}) expect_passed("collectives", path, {"multiple"});
}
// STRIPLINE_TEST_FLOOD: how many puts; ten million by scripts/check.sh openshmem-order.
TEST(OpenShmem, KeepsPutsWithinABudgetOfMemory) {
  const std::string puts = std::to_string(test_size("STRIPLINE_TEST_FLOOD", 200000));
  for (const auto& path : {kMapped, kTcp}) expect_passed("flood", path, {puts});
  expect_passed("flood", kTcp, {puts}, {{"STRIPLINE_COALESCE", "1"}, {"STRIPLINE_BULK", "1"}});
}

// A network without atomic operations: PEs serve each other's.
const Arguments kByMessages = {"--fabric", "emulated:opteron-vapi", "--clock", "virtual"};
const Variables kDebug = {{"SHMEM_DEBUG", "1"}};

TEST(OpenShmem, IsCheckedInDebugMode) {
  for (const char* const name : {"operations", "collectives"}) {
    for (const auto& path : {kTcp, kByMessages}) expect_passed(name, path, {}, kDebug);
  }
}
// Few operations: debug mode looks at each of them.
TEST(OpenShmem, IsCheckedInDebugModeWhateverItDoes) {
  for (const char* const name : {"c99", "overloads"}) {
    expect_passed(name, kMapped, {}, kDebug, {2});
  }
  expect_passed("threads", kTcp, {}, kDebug, {2});
  expect_passed("shadow", kMapped, {"5", "300", "2"}, kDebug, {2});
  for (const auto& path : {kTcp, kByMessages}) {
    expect_passed("litmus", path, {"3"}, kDebug, {3});
    expect_passed("shadow", path, {"4", "300"}, kDebug, {3});
  }
}
// The program puts to the same words again and again, and counts there, with nothing in between.
TEST(OpenShmem, NamesOperationsWithoutAnOrderInDebugMode) {
  for (const auto& path : {kMapped, kTcp}) {
    const Finished ended = job(2, path, osh("flood", {"1"}), kDebug);
    EXPECT_EQ(ended.exit_code, kExitUsage) << ended.err;
    EXPECT_NE(ended.err.find("conflicts with an earlier "), std::string::npos) << ended.err;
  }
}
TEST(OpenShmem, NamesCallsWithTheirLinesInTracesAndMessages) {
  void* const library = ::dlopen("libdw.so.1", RTLD_NOW);
  const bool has_lines = library != nullptr;
  if (has_lines) ::dlclose(library);
  Arguments traced = kTcp;
  traced.push_back("--trace");
  const Finished ended = job(2, traced, osh("operations"));
  EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  const std::string said = ended.out + ended.err;
  EXPECT_NE(said.find("  shmem_"), std::string::npos) << said;
  EXPECT_EQ(said.find(":0:"), std::string::npos) << said;
  EXPECT_EQ(said.find(" at operations.c:") != std::string::npos, has_lines) << said;
  const Finished mistaken = job(3, kTcp, osh("endings", {"address"}), {{"SHMEM_DEBUG", "1"}});
  EXPECT_EQ(mistaken.exit_code, kExitUsage);
  EXPECT_EQ(mistaken.err.find("endings.c:") != std::string::npos, has_lines) << mistaken.err;
}

// The program of docs/worked-examples.md.
TEST(OpenShmem, CountsAndReadsOneByOne) {
  for (const auto& arguments : {Arguments{"3000", "500"}, Arguments{"3000", "500", "records"}}) {
    for (const char* const coalesces : {"0", "1"}) {
      const Finished ended =
          job(3, kTcp, osh("single_accesses", arguments), {{"STRIPLINE_COALESCE", coalesces}});
      EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
      EXPECT_NE(ended.out.find("as expected"), std::string::npos) << ended.out;
    }
  }
}

TEST(OpenShmem, MeasuresThreadsThatHaveContexts) {
  for (const auto& path : {kTcp, kShm, kMapped}) {
    const Finished ended = job(2, path, osh("injection", {"3"}));
    ASSERT_EQ(ended.exit_code, kExitOk) << ended.err;
    size_t rows = 0;
    for (size_t at = 0; (at = ended.out.find("\"threads\":2,", at)) != std::string::npos; ++at)
      ++rows;
    EXPECT_EQ(rows, 6u) << ended.out;
  }
  const Finished refused = job(3, kTcp, osh("injection"));
  EXPECT_NE(refused.exit_code, kExitOk);
  EXPECT_NE(refused.err.find("with 2 PEs"), std::string::npos) << refused.err;
}

TEST(OpenShmem, ShowsInTracesWhatNeedsNotWait) {
  Arguments traced = kTcp;
  traced.emplace_back("--trace");
  traced.emplace_back("--coalesce");
  const Finished ended = job(2, traced, osh("coalesce"));
  EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  const std::string said = ended.out + ended.err;
  EXPECT_NE(said.find("combined atomic operation"), std::string::npos) << said;
  EXPECT_NE(said.find("region of "), std::string::npos) << said;
}

// Bounds of a PE: 8 MiB for what is read ahead, 8 MiB for what is copied and gets of phases.
TEST(OpenShmem, ReportsTheMemoryOfWhatNeedsNotWait) {
  const ModelFile model("shmem_programs_test");
  const TempFolder folder;
  const std::string file = (folder / "report.json").string();
  const auto buffer_bytes = [&](const Arguments& options) {
    Arguments path = kTcp;
    path.insert(path.end(), {"--model", model.path(), "--report", file});
    path.insert(path.end(), options.begin(), options.end());
    const Finished ended = job(2, path, osh("coalesce", {"1000"}));
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
    const auto report = model::parse_feedback(read_file(file), file);
    EXPECT_TRUE(report.ok()) << ended.err;
    return report.ok() ? report->buffer_bytes : 0;
  };
  const uint64_t used =
      buffer_bytes({"--coalesce", "--bulk", "--tuning", "fine:*:boxes;bulk:*:both"});
  EXPECT_GT(used, 0U);
  EXPECT_LE(used, uint64_t{16} << 20);
  EXPECT_EQ(buffer_bytes({}), 0U);
}

TEST(OpenShmem, SendsAtomicOperationsAloneWhereARuleSaysSo) {
  Arguments traced = kTcp;
  for (const char* const word : {"--trace", "--coalesce", "--tuning", "atomic:*:message"}) {
    traced.emplace_back(word);
  }
  const Finished ended = job(2, traced, osh("coalesce"));
  EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  const std::string said = ended.out + ended.err;
  EXPECT_NE(said.find("atomic operation"), std::string::npos) << said;
  EXPECT_EQ(said.find("combined atomic operation"), std::string::npos) << said;
}

TEST(OpenShmem, RefusesBulkRegionsOfSeveralThreads) {
  const Finished ended = job(2, kTcp, osh("threads"), {{"STRIPLINE_BULK", "1"}});
  EXPECT_EQ(ended.exit_code, kExitUsage) << ended.err;
  EXPECT_NE(ended.err.find("STRIPLINE_BULK"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("SHMEM_THREAD_MULTIPLE"), std::string::npos) << ended.err;
}

TEST(OpenShmem, CoalescesOnAllPesOrOnNone) {
  const Finished ended = job(3, kTcp,
                             {"sh", "-c",
                              "if [ $STRIPLINE_RANK = 1 ]; then export STRIPLINE_COALESCE=1; fi; "
                              "exec " +
                                  program("osh_coalesce")});
  EXPECT_EQ(ended.exit_code, kExitBadInput) << ended.err;
  EXPECT_NE(ended.err.find("STRIPLINE_COALESCE is 1 on 1 of 3 PEs"), std::string::npos)
      << ended.err;
}

TEST(OpenShmem, HasOverloadsAndOldNames) {
  expect_passed("overloads", kMapped);
  expect_passed("c99", kTcp);
  expect_passed("c99_shared", kMapped);
}

TEST(OpenShmem, IsStartedByOshrun) {
  const Finished ended = run_program({program("oshrun"), "-np", "2", "--bind=none", "--bulk",
                                      "--coalesce", "--segment", "16M", program("osh_c99")},
                                     60);
  EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  EXPECT_EQ(ended.out, "c99: passed\n");
}

TEST(OpenShmem, IsLinkedWhereThereIsSomethingToLink) {
  const auto shown = [](Arguments arguments) {
    arguments.insert(arguments.begin(), {program("oshcc"), "--show"});
    return run_program(std::move(arguments), 60).out;
  };
  const std::string whole = shown({"-O2", "a.c", "-o", "a"});
  EXPECT_NE(whole.find(" -O2 a.c -o a "), std::string::npos) << whole;
  EXPECT_NE(whole.find("libstripline_shmem.a"), std::string::npos) << whole;
  EXPECT_EQ(shown({"-c", "a.c"}).find("libstripline"), std::string::npos);
  EXPECT_EQ(shown({"--version"}).find("libstripline"), std::string::npos);
  EXPECT_NE(shown({"--shared", "a.c"}).find("libstripline_shmem.so"), std::string::npos);
}

// What would be loaded by dlopen() is another C library's.
TEST(OpenShmem, IsNotLinkedStatically) {
  for (const char* const how : {"-static", "--static", "-static-pie"}) {
    const Finished refused = run_program({program("oshcc"), how, "a.c", "-o", "a"}, 60);
    EXPECT_EQ(refused.exit_code, 1) << refused.err;
    EXPECT_NE(refused.err.find(std::string(how) + " is not possible"), std::string::npos)
        << refused.err;
  }
  const Finished compiled = run_program({program("oshcc"), "--show", "-static", "-c", "a.c"}, 60);
  EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
}

// --- how programs end ----------------------------------------------------------------------------

Finished ending(const Arguments& path, const std::string& how, const Variables& environment = {}) {
  return job(3, path, osh("endings", {how}), environment);
}

TEST(OpenShmemEndings, AreThoseOfTheProgram) {
  for (const auto& path : {kMapped, kTcp}) {
    for (const char* const good : {"", "exit", "fork", "twice", "global 0", "threads before"}) {
      const Finished ended = ending(path, good);
      EXPECT_EQ(ended.exit_code, kExitOk) << good << ": " << ended.err;
    }
    EXPECT_EQ(ending(path, "exit 3").exit_code, 3);
    EXPECT_EQ(ending(path, "global 4").exit_code, 4);
  }
}

// A job is joined once, with a launcher or without.
TEST(OpenShmemEndings, NameAStartBehindTheEnd) {
  const std::string expected = "shmem_init behind the last shmem_finalize";
  const Finished launched = ending(kMapped, "again");
  EXPECT_EQ(launched.exit_code, kExitBadInput) << launched.err;
  EXPECT_NE(launched.err.find(expected), std::string::npos) << launched.err;
  const Finished alone = run_program(osh("endings", {"again"}), 60);
  EXPECT_EQ(alone.exit_code, kExitBadInput) << alone.err;
  EXPECT_NE(alone.err.find(expected), std::string::npos) << alone.err;
  EXPECT_EQ(lines_with(alone.err, ""), 1U) << alone.err;
}

// Streams of C++ with buffers of their own, of the PE that ends the program, and of others.
TEST(OpenShmemEndings, KeepWhatStreamsHaveBuffered) {
  const auto expect = [](const std::string& how, int status, const std::vector<int>& pes) {
    const Finished ended = job(3, kMapped, osh("overloads", {how}));
    EXPECT_EQ(ended.exit_code, status) << ended.err;
    for (const int pe : pes) {
      EXPECT_NE(ended.out.find("PE " + std::to_string(pe) + " has said so"), std::string::npos)
          << how << ": " << ended.out;
    }
  };
  expect("global exit", 4, {0, 1, 2});
  expect("exit", 3, {1});
}

// A PE that is stopped, or dead, is named, and keeps none from ending.
TEST(OpenShmemEndings, DoNotWaitForPesThatAreStoppedOrDead) {
  for (const auto& path : {kMapped, kTcp, kCma}) {
    for (const int status : {0, 4}) {
      const Finished stopped = ending(path, "stopped " + std::to_string(status));
      EXPECT_EQ(stopped.exit_code, status) << stopped.err;
      EXPECT_NE(stopped.err.find("1 of 3 ranks (2) had to be killed"), std::string::npos)
          << stopped.err;
      EXPECT_EQ(stopped.err.find("shmem_global_exit(4)") != std::string::npos, status == 4)
          << stopped.err;
    }
    const Finished dead = ending(path, "dead 0");
    EXPECT_EQ(dead.exit_code, kExitRankDied) << dead.err;
    EXPECT_NE(dead.err.find("rank 2"), std::string::npos) << dead.err;
  }
}

// One that stops in the middle, while the others wait for it.
TEST(OpenShmemEndings, NamePesThatDoNotAnswer) {
  for (const auto& path : {kMapped, kTcp, kCma, kShm, kEmulated}) {
    const Finished ended = ending(path, "halted", {{"STRIPLINE_PEER_TIMEOUT", "1"}});
    EXPECT_EQ(ended.exit_code, kExitRankDied) << ended.err;
    EXPECT_NE(ended.err.find("rank 2: stopped (state T, process "), std::string::npos) << ended.err;
  }
}

TEST(OpenShmemEndings, NameTheDeadToThreadsThatInject) {
  const Finished ended = job(3, kTcp, osh("threads", {"dead"}));
  EXPECT_EQ(ended.exit_code, kExitRankDied) << ended.err;
  EXPECT_NE(ended.err.find("rank 2"), std::string::npos) << ended.err;
}

// What the standard expects of progress: PE 0 never calls.
TEST(OpenShmemEndings, ComeThoughAPeComputesWithoutACall) {
  for (const auto& path : {kMapped, kTcp, kCma}) {
    const Finished ended = ending(path, "raw");
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  }
}

TEST(OpenShmemEndings, NameMistakes) {
  const auto expect = [](const std::string& how, const std::string& text) {
    const Finished ended = ending(kTcp, how);
    EXPECT_EQ(ended.exit_code, kExitUsage) << how;
    EXPECT_NE(ended.err.find(text), std::string::npos) << ended.err;
  };
  expect("address", "shmem_long_p of 8 bytes at 0x");
  expect("pe", "shmem_long_p names PE 3, but the program has PEs 0 to 2");
  expect("free", "which shmem_malloc has not returned, or which has been freed");
  expect("early", "shmem_barrier_all outside of shmem_init and shmem_finalize");
  expect("comparison", "shmem_int_wait_until with comparison 17, which is not one of");
  expect("signal", "shmem_long_put_signal with signal operator 7, which is neither");
  const Finished size = ending(kMapped, "", {{"SHMEM_SYMMETRIC_SIZE", "nonsense"}});
  EXPECT_EQ(size.exit_code, kExitUsage);
  EXPECT_NE(size.err.find("SHMEM_SYMMETRIC_SIZE='nonsense' is not a size"), std::string::npos)
      << size.err;
  EXPECT_EQ(lines_with(size.err, ""), 1U) << size.err;
}

// Within the heap, where without debug mode all is symmetric.
TEST(OpenShmemEndings, NameBlocksThatAreFreedOrTooSmallInDebugMode) {
  for (const auto& path : {kMapped, kTcp}) {
    for (const char* const how : {"freed", "beyond"}) {
      const Finished ended = ending(path, how, {{"SHMEM_DEBUG", "1"}});
      EXPECT_EQ(ended.exit_code, kExitUsage) << how << ": " << ended.err;
      EXPECT_NE(ended.err.find("shmem_long_p of 8 bytes at 0x"), std::string::npos) << ended.err;
      EXPECT_NE(ended.err.find("not within one block of shmem_malloc"), std::string::npos)
          << ended.err;
    }
  }
}

// Blocks after it would be elsewhere on each PE.
TEST(OpenShmemEndings, NamePesThatAskForBlocksOfDifferentSizesInDebugMode) {
  const auto expect = [](const Arguments& path, const std::string& call) {
    const Finished ended = ending(path, "sizes " + call, {{"SHMEM_DEBUG", "1"}});
    EXPECT_EQ(ended.exit_code, kExitUsage) << ended.err;
    EXPECT_NE(ended.err.find("disagree on collective operation"), std::string::npos) << ended.err;
    for (const char* const size : {", 64 bytes", ", 128 bytes"}) {
      EXPECT_NE(ended.err.find("is in shmem_" + call + size), std::string::npos) << ended.err;
    }
  };
  for (const auto& path : {kMapped, kTcp}) expect(path, "malloc");
  for (const char* const call : {"calloc", "align", "realloc"}) expect(kTcp, call);
}

TEST(OpenShmemEndings, NameBuffersOfCollectivesThatAreFreedOrTooSmallInDebugMode) {
  const auto expect = [](const Arguments& path, const std::string& how, const std::string& text) {
    const Finished ended = ending(path, how, {{"SHMEM_DEBUG", "1"}});
    EXPECT_EQ(ended.exit_code, kExitUsage) << ended.err;
    EXPECT_NE(ended.err.find(text), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("not within one block of shmem_malloc"), std::string::npos)
        << ended.err;
  };
  for (const auto& path : {kMapped, kTcp}) {
    expect(path, "buffer", "shmem_long_sum_reduce of 8 bytes at 0x");
    expect(path, "strides", "shmem_long_alltoalls of 40 bytes at 0x");
  }
}

// The side of a put, a get or an atomic operation that need not be symmetric, too.
TEST(OpenShmemEndings, NameLocalBuffersThatAreFreedInDebugMode) {
  const std::pair<const char*, int> calls[] = {
      {"put", 8},   {"get", 8},   {"put_nbi", 8},    {"get_nbi", 8},
      {"iput", 16}, {"iget", 16}, {"put_signal", 8}, {"atomic_fetch_nbi", 8}};
  for (const auto& [call, bytes] : calls) {
    const Finished ended = ending(kMapped, std::string("local ") + call, {{"SHMEM_DEBUG", "1"}});
    EXPECT_EQ(ended.exit_code, kExitUsage) << call << ": " << ended.err;
    EXPECT_NE(ended.err.find(std::string("shmem_long_") + call + " of " + std::to_string(bytes) +
                             " bytes at 0x"),
              std::string::npos)
        << ended.err;
    EXPECT_NE(ended.err.find("not within one block of shmem_malloc"), std::string::npos)
        << ended.err;
  }
}

// By two threads of a PE, and by PEs that have not made the same calls.
TEST(OpenShmemEndings, NameCollectivesThatOverlapInDebugMode) {
  for (const auto& path : {kMapped, kTcp}) {
    const Finished threads = ending(path, "two threads", {{"SHMEM_DEBUG", "1"}});
    EXPECT_EQ(threads.exit_code, kExitUsage) << threads.err;
    EXPECT_NE(threads.err.find("shmem_sync_all while another thread of this PE is in "
                               "shmem_sync_all on the same team"),
              std::string::npos)
        << threads.err;
    const Finished calls = ending(path, "two calls", {{"SHMEM_DEBUG", "1"}});
    EXPECT_NE(calls.exit_code, kExitOk);
    EXPECT_NE(calls.err.find("disagree on collective operation"), std::string::npos) << calls.err;
    EXPECT_NE(calls.err.find("shmem_long_broadcast"), std::string::npos) << calls.err;
  }
}

TEST(OpenShmem, TracesWhatTheProgramAsksFor) {
  Arguments traced = kTcp;
  traced.emplace_back("--trace");
  const std::pair<const char*, bool> levels[] = {
      {"-1", false}, {"0", false}, {"1", true}, {"2", true}};
  for (const auto& [level, is_noted] : levels) {
    const Finished ended = ending(traced, std::string("level ") + level);
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
    const std::string said = ended.out + ended.err;
    EXPECT_NE(said.find("  shmem_long_p"), std::string::npos) << said;
    EXPECT_EQ(said.find("shmem_long_atomic_inc") != std::string::npos, is_noted) << said;
  }
}

// By a launcher and without one, each with one line: what is not a size, and nothing is assumed.
TEST(OpenShmemEndings, NameSizesThatAreNone) {
  for (const char* const variable : {"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"}) {
    for (const char* const text : {"", "12q", "-1", "nan", "0x10", " 5", "99999999t"}) {
      const std::string expected = std::string(variable) + "='" + text + "' is not a size";
      const Variables variables = {{variable, text}};
      const Finished launched = ending(kTcp, "", variables);
      EXPECT_EQ(launched.exit_code, kExitUsage) << text;
      EXPECT_NE(launched.err.find(expected), std::string::npos) << launched.err;
      const Finished alone = run_program({program("osh_endings")}, 60, variables);
      EXPECT_EQ(alone.exit_code, kExitUsage) << text;
      EXPECT_NE(alone.err.find(expected), std::string::npos) << alone.err;
      EXPECT_EQ(lines_with(alone.err, ""), 1U) << alone.err;
    }
  }
}

// Static data are symmetric without a heap, too.
TEST(OpenShmem, RunsWithoutAHeap) {
  for (const auto& path : {kMapped, kTcp}) {
    const Finished ended = ending(path, "", {{"SHMEM_SYMMETRIC_SIZE", "0"}});
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  }
}

TEST(OpenShmemEndings, NamePesWithHeapsOfAnotherSize) {
  const Finished ended = job(3, kTcp,
                             {"sh", "-c",
                              "if [ $STRIPLINE_RANK = 1 ]; then export SHMEM_SYMMETRIC_SIZE=8M; "
                              "else export SHMEM_SYMMETRIC_SIZE=32M; fi; exec " +
                                  program("osh_endings")});
  EXPECT_EQ(ended.exit_code, kExitUsage) << ended.err;
  EXPECT_NE(ended.err.find("rank 1 has SHMEM_SYMMETRIC_SIZE=8388608 with room for "),
            std::string::npos)
      << ended.err;
  EXPECT_NE(ended.err.find(" has SHMEM_SYMMETRIC_SIZE=33554432 with room for "), std::string::npos)
      << ended.err;
  EXPECT_EQ(ended.err.find("STRIPLINE_SEGMENT_BYTES"), std::string::npos) << ended.err;
}

TEST(OpenShmemEndings, ComeBeforeTheStartOfHeapsLargerThanMemory) {
  const Finished launched = ending(kMapped, "", {{"SHMEM_SYMMETRIC_SIZE", "1000t"}});
  EXPECT_EQ(launched.exit_code, exit_code_for(ErrorCode::resource_exhausted));
  EXPECT_NE(launched.err.find("ask for smaller segments (SHMEM_SYMMETRIC_SIZE)"), std::string::npos)
      << launched.err;
  EXPECT_EQ(lines_with(launched.err, ""), 1U) << launched.err;
  const Finished alone =
      run_program({program("osh_endings")}, 60, {{"SHMEM_SYMMETRIC_SIZE", "1000t"}});
  EXPECT_EQ(alone.exit_code, exit_code_for(ErrorCode::resource_exhausted));
  EXPECT_NE(alone.err.find("SHMEM_SYMMETRIC_SIZE asks for a symmetric heap of 1000 TiB"),
            std::string::npos)
      << alone.err;
  EXPECT_EQ(lines_with(alone.err, ""), 1U) << alone.err;
}

// --- static data that differ ---------------------------------------------------------------------

TEST(StaticLayouts, AreRefusedByNameWhereTheyDiffer) {
  const std::string one = program("osh_endings");
  const std::string other = program("osh_endings_other");
  for (const auto& path : {kMapped, kTcp, kEmulated}) {
    const Finished ended =
        job(3, path,
            {"sh", "-c", "if [ $STRIPLINE_RANK = 1 ]; then exec " + other + "; fi; exec " + one});
    EXPECT_EQ(ended.exit_code, kExitBadInput);
    EXPECT_NE(ended.err.find("rank 1"), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("'osh_endings' is loaded on PE 0 and not on this one"),
              std::string::npos)
        << ended.err;
  }
}

// Two builds of one program.
TEST(StaticLayouts, AreRefusedWhereFilesOfOneNameDiffer) {
  const TempFolder folder;
  const std::string other = (folder / "osh_endings").string();
  std::filesystem::copy_file(program("osh_endings_other"), other);
  const Finished ended = job(
      3, kMapped,
      {"sh", "-c",
       "if [ $STRIPLINE_RANK = 1 ]; then exec " + other + "; fi; exec " + program("osh_endings")});
  EXPECT_EQ(ended.exit_code, kExitBadInput);
  EXPECT_NE(ended.err.find("rank 1"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("'osh_endings' is not the same file as on PE 0 (build ID "),
            std::string::npos)
      << ended.err;
}

TEST(StaticLayouts, AreRefusedWhereALibraryIsPreloadedOnOnePe) {
  const std::string preload = "export LD_PRELOAD=" + program("libosh_preloaded.so") + "; ";
  const std::string start = "exec " + program("osh_symmetric_data");
  for (const auto& path : {kMapped, kTcp}) {
    for (const char* const pe : {"0", "1"}) {
      const Finished ended = job(
          3, path,
          {"sh", "-c",
           "if [ $STRIPLINE_RANK = " + std::string(pe) + " ]; then " + preload + "fi; " + start});
      EXPECT_EQ(ended.exit_code, kExitBadInput);
      EXPECT_NE(ended.err.find("'libosh_preloaded.so' is loaded on "), std::string::npos)
          << ended.err;
    }
    const Finished everywhere = job(3, path, {"sh", "-c", preload + start});
    EXPECT_EQ(everywhere.exit_code, kExitOk) << everywhere.err;
  }
}

// Each loads two libraries of one file name, in an order of its own.
TEST(StaticLayouts, DoNotDependOnTheOrderOfLibrariesOfOneName) {
  const TempFolder folder;
  std::vector<std::string> libraries;
  for (const char* const built : {"libosh_preloaded.so", "libosh_preloaded_other.so"}) {
    const auto place = folder / std::to_string(libraries.size());
    std::filesystem::create_directory(place);
    libraries.push_back((place / "libof_one_name.so").string());
    std::filesystem::copy_file(program(built), libraries.back());
  }
  const Finished ended =
      job(3, kTcp,
          {"sh", "-c",
           "if [ $STRIPLINE_RANK = 1 ]; then export LD_PRELOAD=" + libraries[1] + ":" +
               libraries[0] + "; else export LD_PRELOAD=" + libraries[0] + ":" + libraries[1] +
               "; fi; exec " + program("osh_symmetric_data")});
  EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
}

TEST(StaticLayouts, MayHaveAnyNumberOfObjects) {
  const TempFolder folder;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string copy = (folder / ("lib" + std::to_string(i) + ".so")).string();
    std::filesystem::copy_file(program("libosh_preloaded.so"), copy);
    all += (all.empty() ? "" : ":") + copy;
  }
  for (const auto& path : {kMapped, kTcp}) {
    const Finished ended =
        job(2, path,
            {"sh", "-c", "export LD_PRELOAD=" + all + "; exec " + program("osh_symmetric_data")});
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  }
}

TEST(StaticLayouts, MayBeAtDifferentAddresses) {
  if (run_program({"sh", "-c", "setarch -R true"}).exit_code != kExitOk) {
    GTEST_SKIP() << "this host, as containers do, refuses to load programs at fixed addresses";
  }
  const std::string one = program("osh_operations");
  for (const auto& path : {kMapped, kTcp}) {
    const Finished ended =
        job(3, path,
            {"sh", "-c",
             "if [ $STRIPLINE_RANK = 1 ]; then exec setarch -R " + one + "; fi; exec " + one});
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
  }
}

}  // namespace
}  // namespace stripline
