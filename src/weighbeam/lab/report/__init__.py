"""One page of lab results that loads nothing from elsewhere."""
