"""What each reason of a score means, and what its miner can do."""

MEANINGS = {
    "no_chunks": "No chunk arrived: answer in time, where you announced it; if your code failed, its log says how.",
    "malformed": "The answer is not a list of strings: send `chunks` as plain JSON strings.",
    "too_large": "The answer is far larger than the document: send its words once, without overlap or added text.",
    "new_words": "A chunk's words do not follow each other in the document: cut between words and change none.",
    "out_of_order": "A chunk begins before the one in front of it: keep the order of the document.",
    "missing_words": "Words of the document are in no chunk: let each chunk begin where the one before it ends.",
    "not_tiling": "The chunks are not the document word by word: send each word once, in order.",
    "validator_fault": "The validator could not judge the answer: nothing is charged, and there is nothing to do.",
}
