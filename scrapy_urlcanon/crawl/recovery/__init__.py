"""What sees to it that no page is lost: to a failure, a kill or a change of rules."""
