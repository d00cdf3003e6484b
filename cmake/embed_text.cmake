# Run as a script: writes OUTPUT, a C++ file with each of FILES as a string_view NAMESPACE::kNAME, and the SHA-256 of its
# bytes in base64, as a content security policy names it, as NAMESPACE::kNAME_sha256. FILES is a list of NAME=PATH.

# base64(VARIABLE hex): 256 bits are 42 digits of six bits, and one of the last four.
function(base64 variable hex)
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(result "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${at} 6 six)
    math(EXPR bits "0x${six}")
    foreach(shift 18 12 6 0)
      math(EXPR place "(${bits} >> ${shift}) & 63")
      string(SUBSTRING ${digits} ${place} 1 digit)
      string(APPEND result ${digit})
    endforeach()
  endforeach()
  string(SUBSTRING ${result} 0 43 result)
  set(${variable} "${result}=" PARENT_SCOPE)
endfunction()

set(text "#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(entry ${FILES})
  string(REGEX MATCH "^([^=]+)=(.+)$" found "${entry}")
  set(name ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  file(READ ${path} bytes HEX)
  file(SHA256 ${path} hash)
  base64(hash ${hash})
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  string(REGEX REPLACE "((......,){24})" "\\1\n" bytes "${bytes}")
  string(APPEND text "namespace {\nconstexpr char ${name}_bytes[] = {\n${bytes}0};\n}\n"
                     "extern const std::string_view k${name};\n"
                     "const std::string_view k${name}(${name}_bytes, sizeof ${name}_bytes - 1);\n"
                     "extern const std::string_view k${name}_sha256;\n"
                     "const std::string_view k${name}_sha256 = \"${hash}\";\n")
endforeach()
string(APPEND text "}\n")
file(WRITE ${OUTPUT} "${text}")
