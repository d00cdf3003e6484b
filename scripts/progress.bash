# For scripts that source it: progress on one line of a terminal, or a line per quarter in a log.

# progress TITLE DONE TOTAL [UNIT]
progress() {
  local quarter=$((4 * $2 / $3))
  if [ -t 1 ]; then
    printf '\r  %s: %d of %d%s ' "$1" "$2" "$3" "${4:+ $4}"
    [ "$2" -lt "$3" ] || echo
  elif [ "$1/$quarter" != "${progress_shown:-}" ]; then
    printf '  %s: %d of %d%s\n' "$1" "$2" "$3" "${4:+ $4}"
    progress_shown=$1/$quarter
  fi
}

# build LOG COMMAND..: runs a command that ends in Ninja, with its output in LOG and "N of M files" shown.
build() {
  local log=$1 line status
  shift
  set +e
  "$@" 2>&1 | tee -a "$log" | while IFS= read -r line; do
    [[ $line =~ ^\ *\[([0-9]+)/([0-9]+)\] ]] && progress compiling "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" files
  done
  status=${PIPESTATUS[0]}
  set -e
  [ "$status" -eq 0 ] && return
  echo >&2
  tail -20 "$log" >&2
  echo "$(basename "$0"): the build failed; see $log" >&2
  return 1
}
