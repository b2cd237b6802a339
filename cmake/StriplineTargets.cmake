# One function each to declare a library, a program, a test and a benchmark, so that every folder reads alike.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(stripline_options INTERFACE)
# Programs that link the installed package compile its headers, which are C++20.
target_compile_features(stripline_options INTERFACE cxx_std_20)
target_compile_options(stripline_options INTERFACE
  $<BUILD_INTERFACE:-Wall -Wextra -Wconversion -Wnon-virtual-dtor -Wsuggest-override -fno-math-errno>
  # base/mutex.h says what is checked.
  $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>>
  # What -Wconversion does not warn of in C++ by GCC.
  $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>>
  # Designated initializers leave the rest to the defaults on purpose.
  $<BUILD_INTERFACE:-Wno-missing-field-initializers>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False positives of GCC 12 on std::string concatenation (GCC bug 105329).
  target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-Wno-restrict>)
endif()
target_include_directories(stripline_options INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/runtime/include>)
if(STRIPLINE_SANITIZE)
  target_compile_options(stripline_options INTERFACE
    $<BUILD_INTERFACE:-fsanitize=${STRIPLINE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(stripline_options INTERFACE
    $<BUILD_INTERFACE:-fsanitize=${STRIPLINE_SANITIZE}>)
  if(STRIPLINE_SANITIZE MATCHES "address.*undefined")
    # AddressSanitizer finds most of what null and object-size find; vptr, casts to another class, is given up.
    # The three take an eighth of the time to compile.
    target_compile_options(stripline_options INTERFACE
      $<BUILD_INTERFACE:-fno-sanitize=null,object-size,vptr>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    # As GCC says it: what sources and tests ask for.
    if(STRIPLINE_SANITIZE MATCHES address)
      target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-D__SANITIZE_ADDRESS__=1>)
    elseif(STRIPLINE_SANITIZE MATCHES thread)
      target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-D__SANITIZE_THREAD__=1>)
    endif()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # False positives inside <regex> and <functional> when instrumented (GCC bug 105562).
    target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-Wno-maybe-uninitialized>)
  endif()
endif()
if(STRIPLINE_BUILD_FUZZERS)
  # The libraries too: a fuzzer sees only the branches of instrumented code.
  target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
endif()

if(STRIPLINE_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  # CMake writes absolute paths into the sources that include the others, and __FILE__ would hold them: so
  # ccache recognises what another clone has compiled.
  target_compile_options(stripline_options INTERFACE
    $<BUILD_INTERFACE:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>)
  # A source sees the private names of those that it is compiled with.
  target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-Wno-shadow>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-Wno-subobject-linkage>)
  endif()
else()
  target_compile_options(stripline_options INTERFACE $<BUILD_INTERFACE:-Wshadow>)
endif()

