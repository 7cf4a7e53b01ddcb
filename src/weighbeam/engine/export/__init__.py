"""A journal as Parquet files, for analysis with other programs."""
