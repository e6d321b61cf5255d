# Of the fuzzers, and of the suite that runs them over their corpora.
set(holdfast_fuzz_targets arguments client cluster lane parser probe replies sentinel text url)
set(holdfast_fuzz_common fuzz replacements resp stage)
# Of the tool, for `arguments`.
set(holdfast_fuzz_cli connect fd firing help hints kind_names listen_address name_ranges nearest output parse run_kind secrets syslog verb_parser)

list(TRANSFORM holdfast_fuzz_common PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM holdfast_fuzz_common APPEND .cpp)
list(TRANSFORM holdfast_fuzz_cli PREPEND ${PROJECT_SOURCE_DIR}/src/cli/)
list(TRANSFORM holdfast_fuzz_cli APPEND .cpp)
