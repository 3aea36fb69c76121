#!/usr/bin/env bash
# Builds the fuzzers of tests/fuzz/ with clang and runs each over its committed corpus, then on inputs of its own, as many
# at a time as there are cores.
#   tests/fuzz.sh BUILD_DIRECTORY SECONDS [NAME...]   SECONDS of fuzzing for each; by default all of them
# What a fuzzer finds is left in BUILD_DIRECTORY/findings/NAME/; new inputs worth keeping are in BUILD_DIRECTORY/inputs/NAME/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# < 2)); then
  echo "[fuzz] usage: tests/fuzz.sh BUILD_DIRECTORY SECONDS [NAME...]" >&2
  exit 2
fi
build=$1 seconds=$2
shift 2
names=("$@")
if ((${#names[@]} == 0)); then
  for source in tests/fuzz/*_fuzzer.cpp; do names+=("$(basename "$source" _fuzzer.cpp)"); done
fi
mkdir -p "$build/objects"

compiler=("${FUZZ_COMPILER:-clang++}")
if command -v ccache >/dev/null; then compiler=(ccache "${compiler[@]}"); fi
flags=(-std=c++20 -O1 -g1 -fno-omit-frame-pointer "-fsanitize=address,undefined" -fno-sanitize-recover=all
  -Iinclude -Isrc -Itests/fuzz)
libraries=(-lfmt -lz -llzma -lmd)

# beside COMMAND...: runs it in the background, once fewer than one per core are running.
pids=()
beside() {
  if ((${#pids[@]} >= $(nproc))); then
    wait "${pids[0]}"
    pids=("${pids[@]:1}")
  fi
  "$@" &
  pids+=($!)
}
all_done() {
  for pid in "${pids[@]}"; do wait "$pid"; done
  pids=()
}

# compile SOURCE OBJECT: again only where a source or a header is newer.
compile() {
  if [[ ! -e $2 || -n $(find "$1" src/data src/core include tests/fuzz -name '*.h' -newer "$2" -print -quit) || $1 -nt $2 ]]; then
    "${compiler[@]}" "${flags[@]}" -fsanitize=fuzzer-no-link -c "$1" -o "$2"
  fi
}

# fuzz NAME: leaves a file NAME.failed where something was found.
fuzz() {
  local name=$1 log=$build/$1.log
  "${compiler[@]}" "${flags[@]}" -fsanitize=fuzzer "$build/objects/${name}_fuzzer.o" "${objects[@]}" "${libraries[@]}" \
    -o "$build/fuzz_$name"
  mkdir -p "$build/inputs/$name" "$build/findings/$name"
  rm -f "$build/$name.failed"
  # Memory is limited, so that a size taken from a header shows; a single input may take a second.
  local options=(-rss_limit_mb=1024 -malloc_limit_mb=512 -timeout=5 -max_len=4096 -print_final_stats=1
    -artifact_prefix="$build/findings/$name/")
  if "$build/fuzz_$name" "${options[@]}" -runs=0 "tests/fuzz/corpus/$name" >"$log" 2>&1 &&
    "$build/fuzz_$name" "${options[@]}" -max_total_time="$seconds" "$build/inputs/$name" "tests/fuzz/corpus/$name" >>"$log" 2>&1; then
    printf '%-12s %9s runs, coverage %s\n' "$name" "$(sed -nE 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)" \
      "$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1 | tr -dc 0-9)"
  else
    touch "$build/$name.failed"
    echo "$name: FAILED (see $log)"
    grep -E 'ERROR|runtime error|SUMMARY|Test unit written' "$log" | head -n 5 || true
  fi
}

mapfile -t sources < <(find src/data -name '*.cpp' | sort)
sources+=(src/core/memory.cpp src/core/names.cpp src/core/files.cpp)
for name in "${names[@]}"; do sources+=("tests/fuzz/${name}_fuzzer.cpp"); done
objects=()
for source in "${sources[@]}"; do
  object=$build/objects/$(basename "$source" .cpp).o
  [[ $source == tests/* ]] || objects+=("$object")
  beside compile "$source" "$object"
done
all_done
for name in "${names[@]}"; do beside fuzz "$name"; done
all_done

for name in "${names[@]}"; do [[ ! -e $build/$name.failed ]] || exit 1; done
