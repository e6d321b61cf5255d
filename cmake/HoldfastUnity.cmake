# SPDX-License-Identifier: Apache-2.0
# Unity builds: most of the time that a file takes to compile goes into what it includes and into the templates that it
# shares with its neighbours. Several files compiled as one share that. Names of one file must not meet those of another
# one: each test file has a namespace of its own.
function(holdfast_unity target files)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  # g++ takes a source for a header here.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

function(holdfast_unity_test target files)
  if(HOLDFAST_UNITY_TESTS)
    holdfast_unity(${target} ${files})
  endif()
endfunction()

# And what is linked dozens of times is linked by the fastest linker that is here.
if(HOLDFAST_UNITY_TESTS AND NOT CMAKE_CROSSCOMPILING)  # each cross compiler has its own
  find_program(HOLDFAST_MOLD mold)
  if(HOLDFAST_MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
