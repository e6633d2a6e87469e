"""basic: noise on every possible basket of a small universe."""
