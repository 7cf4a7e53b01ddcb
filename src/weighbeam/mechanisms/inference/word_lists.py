"""Filler words (spec § 14)."""

FILLER_WORDS = frozenset(
    """
    answer aspect aspects ask asked asking best better case cases certain choice choose consider consideration
    considerations definitely depend depending depends different element elements everyone everything explain
    factor factors find general generally give good great happy help important interesting issue issues kind
    know like likes lot lots make many matter matters need needs nice one ones people person please point points
    possible probably question questions really relevant right say significant single situation situations
    something sorry sort stuff sure thank thanks thing things think today topic usually various want way ways
    well work works
    """.split()
)
