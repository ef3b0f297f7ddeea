"""The client's transcript, read into a conversation."""
