#!/usr/bin/env bash
# Installs a build into build/install and builds and runs each example against it, as a user would.
#   tests/examples.sh build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prefix=$PWD/build/install
rm -rf "$prefix"
cmake --install "${1:-build/release}" --prefix "$prefix" >/dev/null
"$prefix/bin/throughtime" --help >/dev/null

for example in consumer own_cell online c; do
  echo "examples/$example"
  cmake -S "examples/$example" -B "build/examples/$example" -G Ninja --fresh --log-level=WARNING \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build "build/examples/$example"
  "build/examples/$example/$example"
done
