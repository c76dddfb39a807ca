"""Monte Carlo with stated error: estimates, and sweeps that can be resumed."""
