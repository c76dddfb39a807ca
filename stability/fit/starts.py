"""Where a search looks for a component to add.

A mixture is a global maximum among all mixing laws only if no atom (mu, rho) has a positive
directional derivative sum_i f_i q_i(mu, rho) / p_i - M (Lindsay, Ann. Statist. 11 (1983) 86-94).
The atoms tried are those of a grid that is finer near the ends, where counts pile up.
"""

import numpy as np

GRID_MEAN = np.array(
    [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0]
)
GRID_RHO = np.array([0, 0.01, 0.03, 0.1, 0.25, 0.5, 0.8, 1.0])
ATOMS = 6
