"""Whether scores mean what they claim: a mechanism held against rows that somebody has labelled."""
