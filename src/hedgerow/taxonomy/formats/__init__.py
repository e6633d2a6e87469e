"""The file formats of taxonomies: ARX CSV, child-parent pairs, nested YAML and JSON."""
