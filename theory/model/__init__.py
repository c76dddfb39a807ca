"""Debates in finite latent-concept models, exactly."""
