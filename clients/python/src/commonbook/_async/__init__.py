"""The client for programs that wait with `await`; `clients/generate` makes the other one from it."""
