"""disclose(plan): every record in the form of least risk that is still useful.

Reads and encodes like a release, solves each distinct record once, and writes a folder whose
public part says what it is: not differentially private. Nothing of `partition` is needed.
"""
