"""A hospital's export, from the file to a release: draft, confirm, check, publish."""

from __future__ import annotations

from place import working_folder

import hedgerow
from hedgerow.demo.hospital import write_hospital

folder = working_folder()
patients = write_hospital(folder)  # made up: 8,000 patients, semicolons, decimal commas

# 1. A draft looks at the data, so it is confidential until a person has read it.
#    Nobody can have two records here, which is for its owner to know: no data show it.
draft = hedgerow.draft(patients, class_name="returned", one_record_per_person=True, base=folder)
plan = folder / "plan.yaml"
plan.write_text(draft.text, encoding="utf-8")

# 2. What it will cost and keep; no record is read.
foretold = hedgerow.check(plan)
print(f"foretold: {foretold.verdict}, a count within ±{foretold.error_95}")

# 3. A person signs the plan: all its domains are public. The command confirm writes it to the file.
signed = hedgerow.confirm(plan, by="A. Muster", all_public=True)

# 4. Books epsilon, then draws the noise. A plan that differs from what was signed is refused.
release = hedgerow.publish(signed, out=hedgerow.Output(folder=folder / "release", records=True))
print(release.certificate.guarantee.statement)

# 5. What recipients have.
opened = hedgerow.Release.load(folder / "release")
print(f"{opened.n_rows} groups; open {folder / 'release' / 'report.html'}")
