"""What learning returns: rules with their evidence, and the file that they are written to."""
