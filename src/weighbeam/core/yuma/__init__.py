"""The Yuma epoch: exact integers, one subnet at a time or as whole arrays."""
