"""What memory says to a question: one answerer for prompts, searches and services, which differ in budget only."""
