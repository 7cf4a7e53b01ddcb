"""The exact nearest neighbour of a text among everything contributed before.

The reward for novelty grows tenfold for every 0.05 of similarity, so a neighbour that is missed is paid for a
hundredfold. Both indexes here give the true nearest row, to the unit, for every input: the fast arithmetic only says
which rows *cannot* be nearest, by a bound that is proven, and the others are scored in integers.

| scan | what it holds in memory | where the exact rows are |
| --- | --- | --- |
| `flat` | float32 rows, 4 bytes a component | the same memory |
| `int8-bound` | 8-bit codes, 1 byte a component | wherever `fetch` finds them |
"""
