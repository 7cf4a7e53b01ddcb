"""Does it keep the contract, and does it pay whom it should?"""

from keyword_recall.mechanism import KeywordRecall, RecallParams

from weighbeam import Answer, Asked, LocalSenses, check_mechanism

SENSES, PARAMS, RECALL = LocalSenses(), RecallParams(), KeywordRecall()


def say(hotkey: str, keywords: list[str], number: int) -> Answer:
    """How each of four miners answers."""
    texts = {
        "brief": f"About {' and '.join(keywords)}.",
        "lazy": f"About {keywords[0]}.",
        "wordy": f"{' and '.join(keywords)} " + "and so on " * 20,
    }
    if hotkey == "flaky" and number % 2:
        return Answer(hotkey, None, status="timeout")
    return Answer(hotkey, {"text": texts.get(hotkey, texts["brief"])})


def test_it_keeps_the_contract() -> None:
    assert all(finding.ok for finding in check_mechanism(RECALL, senses=SENSES))


def test_a_season_pays_the_brief_most_and_half_of_that_to_who_answers_half_the_time() -> None:
    miners, standings = ["brief", "flaky", "lazy", "wordy"], ()
    for number in range(50):
        task = RECALL.generate_task(PARAMS, number)
        answers = tuple(say(hotkey, task.body["keywords"], number) for hotkey in miners)
        group = RECALL.choose(PARAMS, standings, miners, number)
        observation = RECALL.observe(PARAMS, Asked(task, group, answers, number), SENSES)
        standings = RECALL.stand(PARAMS, standings, RECALL.score(PARAMS, observation))
    raw = RECALL.weigh(PARAMS, standings, miners).raw
    assert sorted(raw, key=raw.get, reverse=True)[0] == "brief"
    assert 0.4 < raw["flaky"] / raw["brief"] < 0.6
    assert 0.49 < raw["lazy"] / raw["brief"] < 0.51
    assert 0.2 < raw["wordy"] / raw["brief"] < 0.3
