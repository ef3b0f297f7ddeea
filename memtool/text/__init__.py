"""Ground for every text: sentences, Markdown, words of languages. It knows nothing of vaults."""
