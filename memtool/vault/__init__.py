"""The vault: plain files, which are the truth."""
