"""Pictures of what was measured: what is shown is defined once, as a chart; PNG, SVG and page are made from that."""
