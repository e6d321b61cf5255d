# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: half of the time that a file takes to compile goes into parsing the standard library, Asio and
# GoogleTest. Off for those who build this project inside another one.
option(HOLDFAST_PRECOMPILE "Precompile the headers that most files include" ${PROJECT_IS_TOP_LEVEL})

function(holdfast_precompile target header)
  if(HOLDFAST_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE "${header}")
  endif()
endfunction()

# The same precompiled header as the other target, which is compiled with the same options.
function(holdfast_precompiled_as target other)
  if(HOLDFAST_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
