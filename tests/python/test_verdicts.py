"""The verdicts, p and corrected p of every claim in docs/reproduction, against verdicts.py."""

import math
import pathlib
import re

import pytest
import verdicts

tomllib = pytest.importorskip("tomllib", reason="Python before 3.11 has no tomllib")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = sorted(page.stem for page in (ROOT / "docs/reproduction").glob("*.md"))


def results_of(paper):
    """Every result of a paper: its tables, and what is stored of it, full scale first."""
    for path in sorted((ROOT / "experiments" / paper).glob("*.toml")):
        tables = tomllib.loads(path.read_text())
        if "result" in tables:
            paths = [(ROOT / "experiments/results" / paper / f"{path.stem}.{scale}.json", scale) for scale in ("full", "quick")]
            stored = [verdicts.Stored(path, scale) for path, scale in paths if path.exists()]
            yield tables["result"], [arm["name"] for arm in tables.get("arm", [])], stored


def needs_full(result, claim, rules, arms):
    run = result.get("quick_arms") or arms
    absent = any(arm not in run for rule in verdicts.deciding(rules) for arm in rule.named)
    return claim.get("needs_full") or result.get("needs_full") or absent or not verdicts.deciding(rules)


def verdict_at(stored, result, claim, rules, arms):
    if claim.get("missing") or (stored.scale == "quick" and needs_full(result, claim, rules, arms)):
        return "not run", math.nan
    swept = all(arm in stored.json.get("chosen", {}) for rule in rules for arm in rule.named)
    full = stored.scale == "full" and (swept or "sweep" not in result)
    return verdicts.judge(
        stored, rules, claim.get("values", {}), result.get("seeds", 3) if full else math.inf, result.get("unlearned", False)
    )


def evidence(stored, result, claim, rules, arms):
    """The verdict on the first runs with every arm, else the first that decide it, else any."""
    found = [(verdict_at(one, result, claim, rules, arms), one.fewest_seeds(rules) > 0) for one in stored]
    run = [(verdict, whole) for verdict, whole in found if verdict[0] != "not run"]
    whole = [verdict for verdict, all_arms in run if all_arms]
    decided = [verdict for verdict, _ in run if verdict[0] not in verdicts.UNDECIDED]
    return (whole or decided or [verdict for verdict, _ in run] or [None])[0]


def p_that_counts(verdict, stored, claim, rules):
    """What was tested counts, also where quick scale is no evidence of it any more."""
    if verdict is not None:
        return verdict[1]
    p = [verdicts.judge(one, rules, claim.get("values", {}), math.inf, True)[1] for one in stored if rules]
    return next((one for one in p if not math.isnan(one)), math.nan)


def rows_of(paper, change=lambda stored: None):
    """Of every claim what it says, its verdict, p, and p by Holm."""
    rows, families = [], []
    for result, arms, stored in results_of(paper):
        for one in stored:
            change(one)
        for claim in result["claim"]:
            rules = verdicts.rules_of(claim, result)
            verdict = evidence(stored, result, claim, rules, arms)
            counted = math.nan if claim.get("counted_in") else p_that_counts(verdict, stored, claim, rules)
            families.append((claim.get("ours", False), counted))
            rows.append([claim["says"], *(verdict or ("not run", math.nan)), claim.get("counted_in")])
    of_family = [verdicts.holm([p if ours == family else math.nan for ours, p in families]) for family in (False, True)]
    return [
        (says, word, p, f"in {elsewhere}" if elsewhere else of_family[families[i][0]][i] if not math.isnan(p) else math.nan)
        for i, (says, word, p, elsewhere) in enumerate(rows)
    ]


def page_rows(paper):
    table = (ROOT / f"docs/reproduction/{paper}.md").read_text().split("\n## ")[0]
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| [")]
    for row in cells:
        _, says, _, _, _, p, corrected, word = (cell.strip() for cell in row)
        yield says.replace("\\|", "|"), word, p, corrected


def agrees(printed, p):
    """Two digits are printed."""
    if isinstance(p, str) or math.isnan(p):
        return printed == (p if isinstance(p, str) else "–")
    return printed == "< 1e-4" if 0 < p < 1e-4 else math.isclose(float(printed), p, rel_tol=0.051, abs_tol=1e-12)


def differences(paper, **options):
    ours, page = rows_of(paper, **options), list(page_rows(paper))
    assert len(ours) == len(page)
    return [
        (mine, shown)
        for mine, shown in zip(ours, page)
        if mine[:2] != shown[:2] or not agrees(shown[2], mine[2]) or not agrees(shown[3], mine[3])
    ]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_verdict_of_the_atlas_is_found_again(paper):
    assert differences(paper) == []


def test_a_number_that_was_changed_is_noticed():
    def worse(stored):
        for key, seeds in stored.arms.get("cw6-fpp-t6", {}).items():
            stored.arms["cw6-fpp-t6"][key] = {seed: value - 0.2 for seed, value in seeds.items()}

    changed = differences("fpp", change=worse)
    assert any("T = 6" in mine[0] for mine, _ in changed)


def test_the_arithmetic_is_that_of_the_tables():
    assert verdicts.student_p(2.776445, 4) == pytest.approx(0.05, abs=1e-6)
    assert verdicts.student_p(12.706205, 1) == pytest.approx(0.05, abs=1e-6)
    assert verdicts.student_p(2.045230, 29) == pytest.approx(0.05, abs=1e-6)
    assert verdicts.rank_test([1, 2, 3], [4, 5, math.inf])[1] == pytest.approx(0.1)
    assert verdicts.holm([0.01, math.nan, 0.04, 0.03]) == pytest.approx([0.03, math.nan, 0.06, 0.06], nan_ok=True)
    # Differences 1, 2, 3 of equal seeds: t = 2 sqrt(3), and Welch's of the same numbers is far from it.
    arms = {"a": {1: 10, 2: 20, 3: 30}, "b": {1: 11, 2: 22, 3: 33}}
    assert verdicts.contrast(arms, [("b", 1), ("a", -1)]) == pytest.approx((2, 1 / math.sqrt(3), 2))
    assert verdicts.welch_p([10, 20, 30], [11, 22, 33]) > 0.8
