"""What the theorems compare, as means over simulated debates: a module a group of theorems.

Every function takes a model or scenario, the number of debates, a seed, the statement and the
options of the check, takes those that it knows out of the options, and returns means that the
statement says are not negative, by name.
"""
