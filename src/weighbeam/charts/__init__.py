"""Charts: from data to a Vega-Lite specification, a PNG, an SVG or a page."""
