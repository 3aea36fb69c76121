# Writes made-up drawings of a pen as CSV, a row for each point: a circle, an eight, a wave or a spiral, each at its own
# place, size and speed, with a trembling hand.
#   awk -f gestures.awk > gestures.csv          -v drawings=240 -v seed=1 are the defaults
# The same numbers with every awk: a generator of its own, uniform in [0, 1).
function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function noise() { return uniform() + uniform() + uniform() - 1.5 }
BEGIN {
  if (!drawings) drawings = 240
  if (!seed) seed = 1
  state = seed * 7919 + 13
  for (i = 0; i < 20; ++i) uniform()
  split("circle eight wave spiral", shapes, " ")
  pi = atan2(0, -1)
  print "id,label,x,y"
  for (i = 0; i < drawings; ++i) {
    shape = shapes[i % 4 + 1]
    points = 30 + int(51 * uniform())
    phase = 2 * pi * uniform(); turn = uniform() < 0.5 ? 1 : -1
    size = 0.5 + uniform(); left = noise() / 2; low = noise() / 2
    for (t = 0; t < points; ++t) {
      angle = turn * 2 * pi * t / points + phase
      if (shape == "circle") { x = cos(angle); y = sin(angle) }
      if (shape == "eight")  { x = sin(angle); y = sin(2 * angle) / 2 }
      if (shape == "wave")   { x = 2 * t / points - 1; y = sin(2 * angle) / 2 }
      if (shape == "spiral") { x = t / points * cos(2 * angle); y = t / points * sin(2 * angle) }
      printf "drawing-%d,%s,%.4f,%.4f\n", i + 1, shape, left + size * x + 0.1 * noise(), low + size * y + 0.1 * noise()
    }
  }
}
