# Installs the build into WORK_DIR/prefix, builds the consumer against it, and runs two ranks of it.
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

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR} -B ${WORK_DIR}/build -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${LAUNCHER} -n 2 --segment 1M --timeout 60 --fabric emulated:opteron-vapi --clock virtual --
    ${WORK_DIR}/build/neighbour)
if(NOT output MATCHES "rank 0 sums 2000 from rank 1" OR NOT
   output MATCHES "rank 1 sums 1000 from rank 0")
  message(FATAL_ERROR "the consumer printed:\n${output}")
endif()
