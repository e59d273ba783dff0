"""What sees to it that a job loses nothing to a stop, a kill or a change of rules."""
