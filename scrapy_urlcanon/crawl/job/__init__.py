"""Makes sure that a job (``JOBDIR``) loses no page to a stop, a kill or a change of rules."""
