"""The memory that a team shares: clones of its vaults, who may read and write them, and the side of a member."""
