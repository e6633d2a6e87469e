"""The engine on Spark: kernels go to the workers, and only sums come back."""
