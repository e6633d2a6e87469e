"""Private disclosure [TKDE 2014]: every record at its own best generalisation.

The records of an engine come in; generalised records with counts leave: ``supermodular`` under
pure epsilon, ``truthful`` and ``sample`` under epsilon and a delta.
"""
