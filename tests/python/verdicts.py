"""Verdicts on the stored results, computed once more: what docs/reproduce.md says of rules, tests and words, in Python and
with other arithmetic (Student's tail by quadrature, ranks by counting every choice)."""

import dataclasses
import itertools
import json
import math

NO, UNKNOWN, YES = 0, 1, 2
LEARNED = {"nothing": 0, "baseline": 1, "more": 2}
LEVELED = ("reach", "share", "relapses")
ORDERS = ("falling", "rising", "widening", "narrowing")
COMPARED = ("less", "greater", "near", "ratio", "lowest", "highest", "widening", "narrowing")
UNSIGNED = ("between", "within", "near", "spread", "ratio")
UNDECIDED = ("not run", "too small to tell", "too few seeds", "proves nothing")


def student_p(t, df, points=4000):
    """P(|T| > t): with t = sqrt(df) tan(a) the density is a power of the cosine. Simpson's rule from a to pi / 2."""
    if math.isnan(t) or math.isnan(df):
        return math.nan
    first = math.atan(abs(t) / math.sqrt(df))
    step = (math.pi / 2 - first) / points
    heights = [max(math.cos(first + i * step), 0.0) ** (df - 1) for i in range(points + 1)]
    area = step / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
    return area / (math.sqrt(math.pi) / 2 * math.exp(math.lgamma(df / 2) - math.lgamma((df + 1) / 2)))


def mean(values):
    return math.fsum(values) / len(values)


def variance(values):
    return math.fsum((value - mean(values)) ** 2 for value in values) / (len(values) - 1) if len(values) > 1 else math.nan


def centre(values):
    """The median where a run never came so far, for then there is no mean."""
    if not any(map(math.isinf, values)):
        return mean(values)
    ranked = sorted(values)
    return (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2


def p_of(difference, error, df):
    if error == 0 and math.isfinite(difference):
        return 1.0 if difference == 0 else 0.0
    return math.nan if math.isnan(error) else student_p(difference / error, df)


def contrast(arms, weights):
    """A weighted sum of means, its standard error and degrees of freedom: seed by seed where all arms ran the same."""
    value = sum(weight * mean(list(arms[arm].values())) for arm, weight in weights)
    seeds = set(arms[weights[0][0]])
    if len(seeds) > 1 and all(set(arms[arm]) == seeds for arm, _ in weights):
        sums = [sum(weight * arms[arm][seed] for arm, weight in weights) for seed in seeds]
        return value, math.sqrt(variance(sums) / len(sums)), len(sums) - 1
    shares = [(weight**2 * variance(list(arms[arm].values())) / len(arms[arm]), len(arms[arm]) - 1) for arm, weight in weights]
    total = sum(share for share, _ in shares)
    if not total > 0:
        return value, total, math.nan
    return value, math.sqrt(total), total**2 / sum(share**2 / df for share, df in shares)


def welch_p(first, second):
    return p_of(*contrast({"a": dict(enumerate(first)), "b": {-1 - i: v for i, v in enumerate(second)}}, [("a", 1), ("b", -1)]))


def rank_test(first, second):
    """How much higher the second ranks in the mean, and how many choices of as many ranks lie as far from the middle."""
    both = first + second
    ranks = [sum(other < value for other in both) + (sum(other == value for other in both) + 1) / 2 for value in both]
    own, middle = sum(ranks[: len(first)]), len(first) * (len(both) + 1) / 2
    sums = [sum(choice) for choice in itertools.combinations(ranks, len(first))]
    p = sum(abs(one - middle) >= abs(own - middle) - 1e-9 for one in sums) / len(sums)
    return sum(ranks[len(first) :]) / len(second) - own / len(first), p


def holm(p):
    """Corrected for how many tests there are; what is no test does not count."""
    order = sorted((one, i) for i, one in enumerate(p) if not math.isnan(one))
    corrected, highest = [math.nan] * len(p), 0.0
    for place, (one, i) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - place) * one))
        corrected[i] = highest
    return corrected


def measure_key(of):
    level = f" {of.get('level', 0):g}" if of["measure"] in LEVELED else ""
    return f"{of['metric']}, {of['measure']}{level}"


@dataclasses.dataclass
class Rule:
    kind: str
    key: str
    arms: list
    than: list = dataclasses.field(default_factory=list)
    low: float = 0
    high: float = 0
    share: float = 0
    margin: float = 0
    percent: float = 0
    p: float = 0
    trend: bool = False

    @property
    def named(self):
        return self.arms + self.than

    @property
    def sign(self):
        """+1: the rule wants its first number to be the smaller one."""
        return 1 if self.kind in ("less", "rising", "lowest", "widening", "below") else -1

    def allowed(self, reference):
        return self.percent / 100 * abs(reference) if self.percent else self.margin

    def holds_for(self, value):
        if self.kind == "below":
            return value < self.high
        return value > self.low if self.kind == "above" else self.low <= value <= self.high


