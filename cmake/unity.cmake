# compile_together(TARGET FOLDER file..): the preset `program` (CMAKE_UNITY_BUILD) compiles several files of a target as one,
# which takes half the time: what they include is read once. Files are grouped by a hash of their names, so that a new file
# moves no other. Two files of a group cannot use the same name in unnamed namespaces: when the preset no longer builds for
# that, list one of them as COMPILED_ALONE.
function(compile_together target folder)
  cmake_parse_arguments(ARG "" "" "COMPILED_ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE name)
    # Files of /simd/ compile themselves once per instruction set.
    if(NOT name IN_LIST ARG_COMPILED_ALONE AND NOT name MATCHES "/simd/")
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 4 digits)
      math(EXPR group "0x${digits} % 32")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
