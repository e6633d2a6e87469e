"""The engine on Spark: kernels go to the workers, only sums come back."""