def rules_of(claim, result):
    rules = []
    for table in claim.get("rule", []):
        own = {key: value for key, value in table.items() if key not in ("metric", "measure", "level")}
        rules.append(Rule(key=measure_key({**result, **claim, **table}), **own))
    return rules


def all_of(first, second):
    """Both must hold: one that goes the other way decides alone, else the larger p is that of both."""
    against = [one for one in (first, second) if one[0] == NO]
    if against:
        return min(against, key=lambda one: one[1])
    worse = second if math.isnan(second[1]) or second[1] > first[1] else first
    return min(first[0], second[0]), first[1] if math.isnan(first[1]) else worse[1]


class Check:
    """One rule against the numbers of its arms: {arm: {seed: value}}."""

    def __init__(self, rule, arms, paper):
        self.rule, self.arms, self.paper = rule, arms, paper
        self.lists = {arm: list(values.values()) for arm, values in arms.items()}
        self.centres = {arm: centre(values) for arm, values in self.lists.items()}
        self.gaps = [self.centres[arm] - self.centres[other] for arm, other in zip(rule.arms, rule.than)]

    def met(self):
        rule, centres = self.rule, self.centres
        if rule.kind in ("falling", "rising"):
            return self.in_order([centres[arm] for arm in rule.arms])
        if rule.kind == "widening":
            return self.in_order(self.gaps)
        if rule.kind == "narrowing":
            keeps = all(self.gap_sign() * gap >= -rule.allowed(gap) for gap in self.gaps)
            return keeps and self.in_order([abs(gap) for gap in self.gaps])
        if rule.kind in ("lowest", "highest"):
            return self.best(rule.named) in rule.arms and math.isfinite(centres[self.best(rule.named)])
        if rule.kind == "spread":
            means = [centres[arm] for arm in rule.arms]
            return all(map(math.isfinite, means)) and max(means) - min(means) <= rule.allowed(min(means))
        return all(self.arm_meets(arm) for arm in rule.arms)

    def arm_meets(self, arm):
        rule, own = self.rule, self.centres[arm]
        if rule.kind == "within":
            return abs(own - self.paper[arm]) <= rule.allowed(self.paper[arm])
        if rule.kind in COMPARED:
            return all(self.pair_meets(arm, other) for other in rule.than)
        if rule.share == 0:
            return rule.holds_for(own)
        return sum(map(rule.holds_for, self.lists[arm])) >= rule.share * len(self.lists[arm]) - 1e-9

    def pair_meets(self, arm, other):
        rule, own, reference = self.rule, self.centres[arm], self.centres[other]
        allowed = rule.allowed(reference)
        if rule.kind == "near":
            return abs(own - reference) <= allowed
        if rule.kind == "ratio":
            return rule.low <= own / reference <= rule.high
        if rule.p and not welch_p(self.lists[arm], self.lists[other]) < rule.p:
            return False
        gap = rule.sign * (reference - own)
        return gap >= allowed if allowed else gap > 0

    def in_order(self, numbers):
        sign = self.rule.sign
        steps = all(sign * (b - a) >= -self.rule.allowed(a) for a, b in zip(numbers, numbers[1:]))
        return steps and sign * (numbers[-1] - numbers[0]) > 0

    def gap_sign(self):
        arm, other = self.rule.arms[0], self.rule.than[0]
        gap = self.paper[arm] - self.paper[other] if arm in self.paper and other in self.paper else self.gaps[0]
        return -1 if gap < 0 else 1

    def best(self, arms):
        worth = {arm: self.rule.sign * self.centres[arm] if math.isfinite(self.centres[arm]) else math.inf for arm in arms}
        return min(arms, key=worth.get)

    def told(self, sign, weights):
        value, error, df = contrast(self.arms, weights)
        return self.answer(sign * value, p_of(value, error, df))

    @staticmethod
    def answer(value, p):
        return ((YES if value > 0 else NO) if p < 0.05 else UNKNOWN), p

    def told_of_pair(self, arm, other):
        if any(map(math.isinf, self.lists[arm] + self.lists[other])):
            difference, p = rank_test(self.lists[arm], self.lists[other])
            return self.answer(self.rule.sign * difference, p)
        return self.told(self.rule.sign, [(other, 1), (arm, -1)])

    def told_of_order(self):
        rule = self.rule
        first, last = rule.arms[0], rule.arms[-1]
        if rule.kind in ("falling", "rising"):
            return self.told_of_pair(first, last)
        partner, last_partner = rule.than[0], rule.than[-1]
        if rule.kind == "widening":
            return self.told(1, [(last, 1), (last_partner, -1), (first, -1), (partner, 1)])
        sign = self.gap_sign()
        turned = self.told(sign, [(last, 1), (last_partner, -1)])
        there = self.told(sign, [(first, 1), (partner, -1)])
        smaller = self.told(sign, [(first, 1), (partner, -1), (last, -1), (last_partner, 1)])
        return turned if turned[0] == NO else all_of(there, smaller)

    def trend(self):
        rule = self.rule
        if rule.kind in UNSIGNED:
            return UNKNOWN, math.nan
        if rule.kind in ORDERS:
            answer, p = self.told_of_order()
            return (UNKNOWN if answer == YES and len(rule.arms) > 2 and not self.met() else answer), p
        if rule.kind in ("lowest", "highest"):
            return self.told_of_pair(self.best(rule.arms), self.best(rule.than))
        worst = (YES, 0.0)
        for arm in rule.arms:
            for other in rule.than:
                worst = all_of(worst, self.told_of_pair(arm, other))
            if rule.kind in ("below", "above"):
                values = self.lists[arm]
                distance = mean(values) - (rule.high if rule.kind == "below" else rule.low)
                p = p_of(distance, math.sqrt(variance(values) / len(values)), len(values) - 1)
                worst = all_of(worst, self.answer(-rule.sign * distance, p))
        return worst


