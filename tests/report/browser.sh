#!/usr/bin/env bash
# Renders a report in a headless Chromium: no message on its console, every figure present and not blank.
#   tests/report/browser.sh BUILD_DIRECTORY
# Exit code 77, skipped, where there is no Chromium or no gnuplot.
set -euo pipefail
command=$1/throughtime
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
  echo "[browser] skipped: no chromium in PATH (scripts/setup installs it)"
  exit 77
fi
if ! command -v gnuplot >/dev/null; then
  echo "[browser] skipped: no gnuplot in PATH (scripts/setup installs it)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for learner in bptt fptt; do
  settings=(--set learner.name=$learner)
  [[ $learner == bptt ]] || settings+=(--set learner.fptt.windows=2)
  for seed in 1 2; do
    "$command" train "$(dirname "$0")/../../experiments/add-bptt.toml" --quiet "${settings[@]}" \
      --set task.add.length=10 --set model.hidden=8 --set train.iterations=60 --set train.batch=8 \
      --set train.evaluate_every=10 --set train.evaluate_batches=1 --set train.report_every=5 --set train.seed=$seed \
      --set "run.name=<b>$learner-$seed" --set "run.directory=$work/runs/$learner-$seed" >/dev/null
  done
done
"$command" report "$work/runs" -o "$work/report.html" 2>/dev/null

# The page itself looks at what was drawn: the box of every curve on the screen, and the cursor's text.
cat >"$work/probe.js" <<'JS'
addEventListener('error', event => console.log('PROBE error ' + event.message));
addEventListener('load', () => {
  const charts = [...document.querySelectorAll('.throughtime-chart')];
  let blank = 0;
  for (const chart of charts) {
    const boxes = [...chart.querySelectorAll('.curve path')].map(path => path.getBoundingClientRect());
    if (!boxes.some(box => box.width > 100)) ++blank;
  }
  const path = charts[0].querySelector('.curve path').getBoundingClientRect();
  charts[0].dispatchEvent(new PointerEvent('pointermove', {clientX: path.left + 1, clientY: path.top + 1}));
  const cursor = charts[0].parentNode.querySelector('.cursor').textContent;
  console.log(`PROBE charts ${charts.length} blank ${blank} rows ${document.querySelectorAll('tbody tr').length} cursor ${cursor}`);
});
JS
{
  sed '/<\/head>/q' "$work/report.html" | sed '$d'
  echo "<script>$(cat "$work/probe.js")</script></head>"
  sed '1,/<\/head>/d' "$work/report.html"
} >"$work/probed.html"

"$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --window-size=1400,1600 \
  --enable-logging=stderr --v=0 --virtual-time-budget=3000 --screenshot="$work/page.png" "file://$work/probed.html" \
  >"$work/log" 2>&1
messages=$(grep 'CONSOLE' "$work/log" || true)
echo "$messages"
expected='charts ([3-9]|[1-9][0-9]+) blank 0 rows [0-9]+ cursor <b>(bptt|fptt) +x [0-9.]+ +y [0-9.]+'
grep -qE "PROBE $expected" <<<"$messages" || { echo "[browser] figures are missing or blank"; exit 1; }
if grep -v 'PROBE charts' <<<"$messages" | grep .; then echo "[browser] the page wrote on the console"; exit 1; fi
# A page of one colour compresses to almost nothing.
[[ $(stat -c %s "$work/page.png") -gt 40000 ]] || { echo "[browser] the page is blank"; exit 1; }
echo "[browser] rendered as it should"
