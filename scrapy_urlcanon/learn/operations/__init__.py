"""The operations that can be learned: one class for each; ``candidates`` proposes them."""
