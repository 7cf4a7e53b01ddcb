"""The senses: models, pages and corpora. Mechanisms know only `ports`; `adapters` implement them."""
