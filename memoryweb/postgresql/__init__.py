"""Django's Postgres backend, with a pool that asks the database less."""
