"""DPCube: noisy cells, a tree over them, fresh counts of its boxes."""
