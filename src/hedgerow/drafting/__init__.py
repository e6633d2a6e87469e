"""First plans for a table or for baskets, to be read and confirmed.

The data come in; the text of a plan leaves, for the owner alone. Only here may the data shape a
plan. So everything taken from them is marked by a comment, rare values are never written down,
bounds are rounded outwards, and ``publish`` refuses the plan until a person has confirmed it.
"""
