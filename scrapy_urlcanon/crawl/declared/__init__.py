"""What pages and sites declare, and what is dropped for it where that has proved right."""
