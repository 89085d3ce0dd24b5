# The things one does here. `just` lists them.

default:
    @just --list

# Shows what it is for.
demo:
    cargo run -- demo

# Passes the tests.
test:
    cargo test --workspace

# What to run before each commit.
quick:
    .ci/quick

# Measures saving and searching on this machine.
bench:
    cargo run --release -p commonbook-bench -- save
    cargo run --release -p commonbook-bench -- search

# Everything that has to pass.
ci:
    bash .ci/run

# What only a release build shows.
release:
    bash .ci/release
