"""What the scoring service publishes, for itself and for who follows it."""
