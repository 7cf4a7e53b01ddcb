"""The HTTP applications from the settings: access, apps, server."""
