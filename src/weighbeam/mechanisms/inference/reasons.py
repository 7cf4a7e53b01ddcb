"""Meaning of each reason of a score, with advice to its miner."""

MEANINGS = {
    "off_topic": "Flagged: the answer is not about the prompt. Answer the question that was asked.",
    "echo": "Flagged: the answer repeats the prompt. Say what the prompt does not say already.",
    "not_prose": "Flagged: the answer does not read as language. Write whole sentences, not keywords or repetitions.",
    "gathers": "Flagged: the answer has nearly every word of all the others. Give one answer, your own.",
    "thin": "Flagged: the answer says too little. Give facts, names and numbers that answer the prompt.",
    "empty": "Flagged: the answer has no words. Send a text.",
    "outlier": "Out of the consensus: the answer is far from all others and no better. Check that it is right.",
    "short": "Out of the consensus: the answer is short beside the others. Answer all of the question.",
    "contradicts": "Out of the consensus: the answer says yes where most say no, or no where they say yes. Check it.",
    "wrong": "The answer is not the right one, which was known: work the task out before you answer.",
    "other_cluster": "Out of the consensus: the answer means something else than most. Check that it is right.",
    "timeout": "No answer arrived in time: answer before the timeout.",
    "unreachable": "The endpoint could not be reached: keep the address you announced up and open.",
    "error": "The endpoint answered with an error: look into your miner's log.",
    "malformed": "The answer is not the JSON asked for: send it as the documentation shows.",
    "too_large": "The answer has more words than the question allows: keep within max_answer_words.",
    "validator_fault": "The validator could not judge the answer: nothing is charged, and there is nothing to do.",
    "void_round": "Too few answers arrived for a comparison, so nothing was scored; see that yours arrives.",
}
FLAGGED = "answers that were flagged, or say the opposite"
SUSPICIOUS = {
    **dict.fromkeys(("off_topic", "echo", "not_prose", "gathers", "thin", "empty", "contradicts"), FLAGGED),
    "too_large": "answers longer than any that was asked for",
}
OUT = ("outlier", "short", "contradicts", "other_cluster")
"""Those that cost a place in the consensus."""
