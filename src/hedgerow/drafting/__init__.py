"""The drafting room: a first plan for a table or for baskets, to be read and confirmed.

The data come in; the text of a plan leaves, for the owner alone. This is the one place where the
data may shape a plan. So everything taken from it carries a comment, values that few records have
are never written down, bounds are rounded outwards, and ``publish`` refuses the plan until a
person has confirmed it.
"""
