"""What the papers compare with, each on the shared parts."""
