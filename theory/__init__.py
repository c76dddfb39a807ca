"""Exact theory of debate in finite latent-concept models.

This package is a named place, not yet a library: it holds no public names in this version.
"""
