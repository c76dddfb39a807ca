"""Neighbours of the two theories: urns, juries, averaged opinions, weakened evidence."""
