"""disclose(plan).

Single records come in, each leaves in the form of least risk that is still useful; not
differentially private.
"""
