#pragma once

namespace throughtime {

// Tables scroll by themselves where a screen is too narrow for them; their first column stays.
inline constexpr const char* page_style = R"(
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --page: #f6f8fa; --line: #d8dee4;
  --mark: #fff3c4; --warn: #9a4a00; --link: #0a5fc2; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #15191e; --page: #0d1117;
  --line: #2d333b; --mark: #4a3d10; --warn: #f0a35e; --link: #6cb2ff; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; }
main { max-width: 1500px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.35rem; margin: 2.6rem 0 .4rem; }
h3 { font-size: 1.1rem; margin: 1.8rem 0 .3rem; } h4 { font-size: 1rem; margin: .1rem .4rem .3rem; }
h1, h2, h3, h4, p, li, summary { overflow-wrap: anywhere; }
p { margin: .3rem 0 .8rem; max-width: 75em; color: var(--soft); } a { color: var(--link); }
.found { margin: .6rem 0; padding: 0; list-style: none; font-size: 1.15rem; color: var(--ink); } .found b { font-weight: 600; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); gap: 1rem; }
figure, .table, details, .troubles { margin: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
figure { position: relative; padding: .5rem; min-width: 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption { padding: .25rem .4rem .2rem; color: var(--soft); font-size: .9rem; }
.table { overflow-x: auto; } table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .93rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
tr:last-child td { border-bottom: 0; } .text { text-align: left; }
th { color: var(--soft); font-weight: 600; white-space: normal; vertical-align: bottom; }
th:first-child, td:first-child { position: sticky; left: 0; z-index: 1; background: var(--paper); border-right: 1px solid var(--line);
  white-space: normal; overflow-wrap: anywhere; min-width: 6rem; max-width: min(18rem, 35vw); }
td.long { white-space: normal; overflow-wrap: anywhere; min-width: 20em; }
td.spread { white-space: normal; } td.spread span { white-space: nowrap; }
details { padding: .5rem .9rem; margin-top: .6rem; } summary { cursor: pointer; }
dl { display: grid; grid-template-columns: fit-content(50%) 1fr; gap: 0 1.2rem; font: 13px/1.6 ui-monospace, Menlo, Consolas, monospace; }
dd { margin: 0; } dd, dt { overflow-wrap: anywhere; } dt { color: var(--soft); } mark { background: var(--mark); color: inherit; }
.troubles { padding: .6rem 1rem; margin-top: 1rem; color: var(--warn); } .troubles ul { margin: 0; padding-left: 1.2rem; }
@media (max-width: 700px) { main { padding: 1.2rem .6rem 3rem; } th, td { padding: .3rem .45rem; } }
.cursor { position: absolute; left: 0; top: 0; pointer-events: none; padding: .15rem .5rem; border-radius: 4px; font-size: 12px; white-space: nowrap;
  background: var(--ink); color: var(--paper); visibility: hidden; transform: translate(-50%, -150%); }
)";

// The nearest point of a curve to the pointer, in the numbers of the axes. The SVG says where its axes are.
inline constexpr const char* page_script = R"(
for (const svg of document.querySelectorAll('.throughtime-chart')) {
  const tip = svg.parentNode.appendChild(document.createElement('div'));
  tip.className = 'cursor';
  const [left, top, right, bottom] = svg.dataset.area.split(' ').map(Number);
  const value = (axis, share) => {
    const [low, high, kind] = axis.split(' ');
    return kind === 'log' ? low * (high / low) ** share : +low + (high - low) * share;
  };
  const points = [];
  for (const group of svg.querySelectorAll('.curve, .chosen')) {
    for (const path of group.querySelectorAll('path'))
      for (const [, x, y] of path.getAttribute('d').matchAll(/[ML]([-\d.]+),([-\d.]+)/g))
        points.push([+x, +y, group.dataset.label]);
    for (const mark of group.querySelectorAll('use')) {
      const [, x, y] = mark.getAttribute('transform').match(/translate\(([-\d.]+),([-\d.]+)/);
      points.push([+x, +y, group.dataset.label]);
    }
  }
  svg.addEventListener('pointermove', event => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    let best = null, distance = 1600;
    for (const point of points) {
      const d = (point[0] - at.x) ** 2 + (point[1] - at.y) ** 2;
      if (d < distance) { best = point; distance = d; }
    }
    tip.style.visibility = best ? 'visible' : 'hidden';
    if (!best) return;
    const x = value(svg.dataset.x, (best[0] - left) / (right - left));
    const y = value(svg.dataset.y, (bottom - best[1]) / (bottom - top));
    tip.textContent = `${best[2]}   x ${+x.toPrecision(4)}   y ${+y.toPrecision(4)}`;
    const place = new DOMPoint(best[0], best[1]).matrixTransform(svg.getScreenCTM());
    const frame = svg.parentNode.getBoundingClientRect();
    const half = tip.offsetWidth / 2;  // it stays within its figure
    tip.style.left = Math.max(half, Math.min(place.x - frame.left, frame.width - half)) + 'px';
    tip.style.top = place.y - frame.top + 'px';
  });
  svg.addEventListener('pointerleave', () => { tip.style.visibility = 'hidden'; });
}
)";

}  // namespace throughtime
