"""Meaning of each reason of a score, with advice to its miner."""

MEANINGS = {
    "unreachable_miner": "No answer arrived in time: keep your endpoint up, and answer before the timeout.",
    "invalid_response": "The answer is not the JSON asked for: send a list of snippets, each with `url` and `excerpt`.",
    "no_statements": "The list of snippets is empty: send at least one that you have checked.",
    "malformed_url": "A URL cannot be read: send complete addresses with a host name.",
    "non_https": "A URL, or one it leads to, is not https: cite the https address of the page.",
    "blacklisted_domain": "A domain is on the blacklist, or leads to one that is: cite other sources.",
    "forbidden_target": "A URL names an address, an odd port or no registered domain: cite public web pages.",
    "search_url": "A URL is a search, or carries the excerpt in itself: cite the page that says it.",
    "invalid_excerpt": "An excerpt is too short or not plain text: quote at least a few whole words of the page.",
    "too_similar": "An excerpt repeats the statement: quote evidence for or against it, not the claim itself.",
    "recent_domain": "A domain was registered only days ago: cite sources that have existed for longer.",
    "page_gone": "A page answers that it is gone: open each page before you cite it.",
    "page_unavailable": "A page could not be read: cite pages that open for everyone, without a login or a script.",
    "search_page": "A page is a list of search results: cite one of the pages it lists.",
    "fake_snippet": "An excerpt says what its page does not show, or leaves out a word such as 'not': quote exactly.",
    "snippet_not_found": "An excerpt is not on its page: copy it from the page's visible text, numbers included.",
    "unrelated_page": "A passage is not about the statement: quote the sentence that bears on it.",
    "duplicate_statements": "An earlier answer had the same quotes: find evidence of your own, sooner.",
    "partly_copied": "A quote was in an earlier answer, or twice in this one, and is not paid; the others are.",
    "validator_fault": "The validator could not check the answer: nothing is charged, and there is nothing to do.",
}
FORGED = ("fake_snippet", "snippet_not_found", "duplicate_statements", "too_similar")
SUSPICIOUS = {
    **dict.fromkeys(FORGED, "forged or copied evidence"),
    **dict.fromkeys(("search_url", "search_page"), "searches for evidence"),
    **dict.fromkeys(("blacklisted_domain", "forbidden_target", "recent_domain"), "sources made for the purpose"),
}
