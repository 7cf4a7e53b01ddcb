"""Ways to cut a document: our own and those of the package index, all behind one signature."""