class Stored:
    """The numbers of one result at one scale."""

    def __init__(self, path, scale):
        self.scale, self.json = scale, json.loads(path.read_text())
        self.arms = {
            arm: {key: {int(seed): float(self.number(value)) for seed, value in seeds.items()} for key, seeds in keys.items()}
            for arm, keys in self.json["arms"].items()
        }

    @staticmethod
    def number(value):
        return {"infinite": math.inf, None: math.nan}.get(value, value)

    def values(self, arm, key):
        return self.arms.get(arm, {}).get(key, {})

    def fewest_seeds(self, rules):
        return min((len(self.values(arm, rule.key)) for rule in rules for arm in rule.named), default=math.inf)

    def check(self, rule, paper):
        arms = {arm: self.values(arm, rule.key) for arm in rule.named}
        if not all(arms.values()):
            return UNKNOWN, (UNKNOWN, math.nan)
        never = all(math.isinf(value) for values in arms.values() for value in values.values())
        if never and (rule.kind in COMPARED or rule.kind in ORDERS):
            return UNKNOWN, (UNKNOWN, math.nan)
        check = Check(rule, arms, paper)
        return (YES if check.met() else NO), check.trend()

    def mostly(self, arm, most):
        runs = self.json.get("learned", {}).get(arm)
        return runs is not None and 2 * sum(LEARNED[run] <= most for run in runs) > len(runs)

    def proves_nothing(self, rules):
        arms = [arm for rule in rules for arm in rule.named]
        directed = any(rule.trend for rule in rules)
        return any(self.mostly(arm, 0) for arm in arms) or (directed and all(self.mostly(arm, 1) for arm in arms))


def deciding(rules):
    """What decides below full scale: the trends, else the bounds that are not the paper's numbers."""
    return [rule for rule in rules if rule.trend] or [rule for rule in rules if rule.kind != "within"]


def judge(stored, rules, paper, full_seeds, unlearned):
    """The word and p. `full_seeds`: of full scale; infinite where these runs are not at full scale."""
    if not any(stored.values(arm, rule.key) for rule in rules for arm in rule.named):
        return "not run", math.nan
    full, directed = stored.fewest_seeds(rules) >= full_seeds, any(rule.trend for rule in rules)
    asked = rules if full else deciding(rules)
    met, trend = YES, (YES, 0.0)
    for rule in asked:
        own_met, own_trend = stored.check(rule, paper)
        met = min(met, own_met)
        trend = all_of(trend, own_trend) if rule.trend else trend
    answer, p = trend if directed else (UNKNOWN, math.nan)
    if not unlearned and stored.proves_nothing(asked):
        return "proves nothing", p
    if full:
        if met != NO and directed and answer == UNKNOWN:
            return "too small to tell", p
        return "reproduced" if met == YES else "trend only" if answer == YES else "not reproduced", p
    seeds = stored.fewest_seeds(asked)
    if not asked or seeds < 2:
        return "too few seeds" if asked and seeds == 1 else "too small to tell", p
    words = ("no trend", "too small to tell", "trend") if directed else ("does not hold", "too small to tell", "holds")
    return words[answer if directed else met], p
