"""Writes pair.wav, a guitar (left) and the same behind an amplifier (right), and dry.wav, another second of the guitar.

    python3 synthesise.py [SECONDS]          of pair.wav; 6 unless said otherwise
"""
import math, random, struct, sys, wave

RATE = 8000


def guitar(steps):
    """Plucked strings: two fading tones with overtones, a new chord every half second, and a little hiss."""
    tones = [82.4, 110.0, 146.8, 196.0, 246.9, 329.6]
    for step in range(steps):
        chord, within = divmod(step, RATE // 2)
        if within == 0:
            pair, loud = random.sample(tones, 2), random.uniform(0.2, 1.0)
        x = sum(math.sin(2 * math.pi * n * tone * step / RATE) / n**2 for tone in pair for n in (1, 2, 3))
        yield loud * (0.4 * math.exp(-3e-4 * within) * x + 0.005 * random.uniform(-1, 1))


def amplifier(dry):
    """Overdriven: clipped softly, on one side before the other. Three things remember: the supply sags where it was
    loud for a twentieth of a second, the loudspeaker takes off high tones, a capacitor takes off the lowest."""
    sag = low = before = out = 0.0
    for x in dry:
        sag += 0.0025 * (abs(x) - sag)
        clipped = math.tanh(6 * x / (1 + 5 * sag) + 0.3) - math.tanh(0.3)
        before, low = low, low + 0.4 * (clipped - low)
        out = 0.99 * (out + low - before)
        yield 0.7 * out


def write(name, channels):
    with wave.open(name, "wb") as file:
        file.setparams((len(channels), 2, RATE, 0, "NONE", ""))
        frames = zip(*channels)
        file.writeframes(b"".join(struct.pack("<h", round(32767 * max(-1, min(1, x)))) for frame in frames for x in frame))


random.seed(1)
dry = list(guitar(int(RATE * float(sys.argv[1] if len(sys.argv) > 1 else 6))))
write("pair.wav", [dry, list(amplifier(dry))])
write("dry.wav", [list(guitar(RATE))])
