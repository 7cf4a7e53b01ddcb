"""The small words that hold English sentences together (spec/inference.md § 14)."""

FUNCTION_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could did do
    does down during each either for from had has have he her here him his how i if in into is it its itself
    just may me might more most must my neither no nor not now of off on once only or other our out over own
    same shall she should since so some such than that the their them then there therefore these they this those
    though through to too under until up upon us very was we were what when where whereas whether which while
    who whom whose why will with within without would you your
    """.split()
)
