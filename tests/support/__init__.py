"""What tests share: tables, plans, oracles, batteries, broken twins."""
