"""Pages as a browser shows them: an option. The browser has no network; what it asks for is fetched by the guard."""
