"""The experiments of the five papers, run again beside what was printed."""
