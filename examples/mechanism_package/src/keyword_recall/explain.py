"""Why a score is what it is, as lines whose arithmetic a person can check."""

from weighbeam.mechanisms.contract import Node, Observation, Scored


def explain_score(observation: Observation, scored: Scored, hotkey: str) -> Node:
    score = next(score for score in scored.scores if score.hotkey == hotkey)
    if score.parts is None:
        return Node(f"{hotkey}: {score.status} ({', '.join(score.reasons)})")
    row = next(row for row in observation.facts["rows"] if row["hotkey"] == hotkey)
    sums = f"{score.parts['recall']:.6g} × {score.parts['brevity']:.6g} = {score.value:.6g}"
    lines = [Node(f"recall × brevity = {sums}"), Node(f"{row['words']} words")]
    for number in row["missing"]:
        digest = observation.facts["keywords"][number]
        lines.append(Node(f"not named: {observation.texts.get(digest, '(text no longer kept)')}"))
    return Node(f"{hotkey}: {score.value:.6g}", tuple(lines))
