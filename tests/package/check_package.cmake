# Installs the build into WORK_DIR/prefix and uses it as its users would: the consumer and the first
# program of docs/programming.md through find_package(), that program, all other C++ of the
# documents (documents.awk) and the examples of the public headers (headers.awk) through pkg-config;
# and runs these over mapped memory, tcp and shm, and in debug mode. OpenSHMEM programs are built by
# the wrappers, through pkg-config and through find_package().
file(REMOVE_RECURSE ${WORK_DIR})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE output TIMEOUT 240)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(EMULATED --fabric emulated:opteron-vapi --clock virtual)
function(run_ranks ranks program)  # more arguments: how they reach each other
  run(${LAUNCHER} -n ${ranks} --segment 20M --timeout 60 ${ARGN} -- ${program})
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "'${text}' is missing in:\n${output}")
  endif()
endfunction()

function(build_with_cmake folder)
  run(${CMAKE_COMMAND} -G Ninja -S ${folder} -B ${folder}/build
      -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix
      -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
  run(${CMAKE_COMMAND} --build ${folder}/build)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

foreach(file man/man1/stripline-run.1 man/man1/oshcc.1 man/man1/oshc++.1 man/man1/oshrun.1
        bash-completion/completions/stripline-run)
  if(NOT EXISTS ${WORK_DIR}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

file(COPY ${SOURCE_DIR}/consumer DESTINATION ${WORK_DIR})
build_with_cmake(${WORK_DIR}/consumer)
run_ranks(2 ${WORK_DIR}/consumer/build/neighbour ${EMULATED})
expect("rank 0 sums 2000 from rank 1")
expect("rank 1 sums 1000 from rank 0")

set(documents ${WORK_DIR}/documents)
file(MAKE_DIRECTORY ${documents}/program)
file(GLOB pages RELATIVE ${ROOT_DIR} ${ROOT_DIR}/README.md ${ROOT_DIR}/docs/*.md)
execute_process(COMMAND awk -v folder=${documents} -f ${SOURCE_DIR}/documents.awk ${pages}
                WORKING_DIRECTORY ${ROOT_DIR} COMMAND_ERROR_IS_FATAL ANY)

file(GLOB headers RELATIVE ${ROOT_DIR} ${ROOT_DIR}/runtime/include/stripline/*.h)
execute_process(COMMAND awk -v folder=${documents} -f ${SOURCE_DIR}/headers.awk
                        tests/package/header_given.inc ${headers}
                WORKING_DIRECTORY ${ROOT_DIR} COMMAND_ERROR_IS_FATAL ANY)

# The page's own lines for CMake, and for the command line.
file(GLOB cmake_lists ${documents}/docs_programming_md-*.cmake)
file(GLOB programs ${documents}/*.cc)
list(REMOVE_ITEM programs ${documents}/fragments.cc ${documents}/headers.cc)
list(FILTER programs INCLUDE REGEX "docs_programming_md")
list(LENGTH cmake_lists found)
if(NOT found EQUAL 1 OR NOT programs)
  message(FATAL_ERROR "docs/programming.md has no program with lines for CMake any more")
endif()
list(GET programs 0 program)
file(COPY_FILE ${cmake_lists} ${documents}/program/CMakeLists.txt)
file(COPY_FILE ${program} ${documents}/program/program.cc)
build_with_cmake(${documents}/program)
run_ranks(2 ${documents}/program/build/program ${EMULATED})

set(ENV{PKG_CONFIG_PATH} ${WORK_DIR}/prefix/${LIBDIR}/pkgconfig)
file(STRINGS ${documents}/commands commands)
if(NOT commands)
  message(FATAL_ERROR "no document says how to compile with pkg-config any more")
endif()
list(GET commands 0 command)
file(GLOB programs ${documents}/*.cc)
foreach(program IN LISTS programs)
  # Optimising would take longer than all the rest.
  string(REPLACE "-O2 program.cc -o program" "${CXX_FLAGS} -I ${SOURCE_DIR} ${program} -o ${program}.out"
         compile "${command}")
  string(REGEX REPLACE "^[a-z+]+ " "${COMPILER} " compile "${compile}")
  run(sh -c "${compile}")
  # One fragment has a grid of 2 x 2, the example of halo.h one of 2 x 2 x 2, another fragment memory
  # that the ranks of a node share. All of them are right on every path, and in debug mode.
  set(numbers_of_ranks 4)
  if(program MATCHES "headers.cc$")
    list(APPEND numbers_of_ranks 8)
  endif()
  foreach(ranks IN LISTS numbers_of_ranks)
    run_ranks(${ranks} ${program}.out --fabric tcp --same-node mapped)
    run_ranks(${ranks} ${program}.out --fabric tcp --same-node mapped --debug)
    run_ranks(${ranks} ${program}.out --fabric tcp --same-node network)
  endforeach()
  # For 8 ranks it takes more of /dev/shm than containers have by default, which is 64 MiB.
  run_ranks(4 ${program}.out --fabric shm --same-node network --debug)
endforeach()

# The wrappers call the compilers of the system, which have no instrumented archives to link with.
if(NOT CXX_FLAGS)
  set(tests ${ROOT_DIR}/shmem/tests)
  set(installed ${WORK_DIR}/prefix/bin)
  set(programs ${WORK_DIR}/shmem)
  file(MAKE_DIRECTORY ${programs})
  run(${installed}/oshcc -std=c99 ${tests}/c99.c -o ${programs}/c99)
  run(${installed}/oshcc -std=c99 --shared ${tests}/c99.c -o ${programs}/c99_shared)
  run(${installed}/oshc++ ${tests}/overloads.cc -o ${programs}/overloads)
  run(sh -c "cc -std=c99 ${tests}/c99.c -o ${programs}/c99_pkg_config $(pkg-config --cflags --libs stripline-shmem)")
  file(COPY ${SOURCE_DIR}/shmem_consumer ${tests}/overloads.cc DESTINATION ${WORK_DIR})
  file(RENAME ${WORK_DIR}/overloads.cc ${WORK_DIR}/shmem_consumer/overloads.cc)
  build_with_cmake(${WORK_DIR}/shmem_consumer)
  file(COPY ${WORK_DIR}/shmem_consumer/build/overloads DESTINATION ${programs}/by_cmake)
  foreach(program c99 c99_shared c99_pkg_config overloads by_cmake/overloads)
    run(${installed}/oshrun -n 2 --segment 20M --timeout 60 ${programs}/${program})
    expect(": passed")
  endforeach()
endif()
