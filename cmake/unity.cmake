# compile_together(TARGET FOLDER file..): with CMAKE_UNITY_BUILD, as most presets have it, about ten files of a target are compiled
# as one, which takes half the time: what they include is read once. A group holds files of one folder alone, so that
# tools/check_layers.py knows whose symbols an object has; a hash of the name chooses among the groups of a folder, so that
# a new file moves few others. Two files of a group cannot use the same name in unnamed namespaces: when the preset no longer
# builds for that, list one of them as COMPILED_ALONE.
function(compile_together target folder)
  cmake_parse_arguments(ARG "" "" "COMPILED_ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  set(parts)
  foreach(source ${ARG_UNPARSED_ARGUMENTS})
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${folder} OUTPUT_VARIABLE name)
    # Files of /simd/ compile themselves once per instruction set.
    if(NOT name IN_LIST ARG_COMPILED_ALONE AND NOT name MATCHES "/simd/")
      string(REGEX REPLACE "/.*" "" part ${name})
      list(APPEND parts ${part})
      list(APPEND files_of_${part} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES parts)
  foreach(part ${parts})
    list(LENGTH files_of_${part} files)
    math(EXPR groups "(${files} + 9) / 10")
    foreach(source ${files_of_${part}})
      cmake_path(GET source FILENAME name)
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 4 digits)
      math(EXPR group "0x${digits} % ${groups}")
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${part}_${group})
    endforeach()
  endforeach()
endfunction()
