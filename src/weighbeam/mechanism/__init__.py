"""The contract between the engine and a mechanism: base class, records, parameters, checks, registry."""
