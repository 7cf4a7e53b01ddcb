"""The rules of a weigh-in (docs/spec/weigh-in.md) as pure functions."""
