"""Keeps the audit results of each rule entry, and suspends entries that prove wrong.

An entry is one element of an option's list or mapping, such as ``sid`` of ``drop_params``.
"""
