# The things one does here. `just` lists them.

default:
    @just --list

# Shows what it is for.
demo:
    cargo run --release -- demo

# Passes the tests.
test:
    cargo test --workspace

# Formatting, lints, documents.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --package commonbook --no-deps
    RUSTDOCFLAGS="-D warnings" cargo doc --package commonbook-server --no-deps

# Measures saving and searching on this machine.
bench:
    cargo run --release -p commonbook-bench -- save
    cargo run --release -p commonbook-bench -- search

# Everything that has to pass.
ci:
    bash .ci/run
