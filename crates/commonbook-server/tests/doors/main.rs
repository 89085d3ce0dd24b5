//! The doors: what each refuses alike, what each offers, and what only one of them has.

#[path = "../world/mod.rs"]
mod world;

mod bad_input;
mod cli;
mod mcp;
mod rest;
mod surface;
