"""Side-by-side comparison of releases, for the data owner.

In: booked releases and the owner's data, or plans and a simulated or public table. Out: a table of
figures. Running plans on confidential data and keeping the best is a choice based on that data,
which no epsilon covers, so it is refused.
"""
