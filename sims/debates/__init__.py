"""Simulated debates."""
