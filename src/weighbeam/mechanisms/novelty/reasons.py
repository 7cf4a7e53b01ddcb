"""What each reason of a score means, and what its contributor can do."""

MEANINGS = {
    "not_new": "A contribution is too near to one that is known: say something that nobody has said before.",
    "duplicate": "The same text was here before, whatever its case or spacing: submit each text once.",
    "held": "A contribution reads as implausible and waits for an operator: write plain sentences.",
    "refused": "A contribution reads as implausible and is not accepted: write plain sentences.",
    "implausible": "A contribution reads as implausible and is not accepted: write plain sentences.",
    "bad_text": "A contribution is no text: send it as a JSON string of readable characters.",
    "too_short": "A contribution has fewer words than min_words: say it in a whole sentence.",
    "too_long": "A contribution has more characters than max_chars: split it.",
    "timeout": "Nothing arrived in time: answer before the timeout.",
    "unreachable": "The endpoint could not be reached: keep the address you announced up and open.",
    "error": "The endpoint answered with an error: look into your log.",
    "malformed": "The answer is not the JSON asked for: send `contributions`, a list of texts.",
    "too_large": "The answer is larger than allowed: send fewer or shorter texts.",
    "validator_error": "The validator could not measure it: nothing is charged, and there is nothing to do.",
}
