"""What comes from elsewhere and goes there: bundles of a whole vault, and the memories of other tools."""
