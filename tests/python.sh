#!/usr/bin/env bash
# Runs the tests of the Python package against a build, and says at the end what became of them in GoogleTest's words, which
# scripts/test counts.
#   tests/python.sh build/release [pytest's arguments]      all of tests/python, where the arguments name no file
# A library with the address sanitizer looks at the memory of NumPy and of Python, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:-build/release}
python=${THROUGHTIME_PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "skipped: $python has no NumPy or no pytest (scripts/setup installs them)"
  exit 77
fi
export THROUGHTIME_LIBRARY=$PWD/$build/libthroughtime_c.so THROUGHTIME_COMMAND=$PWD/$build/throughtime
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
checked=() # what the sanitizer wants to be loaded before anything else, with the runtime whose exceptions it watches
if ldd "$THROUGHTIME_LIBRARY" | grep libasan >/dev/null; then
  preload="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)"
  checked=(env "LD_PRELOAD=$preload" ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"${checked[@]}" "$python" -m pytest -p no:cacheprovider -q -rs --durations=5 "${@:2}" 2>&1 | tee "$log" || status=$?
# Of the last line: `3 failed, 62 passed, 1 skipped in 21.04s`.
number() { tail -n 1 "$log" | grep -oE "[0-9]+ $1" | grep -oE '^[0-9]+' || echo 0; }
sed -nE 's/^SKIPPED \[[0-9]+\] [^ ]+ (.*)$/skipped: \1/p' "$log"
passed=$(number passed) failed=$(($(number failed) + $(number error))) skipped=$(number skipped)
echo "[  PASSED  ] $passed tests."
if ((skipped)); then echo "[  SKIPPED ] $skipped tests, listed above."; fi
if ((failed)); then echo "[  FAILED  ] $failed tests, listed above."; fi
exit "$status"
