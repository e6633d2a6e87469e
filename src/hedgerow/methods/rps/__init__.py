"""RPS: boxes by recursive private medians."""
