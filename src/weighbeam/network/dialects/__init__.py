"""Ways to sign a request, one class each: `btauth/1` is ours, the others are for software that speaks them."""
