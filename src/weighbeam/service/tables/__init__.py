"""Tables of the dashboard and the API: columns, filters, order, pages and files; the same rows for all of them."""
