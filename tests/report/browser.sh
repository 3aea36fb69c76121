#!/usr/bin/env bash
# Renders a report in a headless Chromium, 1280 and 500 pixels wide: no message on its console, every figure present and
# not blank, no column clipped or out of reach, no label over another one or too small to read.
#   tests/report/browser.sh BUILD_DIRECTORY [DIRECTORY]
# Screenshots stay in DIRECTORY where one is given. Exit code 77, skipped, where there is no Chromium or no gnuplot.
set -euo pipefail
command=$(cd "$1" && pwd)/throughtime
here=$(cd "$(dirname "$0")" && pwd)
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

if [[ $# -gt 1 ]]; then pictures=$2; else pictures=$work; fi

train() {  # NAME CONFIG [key=value ...]
  local settings=()
  for setting in "${@:3}"; do settings+=(--set "$setting"); done
  "$command" train "$2" --quiet "${settings[@]}" --set "run.name=<b>$1" --set "run.directory=$work/runs/$1" >/dev/null
}
small=(model.hidden=8 train.iterations=60 train.batch=8 train.evaluate_every=10 train.evaluate_batches=1 train.report_every=5)
for seed in 1 2; do
  train bptt-$seed "$here/../../experiments/add-bptt.toml" "${small[@]}" task.add.length=10 train.seed=$seed
  train fptt-$seed "$here/../../experiments/add-bptt.toml" "${small[@]}" task.add.length=10 train.seed=$seed \
    learner.name=fptt learner.fptt.windows=2
done
# Another question of the same task, with names that need room.
train a-much-longer-name-than-most-runs-have "$here/../../experiments/add-bptt.toml" "${small[@]}" task.add.length=14
# A forecast with a band, two horizons ahead.
awk -v OFS=, 'BEGIN { print "y,other"; for (t = 0; t < 900; ++t) print sin(t / 5) + 0.2 * sin(t * t), 300 * cos(t / 7) }' \
  >"$work/wave.csv"
cat >"$work/wave.toml" <<TOML
[task]
name = "series"
[task.series]
path = "$work/wave.csv"
targets = ["y"]
horizon = [1, 6]
length = 20
season = 31
[model]
head = "quantile"
[optimizer]
rate = 0.01
TOML
for seed in 1 2 3; do train wave-of-the-sea-$seed "$work/wave.toml" "${small[@]}" train.seed=$seed; done
# Classes.
awk -v OFS=, 'BEGIN { print "id,x,label"; for (n = 0; n < 60; ++n) for (t = 0; t < 8; ++t)
  print n, (n % 3 - 1) * t + sin(n + t), n % 3 == 0 ? "falls" : n % 3 == 1 ? "stays where it is" : "rises" }' \
  >"$work/shapes.csv"
printf '[task]\nname = "sequences"\n[task.sequences]\nfiles = ["%s"]\n' "$work/shapes.csv" >"$work/shapes.toml"
train shapes "$work/shapes.toml" "${small[@]}"
# A stream that learns, with the error of the last value beside it, dashed.
cat >"$work/stream.toml" <<TOML
[task]
name = "series"
[task.series]
inputs = ["y", "other"]
targets = ["y"]
[model]
hidden = 8
[learner]
name = "tbptt"
tbptt = { preset = "original", truncation = 4 }
TOML
"$command" stream "$work/stream.toml" --set "run.name=<b>stream of waves" --set "run.directory=$work/runs/stream" \
  <"$work/wave.csv" >/dev/null 2>&1
"$command" report "$work/runs" -o "$work/report.html" 2>/dev/null

# The page itself looks at what was drawn, and says what is wrong with it.
cat >"$work/probe.js" <<'JS'
addEventListener('error', event => console.log('FAULT error ' + event.message));
addEventListener('load', () => {
  const fault = text => console.log('FAULT ' + text), all = (root, name) => [...root.querySelectorAll(name)];
  const wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) fault(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const box of all(document, '.table')) {
    let heading = box.previousElementSibling;
    while (heading.tagName !== 'H3') heading = heading.previousElementSibling;
    const title = heading.textContent, frame = box.getBoundingClientRect();
    if (title === 'Results' && wide >= 1280 && box.scrollWidth > box.clientWidth)
      fault(`the results are ${box.scrollWidth} wide in ${box.clientWidth}`);
    for (const cell of all(box, 'th, td'))
      if (cell.scrollWidth > cell.clientWidth + 1) fault(`${title}: '${cell.textContent}' is clipped`);
    box.scrollLeft = 100000;
    for (const row of all(box, 'tr')) {
      const first = row.firstElementChild.getBoundingClientRect(), last = row.lastElementChild.getBoundingClientRect();
      if (Math.abs(first.left - frame.left) > 2) fault(`${title}: the first column scrolls away`);
      if (last.right > frame.right + 1) fault(`${title}: the last column cannot be reached`);
      if (first.width > frame.width / 2) fault(`${title}: the first column takes ${first.width} of ${frame.width}`);
    }
    box.scrollLeft = 0;
  }
  const charts = all(document, '.throughtime-chart');
  for (const svg of all(document, 'figure > svg')) {
    const chart = svg.classList.contains('throughtime-chart'), title = svg.parentNode.querySelector('h4').textContent;
    if (chart && !all(svg, '.curve path').some(path => path.getBoundingClientRect().width > 100)) fault(title + ' is blank');
    const frame = svg.getBoundingClientRect(), scale = svg.getScreenCTM().a;
    const texts = all(svg, 'text').filter(text => text.textContent.trim()).map(text => {
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 9) fault(`${title}: '${text.textContent}' has letters of ${size} pixels`);
      const box = text.getBoundingClientRect();
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        fault(`${title}: '${text.textContent}' is cut off`);
      return {box, text: text.textContent, turned: /rotate/.test(text.getAttribute('transform'))};
    });
    // The box of a line of text is higher than its letters, and that of a slanted one is no measure of it.
    texts.filter(text => !text.turned).forEach((one, i, straight) => straight.slice(i + 1).forEach(other => {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (across > 0 && down > 0.25 * one.box.height) fault(`${title}: '${one.text}' and '${other.text}' overlap`);
    }));
  }
  for (const link of all(document, 'a.download')) {
    const text = decodeURIComponent(link.href.slice(link.href.indexOf(',') + 1));
    if (!/^(curve,x,y,low,high|group,directory,seed,finished)/.test(text) || text.split('\n').length < 3) fault(link.download);
  }
  const path = charts[0].querySelector('.curve path').getBoundingClientRect();
  charts[0].dispatchEvent(new PointerEvent('pointermove', {clientX: path.left + 1, clientY: path.top + 1}));
  const cursor = charts[0].parentNode.querySelector('.cursor').textContent;
  const naive = all(document, '.reference path').filter(path => path.getAttribute('stroke-dasharray') ||
    path.closest('[stroke-dasharray]') || getComputedStyle(path).strokeDasharray !== 'none').length;
  const along = all(document, '.curve[data-label^="naive forecast"] path').filter(path =>
    getComputedStyle(path).strokeDasharray !== 'none' && path.getBoundingClientRect().width > 100).length;
  console.log(`PROBE sections ${all(document, 'section').length} charts ${charts.length} ` +
    `confusions ${all(document, 'svg.confusion').length} dashed ${naive} along ${along} chosen ${all(document, '.chosen').length} ` +
    `files ${all(document, 'a.download').length} found ${all(document, '.found li').length} cursor ${cursor}`);
});
JS
{
  sed '/<\/head>/q' "$work/report.html" | sed '$d'
  echo "<script>$(cat "$work/probe.js")</script></head>"
  sed '1,/<\/head>/d' "$work/report.html"
} >"$work/probed.html"

expected='sections 5 charts (1[0-9]|[2-9][0-9]) confusions 1 dashed [1-9][0-9]* along [1-9][0-9]* chosen [1-9][0-9]* '
expected+='files (1[4-9]|[2-9][0-9]) found 5 cursor <b>[a-z-]+ +x [0-9.]+ +y [0-9.]+'
for width in 1280 500; do
  "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
    --window-size=$width,6000 --enable-logging=stderr --v=0 --virtual-time-budget=3000 \
    --screenshot="$pictures/page-$width.png" "file://$work/probed.html" >"$work/log" 2>&1
  messages=$(grep 'CONSOLE' "$work/log" || true)
  echo "$messages"
  if grep -v 'PROBE' <<<"$messages" | grep -q .; then echo "[browser] the page is wrong at $width pixels"; exit 1; fi
  grep -qE "PROBE $expected" <<<"$messages" || { echo "[browser] parts of the page are missing at $width pixels"; exit 1; }
  # A page of one colour compresses to almost nothing.
  [[ $(stat -c %s "$pictures/page-$width.png") -gt 40000 ]] || { echo "[browser] the page is blank"; exit 1; }
done
echo "[browser] rendered as it should"
