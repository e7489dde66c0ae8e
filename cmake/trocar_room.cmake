# Defines the compiler flags and the CMake functions that every room uses.

add_library(trocar_flags INTERFACE)
target_include_directories(trocar_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
target_compile_features(trocar_flags INTERFACE cxx_std_20)
# No contraction into fused multiply-add, so that the same poses give the same planes on every machine.
target_compile_options(trocar_flags INTERFACE $<BUILD_INTERFACE:-Wall;-Wextra;-ffp-contract=off>)
# clang does not know GCC's pragmas for its vectoriser.
target_compile_options(trocar_flags INTERFACE $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>>)
if(TROCAR_WERROR)
  target_compile_options(trocar_flags INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(TROCAR_SANITIZE)
  target_compile_options(trocar_flags INTERFACE -fsanitize=${TROCAR_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(trocar_flags INTERFACE -fsanitize=${TROCAR_SANITIZE})
endif()
if(TROCAR_FUZZ)
  target_compile_options(trocar_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# The headers that most rooms include, parsed once, for the rooms that use fmt. Every source still includes what it needs;
# clang-tidy and the headers alone (tests/house) compile without these.
set(TROCAR_COMMON_HEADERS <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <memory> <optional> <span> <string>
  <vector> <glm/glm.hpp> <fmt/format.h>)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/room_headers.cpp CONTENT "")
add_library(trocar_room_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/room_headers.cpp)
set_target_properties(trocar_room_headers PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_link_libraries(trocar_room_headers PRIVATE trocar_flags glm::glm fmt::fmt)
target_precompile_headers(trocar_room_headers PRIVATE ${TROCAR_COMMON_HEADERS})

# trocar_precompiled(TARGET header ...): TARGET reuses the parsed common headers or, with more headers, parses its own.
# GCC 12 reports false overflows in std::string when it comes from a precompiled header.
function(trocar_precompiled target)
  if(ARGN)
    target_precompile_headers(${target} PRIVATE ${TROCAR_COMMON_HEADERS} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM trocar_room_headers)
  endif()
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>)
endfunction()

# trocar_room(NAME SOURCES a.cpp ... ROOMS geometry ... PRIVATE lib ... PUBLIC lib ... PRECOMPILED header ...)
# A static library trocar_NAME. ROOMS: our rooms below it. PRIVATE: third party, in .cpp only. PUBLIC: third party in
# headers. Who links an installed room needs no library that consists of headers only.
# Rooms that read, write and show, but compute little, are compiled with TROCAR_TEST_FLAGS as well.
set(TROCAR_PLAIN_ROOMS "^(app_|sim_(course|hdf5|inputs|link|loop|record|review|scene|score|support|task|trial)$)")
# Screens, pages and commands, which nobody waits for, save time in every build.
set(TROCAR_SCREEN_ROOMS "^app_(lab|report|sweep|window)$")
set(TROCAR_ONLY_HEADERS toml11::toml11 nlohmann_json::nlohmann_json CLI11::CLI11 Eigen3::Eigen)
function(trocar_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ROOMS;PRIVATE;PUBLIC;PRECOMPILED" ${ARGN})
  add_library(trocar_${name} STATIC ${ROOM_SOURCES})
  set_target_properties(trocar_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(TROCAR_UNITY)
    set_target_properties(trocar_${name} PROPERTIES UNITY_BUILD ON)
    target_compile_options(trocar_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(name MATCHES ${TROCAR_PLAIN_ROOMS})
    target_compile_options(trocar_${name} PRIVATE ${TROCAR_TEST_FLAGS})
  endif()
  if(name MATCHES ${TROCAR_SCREEN_ROOMS} AND NOT TROCAR_TEST_FLAGS)
    target_compile_options(trocar_${name} PRIVATE -O1)
  endif()
  target_link_libraries(trocar_${name} PUBLIC trocar_flags ${ROOM_PUBLIC})
  foreach(library IN LISTS ROOM_PRIVATE)
    if(library IN_LIST TROCAR_ONLY_HEADERS)
      target_link_libraries(trocar_${name} PRIVATE $<BUILD_INTERFACE:${library}>)
    else()
      target_link_libraries(trocar_${name} PRIVATE ${library})
    endif()
  endforeach()
  foreach(room IN LISTS ROOM_ROOMS)
    target_link_libraries(trocar_${name} PUBLIC trocar_${room})
  endforeach()
  if(fmt::fmt IN_LIST ROOM_PRIVATE)
    trocar_precompiled(trocar_${name} ${ROOM_PRECOMPILED})
  endif()
endfunction()

# Sanitizers slow the tests down by a factor of two (address) to fifteen (thread).
set(TROCAR_TEST_TIMEOUT 600)
if(TROCAR_SANITIZE)
  set(TROCAR_TEST_TIMEOUT 7200)
endif()

# trocar_test_code(TARGET): compiles the sources of TARGET together, with the headers of the tests parsed once, and optimises
# less. Its sources share no names.
function(trocar_test_code target)
  if(TROCAR_UNITY)
    # Most of the time goes to what the sources share: units of 14 instead of 8.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14)
    # It replaces operator new: beside other code the compiler takes its free() for a mismatch.
    set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/allocation_counter.cpp
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  target_precompile_headers(${target} REUSE_FROM trocar_test_headers)
  target_compile_options(${target} PRIVATE ${TROCAR_TEST_FLAGS}
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-restrict>)
  target_link_libraries(${target} PRIVATE trocar_flags GTest::gtest)
endfunction()

# trocar_test(NAME [LONG] [SHARDS n] SOURCES a_test.cpp ... LIBS trocar_geometry ...): one GoogleTest program,
# test_NAME, which CTest runs in n parts (default 2): NAME.1 ... with the short cases, NAME.long.1 ... with those of
# tests/long.txt. LONG: the short run does not build it.
function(trocar_test name)
  cmake_parse_arguments(TEST "LONG" "SHARDS" "SOURCES;LIBS" ${ARGN})
  add_executable(test_${name} ${TEST_SOURCES})
  trocar_test_code(test_${name})
  target_link_libraries(test_${name} PRIVATE trocar_test_support ${TEST_LIBS} GTest::gtest_main)
  if(NOT TEST_SHARDS)
    set(TEST_SHARDS 2)
  endif()
  set(runs long)
  if(NOT TEST_LONG)
    list(APPEND runs short)
    set_property(GLOBAL APPEND PROPERTY TROCAR_SHORT_PROGRAMS test_${name})
  endif()
  math(EXPR last "${TEST_SHARDS} - 1")
  foreach(run IN LISTS runs)
    foreach(shard RANGE ${last})
      math(EXPR number "${shard} + 1")
      set(test ${name}.${run}.${number})
      set(flags ${CMAKE_BINARY_DIR}/tests/${run}.flags)
      if(TEST_LONG)
        set(flags ${CMAKE_BINARY_DIR}/tests/all.flags)
      endif()
      add_test(NAME ${test} COMMAND test_${name} --gtest_flagfile=${flags}
        --gtest_output=xml:${CMAKE_BINARY_DIR}/tests/results/${test}.xml)
      set_tests_properties(${test} PROPERTIES TIMEOUT ${TROCAR_TEST_TIMEOUT}
        ENVIRONMENT "GTEST_TOTAL_SHARDS=${TEST_SHARDS};GTEST_SHARD_INDEX=${shard};GTEST_BRIEF=1")
    endforeach()
  endforeach()
endfunction()