# stripline_compile_alone([TARGET t] SOURCES a.cc b.cc): sources that STRIPLINE_UNITY leaves alone, as the
# names in their unnamed namespaces are those of neighbours. TARGET names theirs where another folder
# declares it.
function(stripline_compile_alone)
  cmake_parse_arguments(ARG "" "TARGET" "SOURCES" ${ARGN})
  if(ARG_TARGET)
    set(directory TARGET_DIRECTORY ${ARG_TARGET})
  endif()
  set_source_files_properties(${ARG_SOURCES} ${directory} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# stripline_folder(NAME FOLDER): NAME_sources and NAME_tests are the sources and the tests in FOLDER. For folders whose
# files are alike, a section, an experiment each: one more is compiled without being named in a CMakeLists.txt.
function(stripline_folder name folder)
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  set(${name}_sources ${sources} PARENT_SCOPE)
  set(${name}_tests ${tests} PARENT_SCOPE)
endfunction()

# stripline_library(NAME SOURCES a.cc b.cc [DEPS t1 t2] [PRIVATE_DEPS t3])
# Target stripline_NAME with the alias stripline::NAME.
function(stripline_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(stripline_${name} STATIC ${ARG_SOURCES})
  add_library(stripline::${name} ALIAS stripline_${name})
  set_target_properties(stripline_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(stripline_${name} PUBLIC stripline_options ${ARG_DEPS}
                        PRIVATE ${ARG_PRIVATE_DEPS})
endfunction()

# stripline_clears_small_values(TARGET): its functions make and copy structures of a few hundred
# bytes all the time. GCC takes "rep stos" and "rep movs" for those, which take longer to begin than
# stores of vectors take for all of them.
function(stripline_clears_small_values target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(strategy "vector_loop:2048:noalign,libcall:-1:noalign")
    target_compile_options(${target} PRIVATE -mmemset-strategy=${strategy} -mmemcpy-strategy=${strategy})
  endif()
endfunction()

# What is not on a program's path takes half the time to compile without the optimisations that only loops gain
# from in a release build, and a third of it without any where sanitizers instrument each access.
set(stripline_little_optimised $<$<CONFIG:Release>:-O1>)
if(STRIPLINE_SANITIZE)
  list(APPEND stripline_little_optimised $<$<CONFIG:RelWithDebInfo>:-O0>)
endif()

# stripline_runs_rarely(TARGET... [COMPUTES TARGET...]): commands, pages, files and what else is not on a program's
# path. COMPUTES: where sanitizers instrument it, tests that call it save more time by its optimisations than these take.
function(stripline_runs_rarely)
  cmake_parse_arguments(ARG "" "" "COMPUTES" ${ARGN})
  foreach(target ${ARG_UNPARSED_ARGUMENTS} ${ARG_COMPUTES})
    if(TARGET stripline_${target} AND target IN_LIST ARG_COMPUTES)
      target_compile_options(stripline_${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    elseif(TARGET stripline_${target})
      target_compile_options(stripline_${target} PRIVATE ${stripline_little_optimised})
    elseif(STRIPLINE_BUILD_SERVICE AND STRIPLINE_BUILD_TESTS AND STRIPLINE_BUILD_BENCHMARKS)
      message(FATAL_ERROR "stripline_runs_rarely: ${target} is not a target of this project")
    endif()
  endforeach()
endfunction()

# All that `cmake --install` installs: build it, and nothing is missing.
add_custom_target(installed)

# stripline_program(NAME SOURCES main.cc [DEPS ...] [COMPONENT commands] [MANUAL 1|8]): an installed executable in
# bin/, of the package of that component (StriplinePackages.cmake). MANUAL: users start it, so that its pages in
# this section of the manual and its completion are installed, too, which it writes when it is built (base/manual.h).
function(stripline_program name)
  cmake_parse_arguments(ARG "" "COMPONENT;MANUAL" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_COMPONENT)
    set(ARG_COMPONENT commands)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE stripline_options ${ARG_DEPS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${ARG_COMPONENT})
  add_dependencies(installed ${name})
  if(ARG_MANUAL AND NOT CMAKE_CROSSCOMPILING)
    # Defaults that depend on the user are shown as they are for every user.
    set(manual ${CMAKE_BINARY_DIR}/manual/${name})
    add_custom_command(TARGET ${name} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -E env --unset=XDG_DATA_HOME HOME=$HOME ASAN_OPTIONS=detect_leaks=0
              $<TARGET_FILE:${name}> --write-manual ${manual} ${ARG_MANUAL})
    install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_DATADIR} COMPONENT ${ARG_COMPONENT})
  endif()
endfunction()

# How ctest combines tests (scripts/test.sh gives it one more than there are processors). WIDE tests take two
# processors each and come first, with one that starts processes, and mostly waits for them, beside them; then come
# those that compute. A cost says what comes first, and is not a time.
set(stripline_cost_wide 1000)
set(stripline_cost_waiting 100)
set(stripline_cost_computing 50)

# stripline_test(NAME SOURCES a_test.cc [DEPS ...] [LABELS fast] [TIMEOUT seconds] [WIDE] [COST number])
# One ctest entry per executable; label it "fast" when it takes seconds, "e2e" when it starts
# processes, and besides "grpc" when threads of gRPC call it, or "campaigns" when it carries out whole ones, which takes
# minutes. WIDE: several ranks compute at once, as they do in all
# tests whose ranks are threads of theirs (stripline_thread_group).
function(stripline_test name)
  if(NOT STRIPLINE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "WIDE" "TIMEOUT;COST" "SOURCES;DEPS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE stripline_options ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  # What is tested is optimised; its tests need not be.
  target_compile_options(${name} PRIVATE ${stripline_little_optimised})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS fast)
  endif()
  set(processors 1)
  set(cost 0)
  if(ARG_WIDE OR stripline_thread_group IN_LIST ARG_DEPS)
    set(processors 2)
    set(cost ${stripline_cost_wide})
  elseif(e2e IN_LIST ARG_LABELS)
    set(cost ${stripline_cost_waiting})
  endif()
  if(ARG_COST)
    set(cost ${ARG_COST})
  endif()
  set(tsan_options suppressions=${CMAKE_SOURCE_DIR}/tests/sanitizers/tsan.supp)
  if(STRIPLINE_SANITIZE MATCHES address)
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
  elseif(STRIPLINE_SANITIZE MATCHES thread)
    math(EXPR ARG_TIMEOUT "5 * ${ARG_TIMEOUT}")
    if(grpc IN_LIST ARG_LABELS)
      # To be read by tests/sanitizers/own_races.awk.
      string(APPEND tsan_options :exitcode=0:log_path=${CMAKE_BINARY_DIR}/races/${name})
      file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/races)
    endif()
  endif()
  set(environment
    STRIPLINE_TEST_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    STRIPLINE_TEST_SOURCE=${CMAKE_SOURCE_DIR}
    LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/sanitizers/lsan.supp:print_suppressions=0
    TSAN_OPTIONS=${tsan_options})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    PROCESSORS ${processors} COST ${cost} ENVIRONMENT "${environment}")
endfunction()

# stripline_benchmark(NAME SOURCES a_bench.cc [DEPS ...]): a Google Benchmark program, not run by ctest.
function(stripline_benchmark name)
  if(NOT STRIPLINE_BUILD_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE stripline_options ${ARG_DEPS} benchmark::benchmark)
endfunction()

# stripline_fuzzer(NAME SOURCES a_fuzz.cc [DEPS ...]): a libFuzzer program (LLVMFuzzerTestOneInput).
# The target `fuzzers` builds all of them and nothing else.
function(stripline_fuzzer name)
  if(NOT STRIPLINE_BUILD_FUZZERS)
    return()
  endif()
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE stripline_options ${ARG_DEPS})
endfunction()
