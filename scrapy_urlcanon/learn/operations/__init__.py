"""The operations that learning knows: each is one class, and its proposal in ``candidates``."""
