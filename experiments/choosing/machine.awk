# Writes what a machine does as CSV, a row for each minute: whether its button was pressed, and the current it draws. Twelve
# minutes after a press it draws current for a moment. A second press in between starts the twelve minutes anew.
#   awk -f machine.awk > machine.csv          -v minutes=8000 -v seed=1 are the defaults
# The same numbers with every awk: a generator of its own, uniform in [0, 1).
function uniform() { state = (state * 16807) % 2147483647; return state / 2147483647 }
BEGIN {
  if (!minutes) minutes = 8000
  if (!seed) seed = 1
  state = seed * 7919 + 13
  for (i = 0; i < 20; ++i) uniform()
  print "button,current"
  since = 99
  for (t = 0; t < minutes; ++t) {
    pressed = uniform() < 0.06
    since = pressed ? 0 : since + 1
    current = 0.6 * current + (since == 12)
    printf "%d,%.3f\n", pressed, current + 0.1 * (uniform() - 0.5)
  }
}
