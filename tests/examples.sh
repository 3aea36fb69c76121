#!/usr/bin/env bash
# Installs a build into build/install and builds and runs each example against it, as a user would.
#   tests/examples.sh build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

prefix=$PWD/build/install
rm -rf "$prefix"
cmake --install "${1:-build/release}" --prefix "$prefix" >/dev/null
"$prefix/bin/throughtime" --help >/dev/null
for file in bash-completion/completions/throughtime zsh/site-functions/_throughtime \
  fish/vendor_completions.d/throughtime.fish man/man1/throughtime.1 doc/throughtime/docs/runs.md \
  throughtime/experiments/add-tbptt.toml; do
  [[ -s $prefix/share/$file ]] || { echo "share/$file is not installed" >&2; exit 1; }
done

# A cell's kernels for a GPU take half a minute to compile.
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi

for example in consumer own_cell online c; do
  echo "examples/$example"
  cmake -S "examples/$example" -B "build/examples/$example" -G Ninja --fresh --log-level=WARNING \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" "${launcher[@]}"
  cmake --build "build/examples/$example"
  (cd "build/examples/$example" && "./$example") # it may write files
done
