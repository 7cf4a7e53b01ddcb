"""Finding a quoted excerpt on a page: tokens, forms, alignment and match."""
