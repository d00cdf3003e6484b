# Run as a script: writes OUTPUT, a C++ file with each of FILES as a string_view NAMESPACE::kNAME. FILES is a list of NAME=PATH.
set(text "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" found "${entry}")
  set(name ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "((......,){24})" "\\1\n" bytes "${bytes}")
  string(APPEND text "namespace {\nconstexpr char ${name}_bytes[] = {\n${bytes}0};\n}\n"
                     "extern const std::string_view k${name};\n"
                     "const std::string_view k${name}(${name}_bytes, sizeof ${name}_bytes - 1);\n")
endforeach()
string(APPEND text "}\n")
file(WRITE ${OUTPUT} "${text}")
