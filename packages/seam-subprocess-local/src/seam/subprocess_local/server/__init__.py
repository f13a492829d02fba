"""The spawn server in Python: a program of its own, which must run with the standard library alone."""
