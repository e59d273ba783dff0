"""The entries of rules: what the audits found of each, which wait for one, which are off."""
